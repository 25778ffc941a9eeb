# /admin/api/governance/report: its numbers are those of the audit rows, whoever counted them and whenever (gateway-admin.md 3.6;
# decisions.md "Governance report").
use strict;
use warnings;

use List::Util qw(sum0);
use Test::More;
use Time::HiRes qw(sleep time);

use Authz::Check;
use Authz::Client  ();
use Authz::Managed ();
use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();

my $stack   = Authz::Stack->start( gateway => 1 );
my $path    = '/admin/api/governance/report';
my %cc      = ( grants => ['client_credentials'] );
my @crm     = $stack->make_client( 'crm', { %cc, scopes => ['orders.read'] } );
my @erp     = $stack->make_client( 'erp', { %cc, scopes => ['orders.read'] } );
my @none    = $stack->make_client('none');
my ($today) = $stack->sql('SELECT current_date');

sub day { return $stack->sql("SELECT current_date - $_[0]") }

sub report {
    my ($query) = @_;
    return $stack->admin( GET => $path . ( defined $query ? "?$query" : '' ) );
}

# A report without the time at which it was made.
sub timeless {
    my %report = %{ $_[0]->json };
    like( delete $report{generatedAt}, qr/\A\d{4}-\d\d-\d\dT[\d:.]+Z\z/, 'governance: generatedAt is a time' );
    return \%report;
}

# The same numbers from the rows themselves.
sub rows_of {
    my ($where) = @_;
    my %count = ( allowed => 0, denied => 0, errors => 0 );
    for (
        split /\n/,
        $stack->sql(
            "SELECT outcome, count(*) FROM audit_log WHERE policy_input IS NOT NULL AND outcome <> 'rejected' AND $where GROUP BY 1"
        ) )
    {
        my ( $outcome, $n ) = split /\t/;
        $count{ $outcome eq 'error' ? 'errors' : $outcome } = $n;
    }
    return \%count;
}

# The report holds, in itself and against the rows.
sub adds_up {
    my ( $query, $where, $name ) = @_;
    my $report = report($query)->json;
    my $rows   = rows_of($where);
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    is_deeply(
        { map { $_ => $report->{$_} } keys %$rows }, $rows,
        "governance: $name: the numbers are those of the audit rows" );
    is( $report->{totalDecisions}, sum0( values %$rows ), '... which add up to the total' );
    is_deeply(
        { map { my $of = $_; $of => sum0( @{ $report->{ 'trend' . ucfirst $of } } ) } keys %$rows },
        $rows, '... as do the points of the trend' );
    for my $list (qw(byEndpoint byClient)) {
        is( sum0( map { $_->{decisions} } @{ $report->{$list} } ), $report->{totalDecisions}, "... and $list" );
        my $pct = sum0( map { $_->{pct} } @{ $report->{$list} } );
        cmp_ok( abs( $pct - 100 ), '<', 0.5, '... with percentages of it' ) if $report->{totalDecisions};
    }
    return $report;
}

$stack->token( @crm,  scope => 'orders.read' ) for 1 .. 3;
$stack->token( @crm,  scope => 'other' )       for 1 .. 2;
$stack->token( @erp,  scope => 'other' );
$stack->token( @none, scope => 'other' );
$stack->token( @crm,  scope => 'a"b' );     # rejected: policy is not asked
my ($rules) = $stack->sql('SELECT count(*) FROM policy_rule') + 0;
my $report = adds_up( undef, 'true', 'before housekeeping' );
members_are(
    $report,
    {   allowed   => 3, denied    => 4,      errors => 0, totalDecisions => 7, allowedPct => 42.9, deniedPct => 57.1,
        errorsPct => 0, periodEnd => $today, totalRules => $rules, activeRules => $rules, identityProviderCount => 0,
        resources => [],
        activeAgentCount => 3, protectedResourceCount => 0,
        denialReasons    => sub {
            my %n = map { $_->{reason} => $_->{count} } @{ $_[0] };
            $n{scope_not_entitled} >= 3 && $n{grant_not_entitled} == 1;
        },
        recentPolicyChanges => sub {
                 @{ $_[0] } > 0
              && @{ $_[0] } <= 10
              && $_[0][0]{entityId} > $_[0][-1]{entityId}
              && $_[0][0]{entityType} eq 'bundle';
        }
    },
    'governance: the report' );
