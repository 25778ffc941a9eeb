#!/usr/bin/perl
# doc/reference: its pages are those that contrib/lib/reference makes from the tables of the code, and each table is there whole.
use strict;
use warnings;

use Test::More;

use Authz::Path    ();
use Authz::Process ();
use Authz::Web     ();

my @PAGES = qw(cli.md reason-codes.md routes.md settings.md);
my $dir   = Authz::Process::directory() . '/reference';
mkdir $dir or die "$dir: $!";
my ( $status, $text ) = Authz::Process->run(
    name    => 'reference',
    command => [ Authz::Path::source( 'contrib', 'lib', 'reference' ), Authz::Path::program('authzctl'), $dir ] );
is( $status, 0,  'contrib/lib/reference reads the tables' ) or diag $text;
is( $text,   '', '... and has nothing to say' );

for my $page (@PAGES) {
    my $made = Authz::Web::edit("$dir/$page");
    ok( $made eq Authz::Web::edit( Authz::Path::source( 'doc', 'reference', $page ) ),
        "$page is up to date; if not, run contrib/lib/reference AUTHZCTL" );
    unlike( $made, qr{(?<![\w.])/(?:tmp|home|root|usr)/}, '... and names no directory of the machine it was made on' );
}

# Count the rows by other means than the script does.
sub count {
    my ( $pattern, @part ) = @_;
    return scalar( my @found = Authz::Web::edit( Authz::Path::source(@part) ) =~ /$pattern/g );
}

my %routes = map { ( $_ => 1 ) } Authz::Web::edit("$dir/routes.md") =~ /^\| ([A-Z]+ \| `[^`]+`)/mg;
is( scalar keys %routes, count( qr/^    \{[A-Z]+\("/m, qw(fcgi routes.c) ), 'routes.md has each row of routes.c' );
my @codes = Authz::Web::edit("$dir/reason-codes.md") =~ /^\| `\w+` \| \w+ \| \w+ \|/mg;
is( scalar @codes, count( qr/"code":/, qw(etc policy controls.json) ),
    'reason-codes.md has each code of the catalogue' );
my @settings = Authz::Web::edit("$dir/settings.md") =~ /^\| `\w+` \|/mg;
is( scalar @settings, count( qr/^ *\{?[^\n]*"(?:SVC|SHUTDOWN)_\w+",/m, qw(fcgi base settings_table.c) ),
    'settings.md has each row of settings_table.c' );

done_testing;
