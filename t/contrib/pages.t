#!/usr/bin/perl
# doc/errors.md: each code of the tables of errors has a row with its cause and its cure. doc/runbook.md: each alert has a section.
# doc/monitoring.md: each check. doc/limits.md: the numbers. The settings, metrics, verbs and options that the pages name exist.
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Path ();
use Authz::Web  ();

sub text_of { return Authz::Web::edit( Authz::Path::source(@_) ) }

# The words that a pattern finds in files of the source, once each.
sub words {
    my ( $pattern, @files ) = @_;
    my %seen;
    return grep { !$seen{$_}++ } map { text_of($_) =~ /$pattern/g } @files;
}

# The part of a page below a heading, and in it the first cells of the rows of tables that are filled in whole.
sub cells {
    my ( $page, $heading ) = @_;
    my ($part) = $page =~ /^## \Q$heading\E\n(.*?)(?=^## |\z)/ms;
    return map { ( $_ => 1 ) } ( $part // '' ) =~ /^\| `([^`]+)` \|(?: [^|\n]+ \|)+$/mg;
}

# ---- doc/errors.md

my $errors = text_of( 'doc', 'errors.md' );
my %http   = map { cells( $errors, $_ ) } 'OAuth, OpenID Connect and UMA', 'Admin API', 'Gateway';

sub each_stands {
    my ( $least, $name, $stands, @codes ) = @_;
    cmp_ok( scalar @codes, '>=', $least, "$name: the table is read" );
    is( join( ' ', grep { !$stands->{$_} } @codes ), '', '... and doc/errors.md has each code' );
    return;
}

each_stands(
    45, 'fcgi/base/status.c', \%http,
    words( qr/^ *\{AZ_\w+, *\d+, *"(\w+)"/m, 'fcgi/base/status.c' ) );
each_stands(
    3, 'refusals of a save',
    \%http,
    words( qr/[.]error = "(\w+)"/,         map {"fcgi/policy/save/$_.c"} qw(steps/save plan/candidate steps/limits) ),
    words( qr/^ *: "(opa_unreachable)";/m, 'fcgi/policy/save/steps/save.c' ) );
each_stands(
    1, 'the connector', \%http,
    words( qr/"error", "(\w+)", "error_description"/, 'fcgi/admin/gateway/connectors.c' ) );
each_stands(
    12, 'JSON-RPC',
    { cells( $errors, 'MCP' ) },
    words( qr/^ +RPC_\w+ = (-?\d+),/m, 'fcgi/gateway/mcp/message/json_rpc.h' ) );
each_stands(
    6, 'exit statuses',
    { cells( $errors, 'authzctl' ), 0 => 1 },
    words( qr/^ +CLI_\w+ = (\d+),/m, 'cli/lib/cli.h' ) );
each_stands(
    45, 'reasons',
    { cells( $errors, 'Reasons of a denial' ) },
    map   { $_->{code} }
      map { @{ $_->{reasons} } } @{ JSON::PP->new->utf8->decode( text_of(qw(etc policy controls.json)) ) } );

# The other way: a code of the page is in a table.
my %known = map { ( $_ => 1 ) } words(
    qr/"(\w+)"/, 'fcgi/base/status.c', 'fcgi/admin/gateway/connectors.c',
    map {"fcgi/policy/save/$_.c"} qw(steps/save plan/candidate steps/limits) );
is( join( ' ', grep { !$known{$_} } sort keys %http ), '', 'doc/errors.md has no code that is gone' );

# ---- doc/runbook.md: each alert has a section that says what it means and what to do

my %section = map { split /\n/, $_, 2 } text_of( 'doc', 'runbook.md' ) =~ /^### (.*?)(?=^###? |\z)/msg;
my @alert   = words( qr/^ +- alert: (\w+)$/m, 'etc/prometheus/authz.rules.yml' );
cmp_ok( scalar @alert, '>=', 9, 'etc/prometheus/authz.rules.yml: the alerts are read' );
for my $alert (@alert) {
    like( $section{$alert} // '', qr{^[*][*]Means[.][*][*] \S.*^[*][*]Do[.][*][*] \S}ms, "doc/runbook.md: $alert" );
}
my %alert = map { ( $_ => 1 ) } @alert;
is( join( ' ', grep { /\AAuthz/ && !$alert{$_} } sort keys %section ), '', 'doc/runbook.md has no alert that is gone' );

# ---- doc/monitoring.md has each check of /health/ready, and doc/limits.md the numbers of the source

my %row     = text_of( 'doc', 'monitoring.md' ) =~ /^\| `(\w+)` \| (UP|DEGRADED|DOWN|the same)/mg;
my @checked = text_of(qw(fcgi admin health.c))  =~ /^    \{"(\w+)", +health_check_\w+, +(\w+),/mg;
cmp_ok( scalar @checked, '>=', 24, 'fcgi/admin/health.c: the checks are read' );
while ( my ( $check, $failed ) = splice @checked, 0, 2 ) {
    is( ( $row{$check} // '' ) eq 'the same' ? $failed : $row{$check}, $failed, "doc/monitoring.md: check $check" );
}

# Return the numbers that a text of C defines, by name.
sub defined_in {
    my ($text) = @_;
    my %value = $text =~ /^#define (\w+_MAX) ([\d ()*<]+?)(?: *\/\*.*)?$/mg;
    $_ = eval for values %value;    ## no critic (ProhibitStringyEval): digits and operators alone
    return %value;
}
my %number =
  map { defined_in( Authz::Web::edit($_) ) } glob( Authz::Path::source('fcgi') . '/{*,*/*,*/*/*,*/*/*/*,*/*/*/*/*}.h' );
%number = ( %number, text_of(qw(doc reference settings.md)) =~ /^\| `(\w+)` \|[^\n]*? \| `(\d+[A-Z]*)s?` \|/mg );
my @limit = text_of( 'doc', 'limits.md' ) =~ /^\| [^|\n]+ \| (?:[^|\d\n]*)([\d,]+(?: MB)?)\b[^|\n]* \| `?(\w+)/mg;
cmp_ok( scalar @limit, '>=', 80, 'doc/limits.md: the rows are read' );
while ( my ( $says, $name ) = splice @limit, 0, 2 ) {
    is( $says =~ tr/, //dr, $number{$name} // "no $name", "doc/limits.md: $name" );
}

# ---- the settings, metrics, verbs and options that the pages name exist

my %setting = map { ( $_ => 1 ) } 'SVC_CONFIG', 'SVC_NAME', 'SVC_NAME_FILE',
  words( qr/\b((?:SVC|SHUTDOWN)_\w+)/, 'doc/reference/settings.md' );
my %metric  = map { ( $_ => 1 ) } words( qr/^[|] `(svc_\w+)`/m, 'doc/reference/metrics.md' );
my %help    = map { split /\n/, $_, 2 } text_of(qw(doc reference cli.md)) =~ /^## (.*?)(?=^## |\z)/msg;
my ($every) = text_of(qw(doc reference cli.md)) =~ /\A(.*?)^## /ms;

# Return what is wrong with the words after authzctl; "" if nothing is.
sub wrong_call {
    my ($words) = @_;
    $words =~ s/\A(?: --(?:json|quiet|server \S+|key-file \S+))+//;
    return '' if $words !~ /\A [a-z]/;
    my ($verb) = sort { length $b <=> length $a } grep { "$words " =~ /\A \Q$_\E / } keys %help;
    return ( grep {/\A\Q@{[substr $words, 1]}\E /} keys %help ) ? '' : "authzctl$words" if !defined $verb;
    my @option = $words =~ /(?<= )(--[a-z][\w-]*)/g;
    return join ' ', map {"authzctl $verb $_"} grep { "$help{$verb}$every" !~ /\Q$_\E\b/ } @option;
}

# Return the code of a page: its blocks, its indented lines, and what stands between backticks, each in one line.
sub code {
    my ($text) = @_;
    my @code;
    $text =~ s/^( *)```[^\n]*\n(.*?)^\1```$/push @code, $2; ''/gmse;
    push @code, $text =~ /^ {4,}(\S.*)$/mg, map {s{\s+}{ }gr} $text =~ /`([^`]+)`/g;
    return join "\n", @code;
}

# Return the names on a page that are no setting, metric, verb or option, as text.
sub missing {
    my ($text) = @_;
    my @gone   = grep { !$setting{$_} } $text =~ /\b(SVC_[A-Z_]+[A-Z])\b(?!_)/g;
    push @gone, grep { !$metric{$_} } $text =~ /\b(svc_\w+)\b/g;
    push @gone, grep { $_ ne '' } map { wrong_call($_) } code($text) =~ /(?<![\w-])authzctl((?: [^\s`|;()<>"]+)*)/g;
    return "@gone";
}
for my $file ( glob( Authz::Path::source('doc') . '/{,providers/,mcp-clients/}*.md' ) ) {
    my ($name) = $file =~ m{/doc/((?:[\w-]+/)?[^/]+)\z};
    is( missing( Authz::Web::edit($file) ), '', "doc/$name: its settings, metrics, verbs and options exist" );
}
is( missing('SVC_GONE, svc_gone, `authzctl gone --now`, `authzctl keys list --now`'),
    'SVC_GONE svc_gone authzctl gone --now authzctl keys list --now',
    '... which this test would see' );

# ---- doc/index.md, the navigation of the website, has the pages and groups of doc/README in its order

my ( $group, @listed );
for ( split /\n/, text_of( 'doc', 'README' ) =~ s/\A.*?\n\n//sr ) {
    $group = $1 if /^([A-Z][\w ]+)$/;
    push @listed, "$group: $1" if /^(\S+)[.]md / && $1 ne 'index';
}
my @tree = map {
    my ( $caption, $names ) = @$_;
    map {"$caption: $_"} grep { !m{/} } split ' ', $names
} map { [ /:caption: (.+)/, /\n\n(.*)/s ] } text_of( 'doc', 'index.md' ) =~ /^```[{]toctree[}]\n(.*?)^```/msg;
cmp_ok( scalar @listed, '>', 35, 'doc/README: the pages are read' );
is_deeply( \@tree, \@listed, '... and doc/index.md has them in its groups and its order' );

# ---- what the cells are

my %gone = cells( "## A\n| `one` | Cause | Cure |\n| `two` | | |\n", 'A' );
is( join( ' ', keys %gone ), 'one', 'a row without cause and cure does not count' );

done_testing;
