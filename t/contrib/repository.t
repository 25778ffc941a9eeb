# build-aux/repository: apt takes what it makes, and refuses packages and lists that were changed, another key and no signature.
# contrib/check --packages installs the packages of authz from such a repository in a clean root.
use strict;
use warnings;

use Test::More;

use Authz::Path    ();
use Authz::Process ();
use Authz::Web     ();

for my $program (qw(apt-ftparchive apt-get gpg dpkg-deb)) {
    plan skip_all => "$program is not installed (build-aux/packages)" if !defined Authz::Path::on_path($program);
}
my $dir = Authz::Process::directory();
$ENV{GNUPGHOME} = "$dir/keys";
mkdir $ENV{GNUPGHOME}, oct 700 or die "mkdir: $!";
END { system qw(gpgconf --kill gpg-agent) if $dir && -d "$dir/keys" }

sub run {
    my (@command) = @_;
    return Authz::Process->run( name => 'run', command => \@command );
}

sub done {
    my (@command) = @_;
    my ( $status, $text ) = run(@command);
    die "@command: $text" if $status != 0;
    return $text;
}

sub make_key {
    my ($name) = @_;
    return done( qw(gpg --batch --quiet --passphrase), '', '--quick-gen-key', $name, qw(ed25519 sign never) );
}

# A package with one file.
sub make_deb {
    my ( $name, $version, $text ) = @_;
    my $tree = "$dir/tree-$name-$version";
    done( qw(mkdir -p), "$tree/DEBIAN", "$tree/usr/share/$name" );
    Authz::Web::write_file( "$tree/usr/share/$name/text", $text );
    Authz::Web::write_file(
        "$tree/DEBIAN/control",
        "Package: $name\nVersion: $version\nArchitecture: all\nMaintainer: a <a\@example.org>\nDescription: a test\n" );
    done( qw(dpkg-deb --root-owner-group -b), $tree, "$dir/${name}_${version}_all.deb" );
    return "$dir/${name}_${version}_all.deb";
}

my $out = "$dir/out";

sub repository {
    my (@words) = @_;
    return run( Authz::Path::source(qw(build-aux repository)), @words );
}

sub refused {
    my ( $name, $pattern, @words ) = @_;
    my ( $status, $text ) = repository(@words);
    ok( $status != 0 && $text =~ $pattern, "refused: $name" ) or diag $text;
    return;
}

# apt with directories of its own, and this repository as its only source.
my $apt = "$dir/apt";
done(
    qw(mkdir -p),
    map {"$apt/$_"}
      qw(etc/apt.conf.d etc/preferences.d etc/sources.list.d state/lists/partial cache/archives/partial down) );
Authz::Web::write_file( "$apt/status", '' );
my @options = map { ( '-o', $_ ) } "Dir::Etc=$apt/etc", "Dir::State=$apt/state", "Dir::State::status=$apt/status",
  "Dir::Cache=$apt/cache", 'APT::Sandbox::User=', 'Acquire::Languages=none', 'Acquire::Retries=0';

sub apt {
    my (@words) = @_;
    return run( 'sh', '-c', 'cd "$1"; shift; exec apt-get -q "$@"', 'sh', "$apt/down", @options, @words );
}

sub source {
    my ($key) = @_;
    my $text = Authz::Web::edit("$out/authz.sources") =~ s{^Signed-By: .*}{Signed-By: $key}mr;
    Authz::Web::write_file( "$apt/etc/sources.list.d/authz.sources", $text );
    return;
}

# apt update with fresh lists: it ends with 0 only if it takes the lists.
sub update {
    done( 'sh', '-c', 'rm -rf "$1" && mkdir -p "$1/partial"', 'sh', "$apt/state/lists" );
    return apt( 'update', '-o', 'APT::Update::Error-Mode=any' );
}

make_key('first key');
make_key('second key');
my $one = make_deb( 'authz-one', '1.0', 'first' );
my $two = make_deb( 'authz-two', '1.0', 'second' );

