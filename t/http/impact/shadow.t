# Shadows of the policy: a change that decides nothing, and what it would have decided of live decisions (policy.md 7.2).
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Client  ();
use Authz::Mcp     ();
use Authz::Path    ();
use Authz::Process ();
use Authz::Shadow  qw(rule deny shadow served shown await await_looked await_report);
use Authz::Stack   ();

my $where = '/admin/api/policy-shadow';

# With the embedded engine each process decides once more by what it has, before it reads the new revision: that is counted as moved.
my $stack = Authz::Stack->start(
    gateway  => 1,
    settings => { SVC_OPA_BINARY => Authz::Path::opa(), SVC_POLICY_ENGINE => 'opa' } );
my @crm = $stack->make_client( 'crm', { grants => ['client_credentials'], scopes => [ 'read', 'write' ] } );

Authz::Shadow::of($stack);

# ---- nothing yet, and what is refused

admin_error( $stack->admin( $_->[0] => "$where$_->[1]" ), 404, "no shadow: $_->[0] $_->[1]" )
  for [ GET => '' ], [ DELETE => '' ], [ POST => '/promote' ];
admin_error( shadow( $_->[0] ), $_->[1], "refused: $_->[2]" )
  for (
    [ {}, 400, 'no change' ],
    [ { rules => [ deny('true') ], rate     => 0 },                      400, 'a share below one' ],
    [ { rules => [ deny('true') ], rate     => 1_000_001 },              400, 'one past the largest rate' ],
    [ { rules => [ deny('true') ], until    => '31d' },                  400, 'a day past the longest time' ],
    [ { rules => [ deny('true') ], until    => '2026-01-01T00:00:00Z' }, 400, 'a time that is over' ],
    [ { rules => [ deny('true') ], until    => 'soon' },                 400, 'a time that is none' ],
    [ { rules => [ deny('true') ], mode     => 'dry-run' },              400, 'a mode that saves nothing' ],
    [ { rules => [ deny('true') ], message  => 'x' x 501 },              400, 'an octet past the longest message' ],
    [ { rules => [ deny('true') ], nonsense => 1 },                      400, 'an unknown member' ],
    [ { rules => [ { path => 'custom/issue.rego' } ] }, 400, 'a rule without text' ],
    [ { deleteRules => ['custom/none.rego'] },          400, 'a rule that is not stored' ],
    [   { data => [ { dataKey => 'svc.operator.controls.changes', payload => { overrides => ['a'] } } ] }, 400,
        'other guards (policy.md S1)' ],
    [   {   data => [
                {   dataKey => 'svc.operator.controls.console',
                    payload => { people => [ { idp => 'a', claim => 'groups', values => ['b'], role => 'owner' } ] } } ]
        },
        400,
        'other roles in the console (policy.md S1)' ],
    [ { rules => [ rule("a := 1\n\nb := undefined_name") ] }, 422, 'a rule that opa build refuses' ],
  );
is( $stack->sql('SELECT count(*) FROM policy_shadow'), 0, '... and nothing is stored' );

# ---- a shadow

my $stored = { dataKey => 'example.stored', payload => { n => 1 } };
$stack->admin( POST => '/admin/api/policy-bundle/deploy', json => { data => [$stored] } );
my $before = served();
my $set    = shadow(
    {   rules => [ deny('"write" in input.scopes.requested') ], until => '30d', rate => 1, message => 'no writing',
        data  => [
            $stored,
            { dataKey => 'svc.operator.controls.changes', payload => {} },
            { dataKey => 'svc.operator.controls.console', payload => { people => [] } } ] } );
admin_ok(
    $set, 201, { state => 'active', baseRevision => $before, by => sub { length $_[0] }, message => 'no writing' },
    'a shadow is saved (policy.md S1), for the longest time' );
is_deeply( $set->member('change')->{rules}, ['custom/issue.rego'], '... of this change' );
is_deeply(
    $set->member('change')->{data}, [],
    '... without rows that are as listed, and those of guards and roles: a promote takes no later save back' );
my $candidate = $set->member('candidateRevision');
await_report();
is( $stack->token( @crm, scope => 'read write' )->status, 200, 'never_acceptable: what it denies is issued' );
is( $stack->token( @crm, scope => 'read' )->status,       200, '... and the rest' ) for 1 .. 2;
is( served(), $before, '... the revision that is served is the same' );
is( $stack->sql("SELECT '$candidate' = ANY (acceptable) FROM bundle_state"), 'f',
    '... that of the shadow may not decide' );
is( $stack->sql(q{SELECT count(*) FROM policy_rule WHERE path = 'custom/issue.rego'}), 0, '... and no rule is stored' );

my $result = await_looked(3)->{result};
is_deeply(
    { map { $_ => $result->{$_} } qw(looked same newlyDenied newlyAllowed moved dropped) },
    { looked => 3, same => 2, newlyDenied => 1, newlyAllowed => 0, moved => 0, dropped => 0 },
    'the differences are counted as impact is (policy.md S4)' );