is_deeply(
    [ map {"$_->{clientId} $_->{decisions} $_->{denied} $_->{errors}"} @{ $report->{byClient} } ],
    [ 'crm 5 2 0', 'erp 1 1 0', 'none 1 1 0' ], 'governance: the largest client is first, each with denials and errors'
);
is_deeply(
    [ map {"$_->{endpoint} $_->{decisions} $_->{denied} $_->{errors}"} @{ $report->{byEndpoint} } ],
    ['/token 7 4 0'], 'governance: ... and each endpoint' );
is_deeply(
    [   map { [ $_->{reason}, $_->{counts}[-1], sum0( @{ $_->{counts} } ), scalar @{ $_->{counts} } ] }
          @{ $report->{reasonTrend} } ],
    [ map { [ $_->{reason}, $_->{count}, $_->{count}, 30 ] } @{ $report->{denialReasons} } ],
    'governance: the reasons over time add up to their numbers' );
is( sum0( map { $_->{total} } @{ $report->{byHour} } ) . ' ' . sum0( map { $_->{denied} } @{ $report->{byHour} } ),
    '7 4', 'governance: the hours add up to the decisions' );
is( grep( { $_->{hour} !~ /\A\d{4}-\d\d-\d\dT\d\d:00:00\.000Z\z/ } @{ $report->{byHour} } ), 0,
    '... each begins with an hour' );
members_are(
    $report->{before}, { periodStart => day(59), periodEnd => day(30), totalDecisions => 0, denied => 0 },
    'governance: the period before has as many days' );
is( grep( { $_->{before} } @{ $report->{denialReasons} } ), 0, '... in which no reason was' );
members_are(
    $report->{recentPolicyChanges}[0],
    { id => $report->{recentPolicyChanges}[0]{entityId} + 0, who => qr/./, effect => undef },
    'governance: a policy change has its number and author' );
is( scalar @{ $report->{$_} }, 30, "governance: 30 days by default, a point each ($_)" )
  for qw(trendLabels trendAllowed trendDenied trendErrors);
is( join( ' ', map {"$_->{clientId}/$_->{clientType}/$_->{registrationType}"} @{ $report->{clients} } ),
    'crm/confidential/ADMIN erp/confidential/ADMIN none/confidential/ADMIN', 'governance: the clients of the period' );
is( $report->{trendLabels}[-1], $today, '... up to today' );
is_deeply(
    timeless( $stack->admin( GET => '/admin/api/governance-report' ) ), timeless( report() ),
    'governance: the alias gives the same' );

my $before = timeless( report() );
$stack->authzctl('maintain');
is_deeply( timeless( report() ), $before, 'governance: housekeeping changes no number' );
$stack->token( @erp, scope => 'orders.read' );
$report = adds_up( undef, 'true', 'some rows added up, some not' );
is( $report->{allowed}, 4, '... and a new one counts at once' );
$report = adds_up( 'clientId=erp', q{client_id = 'erp'}, 'one client' );
members_are(
    $report,
    {   allowed       => 1, denied => 1, allowedPct => 50, activeAgentCount => 1,
        denialReasons => sub { @{ $_[0] } == 1 && $_[0][0]{count} == 1 } },
    'governance: the report of one client' );
$stack->authzctl('maintain');
adds_up( 'clientId=erp', q{client_id = 'erp'}, 'one client, after housekeeping' );
members_are(
    report('clientId=nobody')->json,
    { totalDecisions => 0, allowedPct => 0, byClient => sub { !@{ $_[0] } }, activeAgentCount => 0 },
    'governance: percentages of nothing are 0' );

# ---- managed resources

my $gateway = Authz::Managed->new($stack);
my %static  = (
    upstreamType => 'STATIC',
    routes => [ { id => 'all', path => '/**', methods => ['GET'], response => { status => 200, body => 'here' } } ] );
