# Limits at a save: a save that would change more recorded decisions than it may is refused (policy.md G1 to G6).
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Check;
use Authz::Client ();
use Authz::Path   ();
use Authz::Stack  ();

my $stack = Authz::Stack->start( settings => { SVC_OPA_BINARY => Authz::Path::opa() } );
my @crm   = $stack->make_client( 'crm', { grants => ['client_credentials'], scopes => [ 'read', 'write' ] } );
$stack->token( @crm, scope => 'read write' );
$stack->token( @crm, scope => 'read' ) for 1 .. 3;

my $rules = '/admin/api/policy-rules/by-path';
my $rows  = '/admin/api/policy-data/by-key?dataKey=svc.entitlements.bindings';

sub revision { return $stack->sql('SELECT revision FROM bundle JOIN bundle_state ON served = bundle.id') }

sub rule {
    my ($when) = @_;
    my $text =
      'package custom.issue' . "\n\n" . 'deny contains {"code": "no_way", "category": "policy"} if ' . "$when\n";
    return { path => 'custom/issue.rego', kind => 'rego', version => '1', content => $text };
}

sub save_rule {
    my ( $when, $query ) = @_;
    return $stack->admin( PUT => "$rules?$query", json => rule($when) );
}

# ---- limits that are none

my $before = revision();
for my $case (
    [ 'maxNewlyDenied=x'      => 'a word' ],
    [ 'maxNewlyDenied=-1'     => 'a negative number' ],
    [ 'maxNewlyDenied=101%25' => 'more than all' ],
    [ 'maxNewlyDenied=%25'    => 'a percentage without a number' ],
    [ 'impact=yesterday'      => 'a period that is none' ],
  )
{
    admin_error( save_rule( 'true', $case->[0] ), 400, "not_a_number: $case->[1] (policy.md G1)" );
}
is( revision(), $before, '... and nothing is saved' );

# ---- another revision than the active one

# "Try again" is said of what heals by trying again alone.
my $acme = '/admin/api/policy-data/by-key?dataKey=acme.limits';
my %row  = ( dataKey => 'acme.limits', payload => '{"max":5}' );
admin_ok( $stack->admin( PUT => $acme, json => \%row ), 201, undef, 'a data row' );
for my $case (
    [ PUT    => \%row ],
    [ PATCH  => { max => 6 } ],
    [ PATCH  => { max => 6 }, 'If-Match' => '*' ],
    [ DELETE => undef ],
    [ DELETE => undef, 'If-Match' => '*' ] )
{
    my ( $method, $body, @head ) = @$case;
    my $got = $stack->admin( $method => "$acme&ifRevision=00", ( $body ? ( json => $body ) : () ), headers => \@head );
    admin_error( $got, 412, "$method of a row @head with another revision: 412", error => 'precondition_failed' );
    like( $got->text, qr/The active revision is \w+, not 00/, '... with the active one' );
    unlike( $got->text, qr/try again/, '... and nobody is told to try again' );
}
$before = revision();

# ---- a rule

my $refused = save_rule( '"write" in input.scopes.requested', 'impact=24h&maxNewlyDenied=0' );
admin_error( $refused, 422, 'a rule that denies more than it may (policy.md G3)', error => 'impact_refused' );
is_deeply(
    $refused->member('refused'),
    [ { request => JSON::PP::true(), limit => 'newlyDenied', max => 0, seen => 1, of => 4 } ],
    '... with the numbers' );
like( $refused->member('error_description'), qr/\A1 decisions would be newlyDenied, at most 0/, '... in words' );
is( revision(), $before, 'refused_deploy_leaves_nothing: the revision is the same' );
is( $stack->sql(q{SELECT count(*) FROM policy_rule WHERE path = 'custom/issue.rego'}), 0, '... and no rule is stored' );
is( $stack->token( @crm, scope => 'write' )->status, 200, '... and tokens are issued as before' );
my $id = $refused->member('impact');
is( $stack->admin( GET => "/admin/api/policy-impact/$id" )->member('newlyDenied'), 1,
    '... and the measurement can be read' );

admin_error(
    save_rule( 'true', 'impact=24h&maxNewlyDenied=50%25' ), 422, 'a percentage is one of those looked at',
    error => 'impact_refused' );