is_deeply( $result->{byClient}, [ { clientId => 'crm',    newlyDenied => 1 } ], '... by client' );
is_deeply( $result->{byReason}, [ { code     => 'no_way', added       => 1 } ], '... by reason' );
is( $result->{clients}, 1, '... with the number of clients' );
my ($example) = @{ $result->{examples}{newlyDenied} // [] };
is_deeply(
    [ $example->{clientId}, $example->{endpoint}, $example->{before}{outcome}, $example->{after}{outcome} ],
    [ 'crm',                '/token',             'allow',                     'deny' ],
    '... with an example' );
is( $stack->sql("SELECT count(*) FROM audit_log WHERE request_id = '$example->{requestId}'"),
    1, '... by the request id of its audit row' );
like(
    $stack->http->get('/metrics')->body, qr/^svc_policy_shadow_total\{result="newlyDenied"\} 1$/m,
    '... and in the metrics' );

# ---- either engine

my $engine = $stack->decides_in_process ? 'opa' : 'embedded';
my $beside = Authz::Stack->start(
    beside   => $stack,
    settings => { SVC_OPA_BINARY => Authz::Path::opa(), SVC_POLICY_ENGINE => $engine } );
ok( defined Authz::Process::until_true(
        60,
        sub {
            $beside->token( @crm, scope => 'write' );
            return shown()->{result}{newlyDenied} > 1;
        } ),
    "both_engines: decisions of a service with SVC_POLICY_ENGINE=$engine are compared too (policy.md S4)" );
is( shown()->{result}{$_}, 0, "... $_: none" ) for qw(newlyAllowed narrowed widened other moved);
$beside->stop;

# ---- one at a time

my $tag = $stack->admin( GET => $where )->header('ETag');
admin_error( shadow( { rules => [ deny('true') ] } ),                        409, 'one shadow at a time' );
admin_error( shadow( { rules => [ deny('true') ] }, 'If-Match' => '"1.0"' ), 412, 'another one than the caller saw' );
admin_error(
    $stack->admin( $_->[0] => "$where$_->[1]", headers => [ 'If-Match' => '"1.0"' ] ),
    412, "... nor is that $_->[2]" ) for [ DELETE => '', 'dropped' ], [ POST => '/promote', 'promoted' ];

# ---- arguments of tools

my $mcp = Authz::Mcp->new($stack);
$mcp->resource(
    'desk',
    upstreamType => 'STATIC',
    routes => [ { id   => 'hello', methods => ['GET'], path => '/hello', response => { status => 200, body => 'x' } } ],
    tools  => [ { name => 'hello', route   => 'hello', inputSchema => { type => 'object' } } ] );
my $reads = shadow(
    {   rules => [
            rule(
                'deny contains {"code": "no_cards", "category": "policy"} if input.arguments.card == "card-of-ann-4929"',
                'custom/gateway.rego' ) ] },
    'If-Match' => $tag );
admin_ok( $reads, 201, { state => 'active' }, 'a shadow takes the place of the one that the caller saw' );
is( $stack->sql(q{SELECT string_agg(state, ' ' ORDER BY id) FROM policy_shadow}), 'dropped active',
    '... which is dropped' );
await_report();
my $called = $mcp->modern( 'tools/call', { name => 'desk__hello', arguments => { card => 'card-of-ann-4929' } } );
is( $called->status, 200, 'a call of a tool is answered' ) or diag $called->text;
$result = await( sub { $_[0]{result}{newlyDenied} } )->{result};
is( $result->{newlyDenied}, 1, '... and the shadow has seen its arguments (policy.md S3)' );
is( $stack->sql(q{SELECT count(*) FROM policy_shadow WHERE result LIKE '%card-of-ann%'}), 0,
    'arguments_reach_no_disk: no result has their values' );
unlike( join( '', $stack->{service}->log_lines ), qr/card-of-ann/, '... and no log line' );

$stack->admin( DELETE => $where );

# ---- promoting

is( shadow( { rules => [ deny('"write" in input.scopes.requested') ], message => 'no writing' } )->status, 201,
    'a shadow after one that has expired' );

sub promote {
    my ( $query, @header ) = @_;
    @header = ( 'If-Match' => $stack->admin( GET => $where )->header('ETag') ) if !@header;
    return $stack->admin( POST => "$where/promote$query", headers => \@header );
}
admin_error( $stack->admin( POST => "$where/promote" ), 400, 'promote needs If-Match (policy.md S5)' );
admin_error(
    promote('?impact=24h&maxNewlyDenied=0'), 422, 'promote_refused: it is a save with its limits (policy.md S5)',
    error => 'impact_refused' );
is( shown()->{state}, 'active', '... and the shadow stays' );

# Another rule takes the place of the one that the shadow would add; the shadow is made again of that revision.
my $other = $stack->admin(
    POST => '/admin/api/policy-bundle/deploy',
    json => { rules => [ deny('"none" in input.scopes.requested') ] } );
await( sub { $_[0]{baseRevision} eq $other->member('revision') } );
my $over = promote('');
admin_error( $over, 409, 'promote_saved_since: a row that was saved since is not overwritten (policy.md S5)' );
like( $over->text, qr{custom/issue\.rego}, '... and is named' );
is( shown()->{state},                                'active', '... and the shadow stays' );
is( $stack->token( @crm, scope => 'write' )->status, 200,      '... and what was saved decides' );
$other = $stack->admin( POST => '/admin/api/policy-bundle/deploy', json => { deleteRules => ['custom/issue.rego'] } );
await( sub { $_[0]{baseRevision} eq $other->member('revision') } );
admin_ok( promote(''), 200, { rulesAdded => 1 }, 'a shadow is promoted' );
is( $stack->token( @crm, scope => 'write' )->status, 400,        '... and decides' );
is( shown()->{state},                                'promoted', '... and has ended' );
ok( shown()->{endedBy}, '... and says by whom' );
is( $stack->admin( GET => '/admin/api/bundle-audit/latest' )->member('message'), 'no writing',
    '... with its message in the history' );
is( $stack->sql(
        q{SELECT string_agg(DISTINCT operation, ' ') FROM audit_log WHERE operation LIKE '%PolicyShadow' AND outcome = 'allowed'}
    ),
    'dropPolicyShadow promotePolicyShadow putPolicyShadow',
    'the audit log says who saved, dropped and promoted shadows' );

done_testing();
