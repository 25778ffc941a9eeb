#!/usr/bin/perl
# The website of doc/, as `make html` makes it: the navigation has the groups and pages of doc/README in its order, no page asks another
# host or a path outside the site, and the search has its index beside it. That links and anchors lead somewhere is checked by Sphinx.
# contrib/check --site installs what this test needs.
use strict;
use warnings;

use File::Find ();
use Test::More;

use Authz::Path    ();
use Authz::Process ();
use Authz::Web     ();

my $build = $ENV{AUTHZ_BUILDDIR};
plan skip_all => 'AUTHZ_BUILDDIR names no build folder' if !defined $build || !-e "$build/Makefile";
my ($missing) =
  Authz::Process->run( name => 'python', command => [ '/usr/bin/python3', '-c', 'import sphinx, myst_parser, furo' ] );
plan skip_all => 'Sphinx, MyST or Furo is not installed (section site of build-aux/packages)' if $missing != 0;

my ( $status, $said ) = Authz::Process->run(
    name    => 'make', timeout => 300 * Authz::Process::patience(), env => { MAKEFLAGS => undef, MAKELEVEL => undef },
    command => [ 'make', '-C', $build, 'html' ] );
is( $status, 0, 'make html: each link and anchor of the pages leads somewhere' )
  or do { diag $said; done_testing; exit };
my $html = "$build/html";

# ---- the navigation

my $index = Authz::Web::edit("$html/index.html");
my ($tree) = $index =~ m{<div class="sidebar-tree">(.*?)</div>}s;
my ( %nav, @nav, $group );
while ( ( $tree // '' ) =~
    m{<span class="caption-text">([^<]+)</span>|<a class="reference internal" href="([^"#]+)[.]html">}g )
{
    if ( defined $1 ) { $group = $1 }
    else              { push @nav, "$group: $2"; $nav{$2} = $group }
}

my ( @listed, @folder );
for my $line ( split /\n/, Authz::Web::edit( Authz::Path::source( 'doc', 'README' ) ) =~ s/\A.*?\n\n//sr ) {
    if    ( $line =~ /^([A-Z][\w ]+)$/ )               { $group = $1 }
    elsif ( $line =~ /^(\S+)[.]md / && $1 ne 'index' ) { push @listed, "$group: $1" }
    elsif ( $line =~ m{^([\w-]+)/ } )                  { push @folder, [ $group, $1 ] }
}
cmp_ok( scalar @listed, '>', 25, 'doc/README has pages' );
is_deeply( [ grep { !m{/} } @nav ], \@listed, '... which the navigation has in its groups and its order' );
for my $folder (@folder) {
    my ( $in, $name ) = @$folder;
    my @page = map {m{(\Q$name\E/[^/]+)[.]md\z}} glob Authz::Path::source( 'doc', $name, '*.md' );
    is( join( ' ', grep { ( $nav{$_} // '' ) ne $in } @page ), '', "... and each page of doc/$name" );
}

# ---- what the pages load

my ( @abroad, $files );
File::Find::find(
    {   no_chdir => 1,
        wanted   => sub {
            return if !/[.](?:html|css)\z/ || m{/_downloads/};
            my $text = Authz::Web::edit($_);
            my @load =
              /html\z/
              ? $text =~ /<(?:script|link|img|source|iframe)\b[^>]*?\b(?:src|href)="([^"]*)"/g
              : $text =~ /(?:url[(]\s*|\@import\s+)["']?([^"')\s]+)/g;
            $files++;
            push @abroad, map {"$File::Find::name: $_"} grep {m{\A(?!data:)(?:[a-z]+:|/)}i} @load;
        }
    },
    $html );
cmp_ok( $files, '>', 40, 'pages and style sheets are read' );
is( join( "\n", @abroad ), '', '... and none loads a script, style, font or picture from elsewhere' );

# ---- the links

my ( %id, @link );
File::Find::find(
    {   no_chdir => 1,
        wanted   => sub {
            return if !/[.]html\z/ || m{/_static/};
            my ( $page, $text ) = ( $_, Authz::Web::edit($_) );
            $id{$page} = { map { ( $_ => 1 ) } $text =~ /\bid="([^"]+)"/g };
            push @link, map { [ $page, $_ ] } $text =~ /<a\b[^>]*? href="([^"]+)"/g;
        }
    },
    $html );
my ( @astray, $inner );
for my $link (@link) {
    my ( $from, $to ) = @$link;
    next if $to =~ /\A(?:[a-z]+:|#\z)/;
    my ( $path, $anchor ) = $to =~ /\A([^#?]*)(?:[?][^#]*)?(?:#(.*))?\z/;
    my $file = $path eq '' ? $from : $from =~ s{[^/]+\z}{$path}r;
    1 while $file =~ s{[^/]+/[.][.]/}{};
    $inner++;
    push @astray, "$from: $to" if !-e $file || defined $anchor && $file =~ /html\z/ && !$id{$file}{$anchor};
}
is( join( "\n", @astray ), '', 'each link and anchor of the pages made leads somewhere' );

# The style sheet brings another one.
my @first  = $index =~ /<(?:script|link rel="stylesheet")[^>]*?\b(?:src|href)="([^"?]+)/g;
my $octets = length $index;
$octets += -s "$html/$_" for @first, grep { -e "$html/$_" } '_static/styles/normalize.css';
cmp_ok( $octets, '<', 200_000, "the first page has $octets octets with its scripts and styles" );
my $pictures = 0;
$pictures += -s "$html/$_" for $index =~ /<img\b[^>]*? src="([^"]+)"/g;
cmp_ok( $pictures, '<', 200_000, "... and $pictures of pictures" );
diag sprintf '%d pages, %d links and anchors within them, first page %d octets and %d of pictures', scalar keys %id,
  $inner,
  $octets, $pictures;

ok( Authz::Web::edit("$html/_static/styles/furo.css") =~ /td \{ overflow-wrap: anywhere/,
    'no column of a table is cut off by a long name' );

# ---- light and dark

ok( Authz::Web::edit("$html/_static/styles/furo.css") =~
      /prefers-color-scheme: *dark[)] *[{][^{]*[{][^}]*--color-background-primary:/,
    'dark colours for those who ask for them' );
ok( Authz::Web::edit("$html/_static/scripts/furo.js") !~ /^import /m && $index !~ /type="module"/,
    '... and a button, whose script a page can load from a file' );

# ---- the search

my $search = Authz::Web::edit("$html/searchindex.js");
like( $search, qr/\ASearch[.]setIndex\(/, 'the index of the search is a script' );
is( join( ' ', grep { $search !~ /"\Q$_\E[.]md"/ } map {s{.*: }{}r} @listed ), '', '... and has each page' );
ok( Authz::Web::edit("$html/search.html") =~ /<script src="searchindex[.]js"/,
    '... which its page loads, from a file too' );

done_testing;
