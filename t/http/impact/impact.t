# POST /admin/api/policy-impact: what a change of the policy would have decided on recorded questions (doc/design/policy.md 7).
use strict;
use warnings;

use JSON::PP ();
use Test::More;
use Time::HiRes qw(sleep);

use Authz::Check;
use Authz::Client ();
use Authz::Path   ();
use Authz::Stack  ();

my $where = '/admin/api/policy-impact';
my $stack = Authz::Stack->start( settings => { SVC_OPA_BINARY => Authz::Path::opa() } );
my @grant = ( grant_type => 'client_credentials' );
my @crm   = $stack->make_client( 'crm',  { grants => ['client_credentials'], scopes => [ 'read', 'write' ] } );
my @desk  = $stack->make_client( 'desk', { grants => ['client_credentials'], scopes => ['read'] } );

sub impact {
    my (%body) = @_;
    return $stack->admin( POST => $where, json => \%body, headers => [ Prefer => 'wait=25' ] );
}
sub rule   { my ($text) = @_; return { path => 'custom/issue.rego', content => "package custom.issue\n\n$text\n" } }
sub deny   { my ($when) = @_; return rule( 'deny contains {"code": "no_way", "category": "policy"} if ' . $when ) }
sub served { return $stack->sql('SELECT revision FROM bundle JOIN bundle_state ON served = bundle.id') }

# The counts of an answer that are not zero, without those that say how many were looked at.
sub counts {
    my ($answer) = @_;
    my $body = $answer->json;
    return { map { $body->{$_} ? ( $_ => $body->{$_} ) : () }
          qw(same newlyDenied newlyAllowed narrowed widened other failing drifted words) };
}

