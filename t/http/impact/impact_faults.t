# Measurements that meet what cannot be decided: rules that do not end or cannot be run, damaged rows, hidden values, a process
# that is lost (policy.md I3, I4, I9, I10).
use strict;
use warnings;

use Test::More;
use Time::HiRes qw(sleep);

use Authz::Check;
use Authz::Client  ();
use Authz::Mcp     ();
use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();

my $where = '/admin/api/policy-impact';
my $stack = Authz::Stack->start( settings => { SVC_OPA_BINARY => Authz::Path::opa() } );
my @crm   = $stack->make_client( 'crm', { grants => ['client_credentials'], scopes => ['read'] } );
my @row   = map { $stack->token( @crm, scope => 'read' )->status } 1 .. 4;
is_deeply( \@row, [ (200) x 4 ], 'four decisions' );

sub impact {
    my ( $text, $wait, %more ) = @_;
    return $stack->admin(
        POST    => $where,
        json    => { rule => { path => 'custom/issue.rego', content => "package custom.issue\n\n$text\n" }, %more },
        headers => [ Prefer => "wait=$wait" ] );
}
sub run { return $stack->admin( GET => "$where/$_[0]", headers => [ Prefer => 'wait=25' ] ) }

# ---- a rule that does not end in time

my $endless = <<'REGO';
deny contains {"code": "never", "category": "policy"} if {
	some i in numbers.range(1, 30000)
	some j in numbers.range(1, 30000)
	i * j == -1
}
REGO
admin_ok(
    impact( $endless, 25 ), 200, { state => 'done', newlyDenied => 4, failing => 4, looked => 4 },
    'endless_rule: a rule that does not end gives no decision, and the measurement ends (policy.md I4)' );
is( $stack->token( @crm, scope => 'read' )->status, 200, '... while the policy that is served decides' );

# ---- a builtin that the machine lacks

my $lacks = impact( 'deny contains {"code": "no", "category": "policy"} if trace(input.client.id)', 25 );
admin_ok(
    $lacks, 200, { looked => 5, asked => 0, same => 0 },
    'gives_up_named: what the machine cannot decide is not known' );
my ($why) = @{ $lacks->member('notKnown') };
is( "$why->{why} $why->{count}", 'gives_up 5', '... never the same (policy.md I10)' );
like( $why->{builtin}, qr/trace/, '... and the builtin is named' );

# ---- a row that was damaged

$stack->sql(
    q{UPDATE audit_log SET policy_input = '\x00ff' WHERE id = (SELECT min(id) FROM audit_log WHERE endpoint = '/token')}
);
my $damaged = impact( 'limit := 1', 25 );
admin_ok( $damaged, 200, { looked => 5, same => 4 }, 'damaged_row: the others are decided' );
is_deeply( $damaged->member('notKnown'), [ { why => 'damaged', count => 1 } ], '... and it is told' );

# ---- the clock

my $hour = <<'REGO';
deny contains {"code": "late", "category": "policy"} if {
	time.now_ns() != input.request.time_ns
}
REGO
admin_ok(
    impact( $hour, 25 ), 200, { newlyDenied => 0, same => 4 },
    'now_ns_at_recorded_time: the clock of both policies is the time of the question (policy.md I6)' );

# ---- limits of the selection

admin_ok(
    impact( 'limit := 1', 25, decisions => 2 ),
    200,
    { sampled => sub { $_[0]{taken} <= $_[0]{selected} }, truncated => sub { !$_[0] } },
    'decisions: of more than these a sample is looked at, and the answer says so (policy.md I13)' );
admin_ok(
    impact( 'limit := 1', 25, filter => { clientId => 'none' } ),
    200, { looked => 0, empty => sub { $_[0] } }, 'filter: a client without decisions' );
admin_ok(
    impact( 'limit := 1', 25, filter => { evaluation => 'introspect' } ),
    200, { looked => 0 }, 'filter: a kind of decision that there was none of' );

# ---- arguments that policy did not see either, as they were too long

sub change {
    my (%body) = @_;
    return $stack->admin( POST => $where, json => \%body, headers => [ Prefer => 'wait=25' ] );
}

sub change_rule {
    my ( $package, $text, %more ) = @_;
    return change(
        rule => { path => 'custom/more.rego', content => "package custom.$package\n\n$text\n" },
        %more );
}
my $mcp = Authz::Mcp->new($stack);
$mcp->resource(
    'desk',
    upstreamType => 'STATIC',
    routes => [ { id   => 'hello', methods => ['GET'], path => '/hello', response => { status => 200, body => 'x' } } ],
    tools  => [ { name => 'hello', route   => 'hello', inputSchema => { type => 'object' } } ] );