my $saved = save_rule( '"write" in input.scopes.requested', 'impact=24h&maxNewlyDenied=2' );
admin_ok( $saved, 201, {}, 'a rule within its limit is saved' );
like(
    $saved->header('X-Policy-Impact') // '', qr/\Aid=$id; newlyDenied=1; newlyAllowed=0\z/,
    '... and the answer says what it changes, as it was measured for the save that was refused (policy.md G6)' );
is( $stack->token( @crm, scope => 'write' )->status, 400, '... and it denies' );

# ---- a row, by its patch

my $patch = { clients => { crm => { scopes => ['read'] } } };
my $row   = $stack->admin( PATCH => "$rows&impact=24h&maxNarrowed=0&maxNewlyDenied=0&maxOther=0", json => $patch );
admin_error( $row, 422, 'patch_refused: a row too (policy.md G1)', error => 'impact_refused' );
is( $stack->token( @crm, scope => 'read' )->status, 200, '... and the row is as before' );

# ---- a deploy

my $deploy = sub {
    my ( $query, %more ) = @_;
    return $stack->admin(
        POST => "/admin/api/policy-bundle/deploy?$query",
        json => { deleteRules => ['custom/issue.rego'], %more } );
};

# True if saves wait for the newest measurement, and do not end it.
sub is_awaited { return $stack->sql(q{SELECT selection::jsonb ? 'save' FROM policy_impact ORDER BY id DESC LIMIT 1}) }
admin_error(
    $deploy->('impact=24h&maxNewlyAllowed=0'), 422, 'a deploy that allows more than it may',
    error => 'impact_refused' );
is( is_awaited(), 't', '... whose measurement no other save ends (policy.md G6)' );
admin_error(
    $deploy->( 'impact=23h&maxNewlyAllowed=0', mode => 'dry-run' ), 422, '... measured in a dry run too',
    error => 'impact_refused' );
is( is_awaited(), 'f', '... which an auditor may ask for, so that a save ends its measurement (policy.md G6)' );
my $body = sub { my ($impact) = @_; return ( impact => $impact ) };
admin_error(
    $deploy->( '', $body->( { since => '24h', limits => { newlyAllowed => 0 } } ) ), 422,
    '... with its limits as a member of the body (policy.md G1)',                    error => 'impact_refused' );
admin_error( $deploy->( $_->[0], $body->( $_->[1] ) ), 400, "... not with $_->[2]" )
  for (
    [ 'maxNewlyAllowed=0',  { limits   => { newlyAllowed => 0 } },  'both forms' ],
    [ 'impactOverride=why', { since    => '24h' },                  'a reason in the query' ],
    [ '',                   { since    => 'yesterday' },            'a period that is none' ],
    [ '',                   { limits   => { newlyAllowed => -1 } }, 'a negative number' ],
    [ '',                   { limits   => { newly => 1 } },         'a limit of another name' ],
    [ '',                   { override => 'x' x 501 },              'a reason of 501 octets' ],
    [ '',                   { max      => 1 },                      'an unknown member' ],
  );
admin_ok( $deploy->('impact=24h&maxNewlyAllowed=10'), 200, { rulesDeleted => 1 }, '... and one that does not' );
is( $stack->token( @crm, scope => 'write' )->status, 200, '... which deletes the rule' );

# ---- nothing that measures

my $other   = Authz::Stack->start( beside => $stack, settings => { SVC_OPA_BINARY => '/nonexistent/opa' } );
my $no_plan = $other->admin( PUT => "$rules?impact=24h&maxNewlyDenied=0", json => rule('false') );
admin_error(
    $no_plan, 422, 'no_plan_refuses: what cannot be measured is refused (policy.md G3)',
    error => 'impact_refused' );
like( $no_plan->member('notMeasured') // '', qr/SVC_OPA_BINARY/, '... with the reason' );
admin_ok(
    $other->admin( PUT => $rules, json => rule('false') ), 201, {},
    'no_guard_no_cost: without limits nothing is measured' );

# ---- metrics (gateway-admin.md 7.1)

my $metrics = $stack->http->get('/metrics')->body;
like( $metrics, qr/^svc_impact_runs_total\{result="whole"\} [1-9]/m, 'metrics: measurements are counted' );
like( $metrics, qr/^svc_impact_refused_total [1-9]/m,                'metrics: saves that a limit refused' );

done_testing();