refused( 'no key',                    qr/--key is required/,    '--out', $out,        $one );
refused( 'no directory',              qr/--out is required/,    '--key', 'first key', $one );
refused( 'a key that gpg has not',    qr/no secret key nobody/, '--key', 'nobody',    '--out', $out, $one );
refused( 'a name that two keys have', qr/several secret keys/,  '--key', 'key',       '--out', $out, $one );
refused( 'another release', qr/bookworm or trixie/, '--key', 'first key', '--out', $out, '--suite', 'sid', $one );
refused( 'no days',         qr/--days requires/,    '--key', 'first key', '--out', $out, '--days',  '0',   $one );
refused( 'no package',      qr/has no package/,     '--key', 'first key', '--out', $out );
refused( 'a file that is no package', qr/status is not a package/, '--key', 'first key', '--out', $out, "$apt/status" );

my @made = ( '--key', 'first key', '--out', $out, '--url', "file:$out" );
my ( $status, $text ) = repository( @made, $one, $two );
is( $status, 0, 'a repository of two packages' ) or diag $text;
like( $text, qr/2 packages for bookworm, signed by [0-9A-F]{40}$/, '... says by which key' );
source("$out/authz-archive-keyring.asc");
( $status, $text ) = update();
is( $status, 0, 'apt update takes it by its key' ) or diag $text;
( $status, $text ) = apt(qw(download authz-one));
is( $status,                                                  0,  'apt downloads a package' ) or diag $text;
is( done( qw(cmp), $one, "$apt/down/authz-one_1.0_all.deb" ), '', '... with its octets' );
( $status, $text ) = apt(qw(install -s authz-two));
is( $status, 0, 'apt would install one' ) or diag $text;

# ---- more packages, and a version that was published

repository( @made, make_deb( 'authz-one', '1.1', 'third' ) );
( $status, $text ) = update();
is( $status, 0, 'a newer version is added' ) or diag $text;
like( ( apt(qw(install -s authz-one)) )[1],     qr/^Inst authz-one \(1[.]1 /m, '... and preferred' );
like( ( apt(qw(install -s authz-one=1.0)) )[1], qr/^Inst authz-one \(1[.]0 /m, '... beside the older one' );
refused(
    'a published version with other octets', qr/published with other octets/, @made,
    make_deb( 'authz-three', '1.0', 'y' ),   make_deb( 'authz-one', '1.1', 'x' ) );
ok( !-e "$out/pool/bookworm/authz-three_1.0_all.deb", '... and none of the packages that were named with it is added' );
is( ( repository( @made, '--days', 7 ) )[0], 0, 'it is signed again without a package' );
like( Authz::Web::edit("$out/dists/bookworm/Release"), qr/^Valid-Until: ./m, '... for so many days' );
is( ( update() )[0], 0, '... which apt takes' );

# ---- what apt refuses

sub append { my ($file) = @_; Authz::Web::write_file( $file, Authz::Web::edit($file) . "\n" ); return }

append("$out/pool/bookworm/authz-two_1.0_all.deb");
( $status, $text ) = apt(qw(download authz-two));
isnt( $status, 0, 'refused by apt: a package that was changed' );
like( $text, qr/Hash Sum|unexpected size|File has/i, '... by its checksum' );
ok( !-e "$apt/down/authz-two_1.0_all.deb", '... and it is not kept' );

my $lists = "$out/dists/bookworm";
my ($packages) = glob "$lists/main/binary-*/Packages";
done( 'rm', "$packages.xz" );
append($packages);
isnt( ( update() )[0], 0, 'refused by apt: a list of packages that was changed' );

repository(@made);
is( ( update() )[0], 0, '... until it is made again' );
source("$dir/second.asc");
done( 'sh', '-c', 'gpg --batch --armor --export "second key" >"$1"', 'sh', "$dir/second.asc" );
isnt( ( update() )[0], 0, 'refused by apt: another key' );
source("$out/authz-archive-keyring.asc");
is( ( update() )[0], 0, '... the right one again' );
Authz::Web::write_file( "$lists/InRelease", Authz::Web::edit("$lists/InRelease") =~ s/^Label: authz$/Label: other/mr );
isnt( ( update() )[0], 0, 'refused by apt: a signed text that was changed' );
done( 'rm', "$lists/InRelease", "$lists/Release.gpg" );
isnt( ( update() )[0], 0, 'refused by apt: no signature' );

done_testing;
