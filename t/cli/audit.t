#!/usr/bin/perl
# audit list, show, export, replay, tail, and report: on the database and over the admin API with the same output and exit status.
use strict;
use warnings;

use FindBin ();
use lib $FindBin::Bin, "$FindBin::Bin/../lib";
use JSON::PP ();
use Test::More;
use Time::HiRes qw(sleep time);

use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();
use Authzctl;

my $stack  = Authz::Stack->start;
my $env    = $stack->settings;
my $far    = { SVC_CONFIG => '/dev/null', AUTHZ_ADMIN_KEY => $Authz::Stack::KEY{SVC_ADMIN_API_KEY} };
my @server = ( '--server', $stack->base );
my @crm    = $stack->make_client( 'crm', { grants => ['client_credentials'], scopes => ['orders.read'] } );
$stack->token( @crm, scope => 'orders.read' )  for 1 .. 3;
$stack->token( @crm, scope => 'orders.write' ) for 1 .. 2;

# An output without the time of an export or report and the microseconds of the engine, which differ each time.
sub same {
    my ($text) = @_;
    $text =~ s/("exportedAt":)"[^"]*"/$1/;
    $text =~ s/^(\W*generatedAt\W+)[\w.:-]+/$1/m;
    $text =~ s/"metrics": \{[^}]*\}|^metrics .*$/METRICS/m;
    return $text;
}

sub both {
    my ( $status, $words, $name ) = @_;
    my @words = split / /, $words;
    my ( $db, $api ) = (
        ctl_is( $status, \@words,             "$name, on the database", env => $env ),
        ctl_is( $status, [ @words, @server ], '... and over the API',   env => $far ) );
    is( same( $api->{out} ), same( $db->{out} ), '... prints the same' );
    is( $api->{err},         $db->{err},         '... and the same on standard error' );
    return $db;
}

# ---- list and show

my ($reason) = split ' ',
  $stack->sql(q{SELECT request_summary::json ->> 'denyCodes' FROM audit_log WHERE outcome = 'denied' LIMIT 1});
my $list = both( 0, 'audit list --client crm --endpoint /token', 'audit list' );
like( $list->{out}, qr/\AID +TIME +OUTCOME +METHOD +ENDPOINT +CLIENT +SUBJECT\n/, '... prints columns' );
is( scalar( () = $list->{out} =~ m{ POST +/token +crm\b}g ), 5, '... and the rows of the filter' );
is( scalar( () = both( 0, 'audit list --client crm --outcome denied', 'audit list --outcome' )->{out} =~ /denied/g ),
    2, '... prints the rows of the outcome alone' );
like(
    both( 0, "audit list --client crm --reason $reason", 'audit list --reason' )->{out},
    qr/\A(?:ID [^\n]*|[^\n]* denied [^\n]*)(?:\n[^\n]* denied [^\n]*)+\n\z/,
    '... prints the denials with the reason alone' );
is( both( 0, 'audit list --reason no_such_code', 'audit list of a reason that nobody had' )->{out} =~ tr/\n//,
    1, '... prints the headings' );
is( scalar( split /\n/, both( 0, 'audit list --limit 2 --page 1', 'audit list --limit --page' )->{out} ), 3,
    '... a page' );
