# The files of the console: the vendored libraries are those that the manifest names, and its own modules are short, write no
# HTML and no style, and fit the budget; `make install` gives them addresses with the version (gateway-admin.md 7.5).
use strict;
use warnings;

use Digest::SHA        ();
use File::Find         ();
use IO::Compress::Gzip ();
use JSON::PP           ();
use Test::More;

use Authz::Path    ();
use Authz::Portal  ();
use Authz::Process ();
use Authz::Web     ();

my $portal = Authz::Path::source( 'etc', 'portal' );
my $vendor = "$portal/vendor";
my $lock =
  JSON::PP::decode_json( Authz::Web::edit( Authz::Path::source(qw(build-aux portal package-lock.json)) ) )->{packages};

sub text_of { return Authz::Web::edit( $_[0] ) }

sub packed {
    my $text = join '', map { text_of($_) } @_;
    IO::Compress::Gzip::gzip( \$text => \my $out );
    return length $out;
}

sub files_of {
    my ( $dir, $end ) = @_;
    my @found;
    File::Find::find( sub { push @found, $File::Find::name if /\.$end\z/ }, $dir );
    return sort @found;
}

# ---- libraries

my ( %package, %sum );
for ( grep { !/^#/ } split /\n/, text_of("$vendor/MANIFEST") ) {
    if    (/^(\S+) SHA-256 ([0-9a-f]{64})$/)               { $sum{$1} = $2 }
    elsif (/^(\S+) (\S+) (MIT|Apache-2\.0) (sha512-\S+)$/) { $package{$1} = "$2 $4" }
    else                                                   { fail("MANIFEST: $_ is no line of a package or a bundle") }
}
my %locked =
  map { ( s{\Anode_modules/}{}r => "$lock->{$_}{version} $lock->{$_}{integrity}" ) }
  grep { $_ ne '' && !$lock->{$_}{dev} } keys %$lock;
is_deeply(
    \%package, \%locked,
    'libraries: the manifest has name, version and checksum of each package of the lock file' );
is( Digest::SHA->new(256)->addfile("$vendor/$_")->hexdigest, $sum{$_}, "libraries: $_ has the sum of the manifest" )
  for sort keys %sum;
is_deeply(
    [ sort map {s{.*/}{}r} files_of( $vendor, 'js' ) ], [ sort keys %sum ],
    'libraries: the manifest names every bundle' );
my $licences = text_of("$vendor/LICENSES");
is_deeply(
    [ grep { index( $licences, "==== $_ " ) < 0 } sort keys %package ],
    [], 'libraries: the licence of each package is there' );

# ---- own modules

my @own = files_of( "$portal/js", 'js' );
for my $file ( @own, files_of( "$portal/css", 'css' ) ) {
    my $text  = text_of($file);
    my $lines = () = $text =~ /\n/g;
    my $name  = $file      =~ s{\A\Q$portal\E/}{}r;
    ok( $lines <= 300, "own files: $name has at most 300 lines" ) or diag $lines;
}
my %refused = (
    'HTML as text' =>
      qr/innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|document\.write|createContextualFragment/,
    'text as program'   => qr/\beval\s*\(|new Function\b|setTimeout\s*\(\s*['"`]/,
    'styles as text'    => qr/\sstyle=|cssText|\.style\s*=/,
    'a link elsewhere'  => qr/href=["']?(?:https?:|javascript:)|window\.open/,
    'secrets that stay' => qr/(?:localStorage|sessionStorage)\.setItem\([^)]*(?:key|secret|token)\b/i );
for my $what ( sort keys %refused ) {
    is_deeply( [ grep { text_of($_) =~ $refused{$what} } @own ], [], "own files: no module writes $what" );
}

# ---- the budget

my @first =
  ( "$portal/index.html", files_of( "$portal/css", 'css' ), "$vendor/preact.js", grep { !m{/(?:pages|code)/} } @own );
cmp_ok( packed(@first), '<=', 120_000, 'budget: what the first page loads has at most 120 kB, compressed' );
cmp_ok( packed("$vendor/codemirror.js"), '<=', 190_000, 'budget: the editor has at most 190 kB, compressed' );
cmp_ok( packed($_),                      '<=', 15_000,  'budget: a page has at most 15 kB, compressed: ' . s{.*/}{}r )
  for grep {m{/pages/}} @own;

# ---- as make install puts them

my $to = Authz::Portal::install( Authz::Process::directory() . '/portal' );

# Name and sum of each file.
sub all_of {
    my ($from) = @_;
    my %of;
    File::Find::find(
        {   no_chdir => 1,
            wanted   => sub { $of{s{\A\Q$from\E/}{}r} = Digest::SHA->new(256)->addfile($_)->hexdigest if -f } },
        $from );
    return %of;
}
my ($version) = text_of("$to/index.html") =~ m{"(v/1\.2\.3-[0-9a-f]{12})/js/main\.js"};
ok( defined $version, 'installed: index.html names its files with version and sum' );
my @named = text_of("$to/index.html") =~ /(?:href|src)="(?!data:)([^"]+)"/g;
is_deeply( [ grep { !-f "$to/$_" } @named ],                  [], 'installed: ... and each of them is there' );
is_deeply( [ grep { index( $_, "$version/" ) != 0 } @named ], [], 'installed: ... with the version' );
for my $dir (qw(css js vendor)) {
    my %sum = map { ( $_ => { all_of("$_/$dir") } ) } $portal, "$to/$version";
    is_deeply( $sum{"$to/$version"}, $sum{$portal}, "installed: the files of $dir are those of the source" );
}
my $other = Authz::Process::directory() . '/changed';
system( 'cp', '-R', $portal, $other ) == 0 or die "cp failed\n";
Authz::Web::write_file( "$other/css/print.css", "a { color: red }\n" );
mkdir "$to/js" or die "mkdir: $!";
Authz::Portal::install( $to, $other );
my ($next) = text_of("$to/index.html") =~ m{"(v/[^/]+)/};
isnt( $next, $version, 'installed: other files of the same version have another address' );
is_deeply(
    [ sort map {s{\A\Q$to\E/}{}r} glob("$to/*"), glob("$to/v/*") ],
    [ sort 'README', 'index.html', 'v', $next ],
    'installed: files of an earlier version are removed' );
done_testing;