my $long = $mcp->modern( 'tools/call', { name => 'desk__hello', arguments => { text => 'x' x 530_000 } } );
like( $long->text, qr/Denied: .*arguments_too_long/, 'a call with arguments that are too long is denied' );
my %gateway = ( filter => { evaluation => 'gateway' } );
for my $case (
    [ 'input.arguments.text == "x"' => { same  => 1 }, 'a rule that reads an argument, which policy did not see' ],
    [ 'input.truncated'             => { other => 1 }, 'a rule that reads the mark, which it saw' ] )
{
    my ( $when, $wanted, $name ) = @$case;
    my $exact = change_rule( 'gateway', "deny contains \"long\" if $when", %gateway );
    is_deeply(
        { map { $exact->member($_) ? ( $_ => $exact->member($_) ) : () } qw(same other newlyDenied notKnown) },
        { %$wanted, notKnown => [] },
        "truncated_exact: $name (policy.md I10)" ) or diag $exact->text;
}

# ---- what no row shows

my ($rows) =
  $stack->sql(q{SELECT count(*) FROM audit_log WHERE endpoint LIKE '/gateway/%' AND policy_input IS NOT NULL});
my $second = change_rule( 'introspect', 'deny contains "gone"' );
is_deeply(
    [ map { $second->member($_) } qw(looked same newlyDenied blind) ],
    [ 7, 6, 0, [ { what => 'introspect', rows => $rows } ] ],
    'gateway_evaluation_two_blind: the introspection before a request through the gateway has no row, and that is said (policy.md I11)'
) or diag $second->text;
is_deeply(
    change_rule( 'gateway', 'obligations["log"] := true' )->member('blind'),
    [], '... a rule that no introspection reads changes none' );
for my $case (
    [ 'svc.operator.controls.trust',                { statement_issuers => ['https://issuer.example'] } ],
    [ 'svc.operator.controls.public_client_policy', { dcr               => { default_scopes => ['openid'] } } ] )
{
    my ( $key, $merge ) = @$case;
    my $blind = change( patch => { dataKey => $key, merge => $merge } );
    is_deeply(
        [ grep { $_->{what} ne 'introspect' } @{ $blind->member('blind') // [] } ],
        [ { what => $key, rows => 5 } ],
        "trust_row_blind: the service reads $key itself, before it asks policy (policy.md I11)" ) or diag $blind->text;
}
my $members = change(
    patch => {
        dataKey => 'svc.operator.controls.public_client_policy',
        merge   => { dcr => { allowed_grant_types => ['authorization_code'] } } } );
ok( !grep( { $_->{what} =~ /public_client_policy/ }
        @{ $members->member('blind') // [ { what => 'public_client_policy' } ] } ),
    '... of the second one these scopes alone' ) or diag $members->text;

# ---- one at a time, and a process that is lost

$stack->token( @crm, scope => 'read' ) for 1 .. 400;
my $slow = impact( $endless, 0 );
is( $slow->status, 202, 'a measurement that takes long is answered before it ends (policy.md I3)' );
like( $slow->header('Location') // '', qr{\Q$where\E/\d+\z}, '... with its address' );
admin_error( impact( 'limit := 1', 0 ), 503, '... and no other begins meanwhile', error => 'impact_in_progress' );
is( $stack->admin( DELETE => $where . '/' . $slow->member('id') )->status, 204, 'it can be ended' );
my $next;
for ( 1 .. 100 ) {
    $next = impact( $endless, 0 );
    last if $next->status == 202;
    sleep 0.1;
}
is( $next->status, 202, '... and another begins then' );
$stack->sql(
    q{SELECT count(pg_terminate_backend(pid)) FROM pg_locks WHERE locktype = 'advisory' AND classid = 15
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())} );
admin_ok(
    run( $next->member('id') ), 200, { state => 'failed', note => 'process lost' },
    'kill9_frees_lock: a measurement whose process has lost its lock has failed' );
my $preview = 0;
Authz::Process::until_true(
    60,
    sub {
        my $answer = impact( $endless, 0 );
        $preview = $answer->member('id') if $answer->status == 202;
        return $preview;
    } );
ok( $preview, 'a preview that takes long' );

sub save {
    my ($query) = @_;
    return $stack->admin(
        PUT  => "/admin/api/policy-rules/by-path?impact=24h&maxNewlyDenied=0$query",
        json => {
            path    => 'custom/issue.rego', kind => 'rego', version => '1',
            content => "package custom.issue\n\nlimit := 1\n" } );
}
my $saved = save('');
is( $saved->status, 201, 'save_takes_over: a save with a limit does not wait for its end (policy.md G6)' )
  or diag $saved->text;
is( run($preview)->status, 404, '... and ends it' );
my $again;
for ( 1 .. 100 ) {
    $again = impact( 'limit := 1', 25 );
    last if $again->status == 200;
    sleep 0.1;
}
admin_ok( $again, 200, { state => 'done' }, '... and the next one runs' );

done_testing();