my $page = both( 0, 'audit list --client crm --json', 'audit list --json' )->{json};
is( $page->{totalElements}, 5, '... prints the page object' );
is( both( 0, 'audit list --client nobody', 'audit list of nobody' )->{out} =~ tr/\n//, 1, '... prints the headings' );
for
  my $wrong ( '--outcome maybe', '--limit 201', '--limit 0', '--limit x', '--from yesterday', '--flow x', '--page -1' )
{
    like( both( 1, "audit list $wrong", "audit list $wrong" )->{err}, qr/must be/, '... is refused with the rule' );
}
my ( $denied, $allowed ) = map {
    my $outcome = $_;
    ( grep { $_->{outcome} eq $outcome } @{ $page->{content} } )[0]
} qw(denied allowed);
my $show = both( 0, "audit show $denied->{id} --json", 'audit show --json' )->{json};
is_deeply( $show, $denied, '... prints the row' );
like(
    both( 0, "audit show $denied->{id}", 'audit show' )->{out}, qr/^requestId +\Q$denied->{requestId}\E$/m,
    '... in lines' );
like(
    ctl( [ qw(audit list --request), $denied->{requestId} ], env => $env )->{out},
    qr/^$denied->{id} /m, 'audit list --request leads from X-Request-ID to the row' );
both( 1, 'audit show 999999999', 'audit show of an unknown id' );
both( 1, 'audit show x',         'audit show of a text that is no id' );

# ---- replay

is( both( 0, "audit replay $denied->{id} --json", 'audit replay --json' )->{json}{changed} ? 1 : 0,
    0, '... finds the same decision while the policy is the same' );
ctl_is( 0, [qw(entitle crm --scope orders.write)], 'the client is entitled', env => $env );
like(
    both( 0, "audit replay $denied->{id}", 'audit replay' )->{out}, qr/^changed +true$/m,
    '... which changes the decision' );
my $report = both( 0, "audit replay $denied->{id}", 'audit replay' )->{out};
like(
    $report, qr/^before: denied\nREASON .*\nscope_not_entitled .*^now: allowed$/ms,
    '... reads as a report: the reasons' );
like( $report, qr/^differences:\nMEMBER +BEFORE +AFTER\n.*^allow +false +true$/ms, '... and what differs' );
unlike( $report, qr/[{]/, '... without JSON' );
my $shown = both( 0, "audit show $denied->{id}", 'audit show' )->{out};
like(
    $shown, qr/^decision: denied\nREASON +DENIES +RULE +MESSAGE\nscope_not_entitled +yes +entitlements +\S/m,
    'audit show has the reasons' );
like( $shown, qr/^question:\n[{]\n  "/m, '... and the question, indented' );
both( 1, 'audit replay 999999999', 'audit replay of an unknown id' );
both( 1, 'audit replay x',         'audit replay of a text that is no id' );

# ---- export

my $export = both( 0, 'audit export --client crm', 'audit export' );
is( $export->{json}{count}, 5, '... exports the rows of the filter' );
my $lines = both( 0, 'audit export --client crm --format ndjson', 'audit export --format ndjson' )->{out};
is( scalar( map { JSON::PP->new->utf8->decode($_) } split /\n/, $lines ), 5, '... one row per line' );
is( both( 0, 'audit export --client crm --format csv', 'audit export --format csv' )->{out} =~ tr/\n//, 6,
    '... with a head' );
is( both( 0, 'audit export --client crm --status 200', 'audit export --status' )->{json}{count}, 3, '... filters' );
both( 1, 'audit export --format xml',                                     'audit export in a format that is none' );
both( 0, 'audit export --client crm --from-instant 2126-01-31T12:00:00Z', 'audit export of the future' );
SKIP: {
    skip 'no /dev/full', 1 if !-c '/dev/full';
    local @ENV{ keys %$env } = values %$env;
    my $program = Authz::Path::program('authzctl');
    my $err     = qx{$program audit export --format ndjson 2>&1 >/dev/full};
    is( $? >> 8, 1, 'an export into a full disk fails' ) or diag $err;
}

# ---- report

my $governance = both( 0, 'report', 'report' );
like(
    $governance->{out}, qr/^CLIENT +NAME +DECISIONS +%\ncrm +-? +5 +\S+$/m,
    '... prints the numbers of a client' );
is( both( 0, 'report --client crm --json', 'report --json' )->{json}{denied}, 2, '... and with --json the report' );
my @third = $stack->make_client( 'third', { grants => ['client_credentials'], scopes => ['a'] } );
$stack->token( @third, scope => $_ ) for qw(a other another);
like(
    both( 0, 'report --client third --json', 'report --json of a third' )->{out},
    qr/"deniedPct": 66[.]7,/, '... whose percentages have one digit behind the point' );
both( 1, 'report --from 2126-01-01 --to 2026-01-01', 'report of a period that ends before it begins' );
both( 1, 'report --from monday',                     'report of a day that is none' );

# ---- tail

# Start a tail whose output goes to a file; wait for a text there.
sub tail {
    my ( $set, @words ) = @_;
    my $file = Authz::Process::directory() . '/tail' . ++( our $tails );
    my $pid  = fork // die "fork: $!";
    if ( $pid == 0 ) {
        delete @ENV{ grep {/^SVC_/} keys %ENV };
        @ENV{ keys %$set } = values %$set;
        open STDOUT, '>', $file or exit 9;
        exec Authz::Path::program('authzctl'), qw(audit tail --interval 1), @words or exit 9;
    }
    return ( $pid, $file );
}

sub printed {
    my ( $file, $wanted ) = @_;
    my ( $text, $until )  = ( '', time + 30 * Authz::Process::patience() );
    while ( time < $until ) {
        open my $in, '<', $file or next;
        $text = do { local $/ = undef; readline($in) // '' };
        return $text if $text =~ $wanted;
        sleep 0.05;
    }
    return $text;
}

for my $way ( [ 'on the database', $env ], [ 'over the API', $far, @server ] ) {
    my ( $name, $set, @more ) = @$way;
    my ( $pid, $file ) = tail( $set, qw(--client crm --limit 2), @more );
    my $first = printed( $file, qr/\n.*\n/ );
    is( $first =~ tr/\n//, 2, "audit tail --limit 2, $name, begins with two rows" );
    my $id    = $stack->token( @crm, scope => 'orders.read' )->header('X-Request-ID');
    my ($row) = map { $_->{id} } @{ ctl( [ qw(audit list --json --request), $id ], env => $env )->{json}{content} };
    my $then  = printed( $file, qr/^$row /m );
    like(
        $then, qr{\A\Q$first\E$row  \S+  allowed  POST  /token  crm  \S+\n\z},
        '... and prints a new row once, behind them' );
    kill INT => $pid;
    waitpid $pid, 0;
    is( $?,                      0,     '... and ends with status 0 when it is interrupted' );
    is( printed( $file, qr/./ ), $then, '... with nothing more' );
}
my ( $pid, $file ) = tail( $env, qw(--json --limit 1) );
is( ref JSON::PP->new->utf8->decode( printed( $file, qr/\n/ ) ), 'HASH', 'audit tail --json prints a row as one line' );
kill TERM => $pid;
waitpid $pid, 0;
is( $?, 0, '... and ends with status 0 on SIGTERM' );
ctl_is( 64, [ qw(audit tail), @$_ ], "audit tail @$_", env => $env )
  for [qw(--interval 0)], [qw(--interval x)], [qw(--interval 3601)], [qw(--limit 201)];
ctl_is( 1, [ qw(audit tail --outcome maybe), @server ], 'audit tail with a filter that is none', env => $far );

done_testing;
