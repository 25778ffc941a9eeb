# Measurements that meet what cannot be decided: rules that do not end or cannot be run, damaged rows, hidden values, a process
# that is lost (policy.md I3, I4, I9, I10).
use strict;
use warnings;

use Test::More;
use Time::HiRes qw(sleep);

use Authz::Check;
use Authz::Client ();
use Authz::Path   ();
use Authz::Stack  ();

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

# ---- one at a time, and a process that is lost

$stack->token( @crm, scope => 'read' ) for 1 .. 40;
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
my $again;
for ( 1 .. 100 ) {
    $again = impact( 'limit := 1', 25 );
    last if $again->status == 200;
    sleep 0.1;
}
admin_ok( $again, 200, { state => 'done' }, '... and the next one runs' );

done_testing();