$gateway->resource( 'static', %static, displayName => 'The static one' );
$gateway->resource( 'unused', %static );
my @asked = map { $gateway->ask( GET => 'static', "/$_" )->status } 1 .. 3;
is_deeply( \@asked, [ 200, 200, 200 ], 'three requests to a managed resource' );

sub resources {
    my ($query) = @_;
    return [ map {"$_->{name} $_->{decisionCount}"} @{ report($query)->json->{resources} } ];
}
my @counted = ( 'The static one 3', 'unused 0' );
is_deeply( resources(), \@counted, 'governance: the decisions about each managed resource' );
$stack->authzctl('maintain');
is_deeply( resources(), \@counted, '... housekeeping changes no number' );
is( $gateway->ask( GET => 'static', '/4' )->status, 200, 'another request' );
is_deeply( resources(), [ 'The static one 4', 'unused 0' ], '... counts at once' );
is_deeply(
    resources('clientId=erp'),
    [ 'The static one 0', 'unused 0' ], '... and those of one client are its own' );
is_deeply(
    resources( 'from=' . day(9) . '&to=' . day(8) ),
    [ 'The static one 0', 'unused 0' ], '... those of a period are of its days' );
is( report()->json->{resources}[0]{resourceIndicator},
    $stack->base . '/gateway/static', '... with the address that tokens name (RFC 8707)' );
is( report()->json->{protectedResourceCount}, 2, '... and they are protected resources' );

# ---- rows that are written while housekeeping adds up

my $database = $stack->{database};
my $writer   = Authz::Process->start(
    name    => 'writer',
    command => [
        Authz::Path::postgres('psql'), qw(-X -q -U postgres -h), $stack->{postgres}->socket, '-p',
        $Authz::Postgres::PORT,        '-d',
        $database,                     '-c',
        q{BEGIN; INSERT INTO audit_log (created_at, id, request_id, client_id, endpoint, operation, method, http_status, outcome, policy_input)
          VALUES (now(), nextval('audit_id_seq'), 'late', 'crm', '/token', 'token', 'POST', 200, 'allowed', '\x00');
          SELECT pg_sleep(7); COMMIT} ] );