sub sum_not_known {
    my ($answer) = @_;
    my $sum = 0;
    $sum += $_->{count} for @{ $answer->member('notKnown') // [] };
    return $sum;
}

# ---- an empty period

my $empty = impact( rule => deny('true'), since => '2026-01-01T00:00:00Z', until => '2026-01-02T00:00:00Z' );
admin_ok(
    $empty, 200, { state => 'done', looked => 0, empty => sub { $_[0] }, truncated => sub { !$_[0] } },
    'empty_period: zeros, and it says so (policy.md I12)' );

# ---- the same policy

my $token = $stack->token( @crm, scope => 'read write' );
$stack->token( @crm,  scope => 'read' ) for 1 .. 3;
$stack->token( @desk, scope => 'read' );
$stack->token( @desk, scope => 'write' );
my $before = served();
my $same   = impact( rule => rule('limit := 1') );
admin_ok( $same, 200, { state => 'done', looked => 6 }, 'same_policy_is_same: all recorded decisions are looked at' );
is_deeply( counts($same), { same => 6 }, '... and a rule that denies nothing changes none (policy.md I9)' );
is( served(), $before, 'served_policy_untouched: the same revision is served' );
is( $stack->sql(q{SELECT count(*) FROM policy_rule WHERE path = 'custom/issue.rego'}), 0, '... and no rule is stored' );

# ---- newly denied

my $candidate = deny('"write" in input.scopes.requested');
my $denied    = impact( rule => $candidate );
admin_ok( $denied, 200, { state => 'done', looked => 6 }, 'a rule that denies' );
is_deeply(
    counts($denied), { newlyDenied => 1, other => 1, same => 4 },
    'one decision would be denied, and a denial has a further reason' );
is_deeply(
    $denied->member('byClient'),
    [ { clientId => 'crm', newlyDenied => 1 }, { clientId => 'desk', other => 1 } ],
    '... by client' );
is_deeply(
    [ sort { $a->{scope} cmp $b->{scope} } @{ $denied->member('byScope') } ],
    [ { scope => 'read', lost => 1 }, { scope => 'write', lost => 1 } ],
    '... by scope' );
is_deeply( $denied->member('byReason'), [ { code => 'no_way', added => 2 } ], '... by reason' );
my ($example) = @{ $denied->member('examples')->{newlyDenied} // [] };
is( $example->{clientId}, 'crm', '... with an example' );
is_deeply(
    [ @$example{qw(before after)} ],
    [   { outcome => 'allow', scopes  => [ 'read', 'write' ], lifetime => 3600, reasons => [] },
        { outcome => 'deny',  reasons => ['no_way'] } ],
    '... of what differs' ) || diag explain $example;
is( $stack->sql("SELECT client_id FROM audit_log WHERE id = $example->{auditId}"), 'crm', '... by its audit row' );

admin_ok(
    $stack->admin( PUT => '/admin/api/policy-rules/by-path', json => { %$candidate, kind => 'rego', version => '1' } ),
    201, {}, 'the rule is saved' );
my $refused = $stack->client->post(
    "$stack->{path}/token", headers => [ Authz::Client::basic(@crm) ],
    form => [ @grant, scope => 'read write' ] );
is( $refused->status, 400, 'newly_denied_is_what_token_then_does' );
is( $stack->client->post(
        "$stack->{path}/token", headers => [ Authz::Client::basic(@crm) ], form => [ @grant, scope => 'read' ]
    )->status,
    200,
    '... and what would be the same is the same' );

# ---- drift

my $repeated = impact( rule => $candidate );
is_deeply(
    [ counts($repeated), map { $repeated->member($_) } qw(unreached asked) ],
    [ { same => 8 },     8, 0 ],
    'a rule that is saved already reaches no decision: none is asked again (policy.md I7)' );
my $more  = 'deny contains {"code": "other", "category": "policy"} if input.client.id == "none"';
my $drift = impact( rule => { %$candidate, content => "$candidate->{content}\n$more\n" } );
is_deeply(
    counts($drift), { same => 8, drifted => 2 },
    'drift_not_blamed: what the active policy decides otherwise than recorded is not the change (policy.md I9)' );
my $back = impact( deleteRule => 'custom/issue.rego' );
is_deeply(
    counts($back), { same => 5, newlyAllowed => 2, other => 1, drifted => 2 },
    'a deletion would allow what is denied now' );

# ---- what a candidate is refused for

admin_error( impact( %{ $_->[0] } ), $_->[1], "refused: $_->[2]" )
  for (
    [ {}, 400, 'no candidate' ],
    [ { rule => deny('true'), deleteRule => 'custom/issue.rego' },    400, 'two candidates' ],
    [ { rule => deny('true'), since      => 'yesterday' },            400, 'a period that is none' ],
    [ { rule => deny('true'), since      => '0d' },                   400, 'no time at all' ],
    [ { rule => deny('true'), until      => '2026-01-01T00:00:00Z' }, 400, 'an end before the begin' ],
    [ { rule => deny('true'), examples   => 101 },                    400, 'too many examples' ],
    [ { rule => deny('true'), nonsense   => 1 },                      400, 'an unknown member' ],
    [ { rule => deny('true'), filter     => { flowId => 'x' } },      400, 'a flow that is no UUID' ],
    [ { rule => { path => 'custom/issue.rego' } },  400, 'a rule without text' ],
    [ { deleteRule => 'custom/none.rego' },         400, 'a rule that is not stored' ],
    [ { rule => deny('true'), ifRevision => '00' }, 412, 'another revision' ],
  );
my $broken = impact( rule => rule("a := 1\n\nb := undefined_name") );
admin_error( $broken, 422, 'a rule that opa build refuses', error => 'bundle_not_activated' );
is( ( $broken->member('errors') // [] )->[0]{path}, 'custom/issue.rego', '... with its place' );

# ---- without a key

is( $stack->client->post( "$stack->{path}$where", json => { rule => deny('true') } )->status,
    401, 'an admin key is needed' );

# ---- reading and ending

my $id = $denied->member('id');
admin_ok( $stack->admin( GET => "$where/$id" ), 200, { id => $id, newlyDenied => 1 }, 'a result can be read again' );
cmp_ok( scalar @{ $stack->admin( GET => $where )->json }, '>=', 4, '... and is listed' );
is( $stack->admin( DELETE => "$where/$id" )->status, 204, '... and deleted' );
is( $stack->admin( GET    => "$where/$id" )->status, 404, '... and is gone then' );

done_testing();
