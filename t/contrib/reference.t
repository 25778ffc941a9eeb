#!/usr/bin/perl
# doc/reference: its pages are those that build-aux/reference makes from the tables of the code, and each table is there whole.
use strict;
use warnings;

use Test::More;

use Authz::Path    ();
use Authz::Process ();
use Authz::Web     ();

my @PAGES = qw(builtins.md cli.md metrics.md reason-codes.md routes.md settings.md);
my $dir   = Authz::Process::directory() . '/reference';
mkdir $dir or die "$dir: $!";
my ( $status, $text ) = Authz::Process->run(
    name    => 'reference',
    command => [ Authz::Path::source( 'build-aux', 'reference' ), Authz::Path::program('authzctl'), $dir ] );
is( $status, 0,  'build-aux/reference reads the tables' ) or diag $text;
is( $text,   '', '... and has nothing to say' );

for my $page (@PAGES) {
    my $made = Authz::Web::edit("$dir/$page");
    ok( $made eq Authz::Web::edit( Authz::Path::source( 'doc', 'reference', $page ) ),
        "$page is up to date; if not, run build-aux/reference AUTHZCTL" );
    $made =~ s{`/usr/bin/opa`}{};    # a default
    unlike( $made, qr{(?<![\w.])/(?:tmp|home|root|usr)/}, '... and names no directory of the machine it was made on' );
}

# Count the rows by other means than the script does.
sub count {
    my ( $pattern, @part ) = @_;
    return scalar( my @found = Authz::Web::edit( Authz::Path::source(@part) ) =~ /$pattern/g );
}

my %routes = map { ( $_ => 1 ) } Authz::Web::edit("$dir/routes.md") =~ /^\| ([A-Z]+ \| `[^`]+`)/mg;
is( scalar keys %routes, count( qr/^    \{[A-Z]+\("/m, qw(fcgi routes.c) ), 'routes.md has each row of routes.c' );

# Operators and what the compiler puts in place of a syntax have names that no rule calls.
my @builtins = Authz::Web::edit("$dir/builtins.md") =~ /^\| `[\w.]+` \| \d \|/mg;
my $builtins = 0;
$builtins += count(
    qr/^ +\{"(?!internal)(?!(?:eq|equal|neq|[lg]te?|plus|minus|mul|div|rem|and|or)")[^"]+", +\d, +run_/m,
    qw(fcgi rego builtin), $_ ) for map {m{([^/]+)\z}} glob Authz::Path::source(qw(fcgi rego builtin *.c));
is( scalar @builtins, $builtins, 'builtins.md has each builtin of fcgi/rego' );
my @codes = Authz::Web::edit("$dir/reason-codes.md") =~ /^\| `\w+` \| \w+ \| \w+ \|/mg;
is( scalar @codes, count( qr/"code":/, qw(etc policy controls.json) ),
    'reason-codes.md has each code of the catalogue' );
my @settings = Authz::Web::edit("$dir/settings.md") =~ /^\| `\w+` \|/mg;
is( scalar @settings, count( qr/^ *\{?[^\n]*"(?:SVC|SHUTDOWN)_\w+",/m, qw(fcgi base settings settings_table.c) ),
    'settings.md has each row of settings_table.c' );
my @metrics = Authz::Web::edit("$dir/metrics.md") =~ /^\| `svc_\w+` \| (?:counter|histogram|gauge) \|/mg;
is( scalar @metrics, count( qr/^    \[METRIC_\w+\] = /m, qw(fcgi metrics table.c) ),
    'metrics.md has each row of fcgi/metrics/table.c' );
my %listed = map { ( $_ => 1 ) } Authz::Web::edit("$dir/metrics.md") =~ /^\| `(\w+)` \|/mg;
ok( $listed{$_}, "... and the values of the label $_" )
  for qw(code evaluation outcome reason_category grant active state use);

# The lists of values follow the tables that they stand for. What is not listed would count as "other".
sub not_listed {
    my ( $label, $pattern, @part ) = @_;
    my ($values) = Authz::Web::edit("$dir/metrics.md")            =~ /^\| `$label` \| (.*) \|$/m;
    my %value    = map { ( $_ => 1 ) } $values                    =~ /`([^`]+)`/g;
    my @wanted   = Authz::Web::edit( Authz::Path::source(@part) ) =~ /$pattern/g;
    return @wanted ? join ' ', grep { !$value{$_} } @wanted : 'nothing is read';
}
is( not_listed( 'grant', qr/\.type = "([^"]+)"/, qw(fcgi oauth grants.c) ), '', 'the label grant lists each grant' );
is( not_listed( 'reason_category', qr/^    \{"(\w+)", +AZ_\w+\},$/m, qw(fcgi policy decide decision_reasons.c) ),
    '', 'the label reason_category lists each category of decision_reasons.c' );
is( not_listed( 'reason_category', qr/"category": "(\w+)"/, qw(etc policy controls.json) ),
    '', '... and of etc/policy/controls.json' );
is( not_listed(
        'evaluation', qr/question->frame, (?:question->preview [?] )?"(\w+)"/, qw(fcgi policy decide question.c) ),
    '',
    'the label evaluation lists each evaluation of question.c' );
is( not_listed( 'evaluation', qr/begin_question\(op, &question->holder, "(\w+)"/, qw(fcgi policy decide gateway.c) ),
    '', '... and of gateway.c' );
is( not_listed( 'code', qr/^        \{(\d{3}), "/m, qw(fcgi http serve dispatch.c) ), '',
    'the label code lists each status' );

done_testing;