Authz::Process::until_true(
    20,
    sub {
        $stack->sql(
            q{SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(7)%' AND pid <> pg_backend_pid()});
    } );
$stack->token( @crm, scope => 'orders.read' );
my $since = time;
$stack->authzctl('maintain');
cmp_ok( time - $since, '<', 30, 'governance: housekeeping does not wait for ever for a transaction that hangs' );
$stack->token( @crm, scope => 'orders.read' );
$writer->wait(60);
adds_up( undef, 'true', 'a row that was committed after later ones had been looked at' );
$stack->authzctl('maintain');
adds_up( undef, 'true', '... also when it was added up' );

my @load = map {
    my $number = $_;
    Authz::Process->start(
        name => "load$number",
        code => sub {
            $stack->{http} = $stack->client;
            $stack->token( @crm, scope => $_ % 3 ? 'orders.read' : 'other' ) for 1 .. 250;
        } );
} 1 .. 3;
my $runs = 0;
while ( grep { $_->alive } @load ) {
    $stack->authzctl('maintain');
    $runs++;
}
cmp_ok( $runs, '>', 1, "governance: housekeeping runs several times while tokens are issued ($runs)" );
adds_up( undef, 'true', 'no row is lost or counted twice' );
is( $stack->sql('SELECT count(*) FROM audit_log WHERE id <= (SELECT up_to FROM audit_cut)'),
    $stack->sql(q{SELECT sum(n) FROM audit_count WHERE client_id = ''}),
    '... and what was added up is what is there' );

# ---- days

$stack->sql(<<'SQL');
INSERT INTO audit_count (client_id, day, endpoint, outcome, decision, n)
SELECT c, current_date - d, '/token', 'allowed', true, d FROM generate_series(1, 365) d, (VALUES (''), ('old')) v(c);
INSERT INTO audit_count (client_id, day, endpoint, outcome, decision, n) VALUES ('', current_date - 5, '/token', 'rejected', true, 1000);
INSERT INTO audit_count (client_id, day, endpoint, outcome, decision, n) VALUES ('', current_date - 5, '/admin', 'allowed', false, 1000);
SQL
my $to = day(1);
for my $case ( [ 1, 1 ], [ 92, 92 ], [ 93, 14 ], [ 365, 53 ] ) {
    my ( $days, $points ) = @$case;
    my $from = day($days);
    my $json = report("from=$from&to=$to")->json;
    is( $json->{totalDecisions}, $days * ( $days + 1 ) / 2, "governance: $days days, both ends are part of them" );
    is( scalar @{ $json->{trendLabels} },   $points, "... $points points: a day each up to 92 days, then a week" );
    is( sum0( @{ $json->{trendAllowed} } ), $json->{totalDecisions}, '... which add up' );
}
$stack->sql(
    q{INSERT INTO audit_count (client_id, day, endpoint, outcome, decision, n) SELECT 'c' || i, current_date - 1, '/e', 'allowed', true, 1000 - i FROM generate_series(1, 30) i}
);
my $long = report("from=$to&to=$to")->json->{byClient};
is( scalar @$long,        20,   'governance: a list has the 20 largest entries' );
is( $long->[0]{clientId}, 'c1', '... the largest first' );
$stack->sql(
    'INSERT INTO audit_count VALUES ($$$$, current_date - 368, $$/token$$, $$allowed$$, true, 1), ($$$$, current_date - 366, $$/token$$, $$allowed$$, true, 1)'
);
$stack->authzctl('maintain');
is( $stack->sql('SELECT current_date - min(day) FROM audit_count'), 366,
    'governance: numbers are kept for as long as a report can reach' );

$stack->sql(
    q{INSERT INTO denial_count VALUES ('', current_date - 9, 'old_reason', 3), ('', current_date - 3, 'old_reason', 2), ('', current_date - 2, 'fresh', 5);
      INSERT INTO audit_count VALUES ('', current_date - 9, '/old', 'denied', true, 3)} );
my $short = report( 'from=' . day(5) . '&to=' . day(1) )->json;
is_deeply(
    { map { $_->{reason} => "$_->{count} $_->{before}" } @{ $short->{denialReasons} } },
    { old_reason => '2 3', fresh => '5 0' }, 'governance: a reason with its number in the period before' );
is_deeply( $short->{reasonTrend}[0], { reason => 'fresh', counts => [ 0, 0, 0, 5, 0 ] }, '... and at each point' );
is( $short->{before}{periodStart} . ' ' . $short->{before}{periodEnd} . ' ' . $short->{before}{denied},
    day(10) . ' ' . day(6) . ' 3', 'governance: the numbers of the period before' );
is_deeply( $short->{byHour}, [], 'governance: days without numbers by hour have none' );

for my $case (
    [ from     => 'from=x' ],
    [ to       => 'to=2026-13-01' ],
    [ to       => 'from=2026-02-02&to=2026-02-01' ],
    [ from     => 'from=2025-01-01&to=2026-01-02' ],
    [ clientId => 'clientId=' . 'x' x 513 ],
  )
{
    admin_error(
        report( $case->[1] ), 400, 'governance: ' . substr( $case->[1], 0, 40 ) . ' is 400',
        fields => [ $case->[0] ] );
}
is( report('from=2025-01-01&to=2026-01-01')->status,     200, 'governance: 366 days are the most' );
is( $stack->admin( GET => $path, key => undef )->status, 401, 'governance: without a key 401' );

# ---- without the engine

$stack->restart_service( settings => { SVC_POLICY_ENGINE => 'opa' } );
$stack->{opa}->stop;
is( $stack->token( @crm, scope => 'orders.read' )->status, 503, 'without the engine there is no token' );
$report = adds_up( "from=$today", qq{created_at >= '$today'}, 'a question without an answer' );
is( $report->{errors}, 1, '... is an error' );

done_testing;
