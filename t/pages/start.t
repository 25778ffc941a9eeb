# Pages are checked before any request: `authz.fcgi --check` and `authzctl config check` name a missing or broken
# page with file and line, and say what to do (decisions.md "Pages").
use strict;
use warnings;

use Test::More;

use File::Copy ();

use Authz::Path     ();
use Authz::Postgres ();
use Authz::Process  ();
use Authz::Stack    ();
use Authz::Web      ();

my $postgres = Authz::Postgres->shared_or_new;
my %good     = (
    %{ Authz::Stack::base_settings( $postgres->url( $postgres->database ) ) },
    SVC_OIDC_ISSUER => 'http://127.0.0.1:8080' );
my $top = Authz::Process::directory();

# Make a data directory with a copy of the shipped pages, some of them changed (undef: left out).
sub data_dir {
    my (%change) = @_;
    my $dir = "$top/data" . ++( our $dirs );
    mkdir $_ or die "$_: $!" for $dir, "$dir/www";
    symlink Authz::Path::source('sql'),                       "$dir/sql"           or die $!;
    symlink Authz::Path::source( 'etc', 'policy' ),           "$dir/policy"        or die $!;
    symlink Authz::Path::source( 'etc', 'www', 'languages' ), "$dir/www/languages" or die $!;
    for my $file ( glob Authz::Path::source( 'etc', 'www' ) . '/*.html' ) {
        File::Copy::copy( $file, "$dir/www" ) or die "$file: $!";
    }
    for my $name ( keys %change ) {
        unlink "$dir/www/$name.html";
        Authz::Web::write_file( "$dir/www/$name.html", $change{$name} ) if defined $change{$name};
    }
    return $dir;
}

# Run a program with that directory and return (exit status, lines).
sub run {
    my ( $dir, $program, @words ) = @_;
    my ( $status, $text ) = Authz::Process->run(
        name    => $program, env => { %good, SVC_DATA_DIR => $dir },
        command => [ Authz::Path::program($program), @words ] );
    return ( $status, split /\n/, $text );
}

# Run the check of the service with settings for name and logo.
sub check_with {
    my (%setting) = @_;
    local @good{ keys %setting } = values %setting;
    return run( data_dir(), 'authz.fcgi', '--check' );
}

my ( $status, @line ) = run( data_dir(), 'authz.fcgi', '--check' );
is( $status, 0, 'start: the shipped pages are right' ) or diag(@line);
( $status, @line ) = run( data_dir(), qw(authzctl config check --offline) );
is( $status, 0, 'config check: says so too' ) or diag(@line);
( $status, @line ) = run(
    data_dir( signed_out => "<title>Bye</title>\n<p>{{site}}</p>\n{{>legal}}", legal => '<p>Example Inc.</p>' ),
    'authz.fcgi', '--check' );
is( $status, 0, 'start: a branded page, with a file of its own, is right' ) or diag(@line);

my @cases = (
    [ 'is missing',             'consent.html: No such file or directory',        consent => undef ],
    [ 'that others include',    'head.html: No such file or directory',           head    => undef ],
    [ 'does not end a section', 'error.html:2: text: this section is not closed', error => "<h1>x</h1>\n{{#text}}\n" ],
    [   'has an unknown name', 'choose.html:1: provider: no value has this name here',
        choose => '{{#provider}}{{name}}{{/provider}}' ],
    [ 'would not escape', 'consent.html:3: values are always escaped', consent => "\n\n{{{client_name}}}" ],
    [   'has a script', 'logout.html:1: this element does not work on these pages',
        logout => '<script>alert(1)</script>' ],
    [   'has a value in a style', 'head.html:1: a style element cannot contain {{',
        head => '<style>a { color: {{site}} }</style>' ],
    [   'has a bare attribute', 'logout.html:1: an attribute\'s value must be in quotes',
        logout => '<form action=/logout>' ],
    [ 'is no text', 'error.html: the file is not UTF-8 text', error => "\xff\xfe" ],
);
for my $case (@cases) {
    my ( $what, $why, %change ) = @$case;
    my $dir = data_dir(%change);
    for my $program ( [ 'authz.fcgi', '--check' ], [qw(authzctl config check --offline)] ) {
        ( $status, @line ) = run( $dir, @$program );
        my @told = grep {m{SVC_DATA_DIR: \Q$dir/www/$why\E}} @line;
        ok(      $status == 78
              && @told == 1
              && $told[0] =~ /correct the page or restore the one that comes with the program/,
            "$program->[0]: a page that $what is refused with file, line and what to do"
        ) or diag( $status, map {"\n$_"} @line );
    }
}
( $status, @line ) = run( "$top/nowhere", 'authz.fcgi', '--check' );
ok( $status == 78 && 1 == grep( {/SVC_DATA_DIR: \Q$top\E\/nowhere\/www: No such file/} @line ),
    'start: a data directory without pages is one line' ) or diag( $status, @line );

# ---- name and logo (decisions.md "Name and logo")

my $own = "$top/own";
mkdir $own or die "$own: $!";
Authz::Web::write_file( "$own/logo.svg", '<svg xmlns="http://www.w3.org/2000/svg"/>' );
( $status, @line ) = check_with( SVC_WWW_DIR => $own, SVC_PAGES_LOGO => 'logo.svg', SVC_PAGES_NAME => 'Example' );
is( $status, 0, 'start: a name and a logo are right' ) or diag(@line);
( $status, @line ) = check_with( SVC_WWW_DIR => '', SVC_PAGES_LOGO => ' ', SVC_PAGES_NAME => '' );
is( $status, 0, 'start: blank settings of pages count as not set' ) or diag(@line);
for my $case (
    [ 'javascript:alert(1)',       'must be the name of a file in SVC_WWW_DIR' ],
    [ 'https://cdn.example/x.png', 'must be the name of a file in SVC_WWW_DIR' ],
    [ '../own/logo.svg',           'must be the name of a file in SVC_WWW_DIR' ],
    [ 'gone.png',                  "$own/gone.png: No such file or directory" ],
    [ 'logo.gif',                  'must end in .png, .svg or .webp' ] )
{
    my ( $logo, $why ) = @$case;
    ( $status, @line ) = check_with( SVC_WWW_DIR => $own, SVC_PAGES_LOGO => $logo );
    ok( $status == 78 && 1 == grep( {/SVC_PAGES_LOGO: \Q$why\E/} @line ),
        "start: the logo $logo is refused, with the setting and the reason" ) or diag( $status, @line );
}
( $status, @line ) = check_with( SVC_PAGES_NAME => 'x' x 65 );
ok( $status == 78 && 1 == grep( {/SVC_PAGES_NAME: has more than 64 characters/} @line ),
    'start: a name of 65 characters is refused' ) or diag( $status, @line );

done_testing;
