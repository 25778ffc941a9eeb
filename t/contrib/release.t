# A release (doc/release.md): configure.ac has the version, the few texts that name it follow, and the archive of `make dist` depends neither on
# place, time, owner nor umask. contrib/check makes the whole archive twice.
use strict;
use warnings;

use Test::More;

use Authz::Path    ();
use Authz::Process ();
use Authz::Web     ();

sub text_of { return Authz::Web::edit( Authz::Path::source(@_) ) }

my ($version) = text_of('configure.ac') =~ /^AC_INIT\(\[authz\], \[(\d+[.]\d+[.]\d+)\]/m;
ok( defined $version, 'configure.ac has the version' ) or do { done_testing; exit };
my %says = (
    'NEWS'              => ( text_of('NEWS')               =~ /^(\d+[.]\d+[.]\d+)\b/m )[0],
    'README'            => ( text_of('README')             =~ /\bVersion (\d+[.]\d+[.]\d+) /m )[0],
    'debian/changelog'  => ( text_of(qw(debian changelog)) =~ /\Aauthz \((\d+[.]\d+[.]\d+)[~)+]/ )[0],
    'doc/why-authz.md'  => ( text_of(qw(doc why-authz.md)) =~ /\bVersion (\d+[.]\d+[.]\d+) / )[0],
    'the specification' =>
      ( text_of( qw(doc design), 'specification' . '.md' ) =~ /^The interface version is (\d+[.]\d+[.]\d+)[.]/m )[0],
);
is( $says{$_} // 'nothing', $version, "$_ names the version of configure.ac" ) for sort keys %says;

# ---- the archive

my $dir = Authz::Process::directory();

# Make a folder and its archive: the order, times, umask and place of two calls differ. Return its checksum.
sub archive {
    my ( $name,   %option ) = @_;
    my ( $status, $text )   = Authz::Process->run(
        name    => 'archive',
        env     => { SOURCE_DATE_EPOCH => $option{epoch} },
        command => [
            'bash', '-euc',
            <<'END', 'archive', Authz::Path::source('.'), "$dir/$name", $option{umask}, $option{time}, @{ $option{files} } ] );
script=$1/build-aux/dist-tar
mkdir -p "$2/source"
cd "$2"
umask "$3"
time=$4
shift 4
mkdir -p authz-1/sub
for file; do printf '%s\n' "$file" >"authz-1/$file"; done
chmod u+x authz-1/run
: >source/configure.ac
touch -d "@$time" source/configure.ac authz-1 authz-1/*
"$script" source authz-1 | tee archive.tar | sha256sum
END
    die $text if $status != 0;
    return $text;
}

my @file  = qw(run b a sub/c);
my %plain = ( umask => '022', time => 1_000_000_000, files => \@file );
my $first = archive( 'one', %plain );
is( archive( 'a/longer/place', %plain, umask => '077', files => [ reverse @file ] ), $first,
    'the archive has the same octets in another place, with another umask and order' );
isnt( archive( 'later', %plain, time => 1_000_000_001 ), $first, '... and the time of the unpacked sources' );
is( archive( 'again', %plain, time => 1_500_000_000, epoch => 1_000_000_000 ), $first,
    '... or that of SOURCE_DATE_EPOCH' );
my ( undef, $list ) = Authz::Process->run(
    name    => 'tar', env => { TZ => 'UTC' },
    command => [ 'tar', '--numeric-owner', '--full-time', '-tvf', "$dir/one/archive.tar" ] );
like( $list, qr{^-rwxr-xr-x 0/0 +4 2001-09-09 01:46:40 authz-1/run$}m, 'a program: of owner 0, and all may run it' )
  or diag $list;
like( $list, qr{^-rw-r--r-- 0/0 +2 2001-09-09 01:46:40 authz-1/a$}m, 'a file: all may read it' ) or diag $list;

done_testing;
