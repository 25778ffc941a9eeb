# POST /admin/api/policy-impact: what a change of the policy would have decided on recorded questions (doc/design/policy.md 7).
use strict;
use warnings;

use JSON::PP ();
use Test::More;
use Time::HiRes qw(sleep);

use Authz::Check;
use Authz::Client ();
use Authz::Mcp    ();
use Authz::Path   ();
use Authz::Stack  ();

my $where = '/admin/api/policy-impact';
my $stack = Authz::Stack->start( settings => { SVC_OPA_BINARY => Authz::Path::opa() } );
my @grant = ( grant_type => 'client_credentials' );
my @crm   = $stack->make_client( 'crm',  { grants => ['client_credentials'], scopes => [ 'read', 'write' ] } );
my @desk  = $stack->make_client( 'desk', { grants => ['client_credentials'], scopes => ['read'] } );

sub impact {
    my (%body) = @_;
    return $stack->measured( POST => $where, json => \%body );
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
for my $hook (qw(register gateway authzen admin)) {
    my $text  = qq{package custom.$hook\n\ndeny contains "no" if true\n};
    my $other = impact( rule => { path => "custom/$hook.rego", content => $text } );
    is_deeply(
        [ map { $other->member($_) } qw(same unreached asked) ],
        [ 8, 8, 0 ], "nor does a denial of $hook with its place: it is looked up by the hook (policy.md I7)" );
}
my $more  = 'deny contains {"code": "other", "category": "policy"} if input.client.id == "none"';
my $drift = impact( rule => { %$candidate, content => "$candidate->{content}\n$more\n" } );
is_deeply(
    counts($drift), { same => 8, drifted => 2 },
    'drift_not_blamed: what the active policy decides otherwise than recorded is not the change (policy.md I9)' );
my $back = impact( deleteRule => 'custom/issue.rego' );
is_deeply(
    counts($back), { same => 5, newlyAllowed => 2, other => 1, drifted => 2 },
    'a deletion would allow what is denied now' );

# ---- what of a question is recorded

sub save_rule {
    my ( $path, $text ) = @_;
    my $answer = $stack->admin(
        PUT  => '/admin/api/policy-rules/by-path',
        json => { path => $path, content => $text, kind => 'rego', version => '1' } );
    return like( $answer->status, qr/\A20[01]\z/, "$path is saved" );
}

# Let the last question of a client be one that was asked at another hour of its day (UTC).
sub ask_at {
    my ( $client, $hour ) = @_;
    my ( $id,     $hex )  = split /\t/,
      $stack->sql( q{SELECT id || E'\t' || encode(policy_input, 'hex') FROM audit_log}
          . " WHERE client_id = '$client' AND policy_input IS NOT NULL ORDER BY id DESC LIMIT 1" );
    my $input = decode_packed($hex);
    my $ns    = \$input->{request}{time_ns};
    $$ns += $hour * 3_600_000_000_000 - $$ns % 86_400_000_000_000;
    my $packed = Authz::Check::pack_text( JSON::PP->new->utf8->encode($input) );
    $stack->sql("UPDATE audit_log SET policy_input = decode('$packed', 'hex') WHERE id = $id");
    return;
}
my @shift = $stack->make_client( 'shift', { grants => ['client_credentials'], scopes => ['read'] } );
for my $hour ( 3, 12 ) { $stack->token( @shift, scope => 'read' ); ask_at( 'shift', $hour ) }
my $at_night = impact(
    filter => { clientId => 'shift' },
    rule   => deny("{\n\t[hour, _, _] := time.clock(time.now_ns())\n\thour < 6\n}") );
is_deeply(
    counts($at_night), { newlyDenied => 1, same => 1 },
    'hours_at_recorded_time: a rule about the time of day looks at the hour of the question, not of now (policy.md I6)'
);
like(
    $at_night->member('examples')->{newlyDenied}[0]{createdAt} // '',
    qr/\A\d{4}-/, '... of which there is an example' );

my @pep = $stack->make_client( 'pep', { endpoints => ['authzen'] } );
save_rule( 'custom/authzen.rego', qq{package custom.authzen\n\nallow if input.authzen.action.name != "drop"\n} );
my @asked = map {
    { subject => { type => 'user', id => 'ann' }, action => { name => $_ }, resource => { type => 'todo', id => '1' } }
} qw(read write drop read);
my $many = $stack->http->post(
    '/access/v1/evaluations', headers => [ Authz::Client::basic(@pep) ],
    json => { evaluations => \@asked } );
is_deeply(
    [ map { $_->{decision} ? 1 : 0 } @{ $many->member('evaluations') // [] } ],
    [ 1, 1, 0, 1 ],
    'a batch of four requests' ) or diag $many->text;
my $batch = impact(
    filter => { evaluation => 'authzen_batch' },
    rule   => {
        path    => 'custom/frozen.rego',
        content => qq{package custom.authzen\n\ndeny contains "frozen" if input.authzen.action.name == "write"\n} } );
is_deeply(
    [ counts($batch),                  $batch->member('looked') ],
    [ { newlyDenied => 1, same => 3 }, 4 ],
    'batch_counts_each: each request of a batch is one decision (policy.md I6)' ) or diag $batch->text;
is( $batch->member('examples')->{newlyDenied}[0]{index}, 1, '... and the example has its place in the batch' );

# ---- the gateway

my $public = 'https://shop.example/api';
my $mcp    = Authz::Mcp->new($stack);
my %fixed  = ( response => { status => 200, json => { a => 1 } } );
$mcp->resource(
    'shop',
    upstreamType => 'STATIC', publicUrls => [$public],
    routes       => [
        { id => 'list',   path => '/orders', %fixed },
        { id => 'secret', path => '/secret', obligations => { redact => ['/body/a'] }, %fixed } ],
    tools => [
        { name => 'look',   route => 'list', inputSchema => { type => 'object' } },
        { name => 'change', route => 'list', inputSchema => { type => 'object' }, scopes => ['shop:write'] } ] );

sub gateway_impact {
    my ( $evaluation, $text ) = @_;
    my $answer = impact(
        filter => { evaluation => $evaluation },
        rule   => { path       => 'custom/more.rego', content => "package custom.gateway\n\n$text\n" } );
    is( sum_not_known($answer), 0, "$text: all is known" ) or diag $answer->text;
    return counts($answer);
}
is( scalar @{ $mcp->result( $mcp->modern( 'tools/list', {} ) )->{tools} },
    2, 'a list of tools, of which one needs another authorization' );
is_deeply(
    gateway_impact( gateway_tools => 'deny contains "closed" if input.action.name == "change"' ),
    { narrowed => 1 },
    'tools_step_up: a tool that was shown for another authorization is hidden (policy.md I8)' );
is_deeply(
    gateway_impact( gateway_tools => 'deny contains "closed" if input.action.name == "none"' ),
    { same => 1 },
    '... and the same tools are the same' );

# ---- obligations of a route, which hold beside those of policy (gateway-admin.md 3.8)

my @app = $stack->make_client(
    'app',
    {   grants    => ['client_credentials'], scopes => ['mcp'], gateway_scopes => ['*'],
        resources => [ $public, 'urn:svc:gateway' ] } );
my @proxy = $stack->make_client( 'nginx', { endpoints => ['check'], resources => [$public] } );
my ( undef, $credential ) = Authz::Client::basic(@proxy);
my %token = map { $_ => $stack->token_text( @app, scope => 'mcp', resource => $_ ) } $public,
  $stack->base . '/gateway/shop';

sub check {
    my ($path) = @_;
    my %field = ( Method => 'GET', Proto => 'https', Host => 'shop.example', Uri => "/api$path" );
    return $stack->http->get(
        '/auth/check',
        headers => [
            ( map { ( "X-Forwarded-$_" => $field{$_} ) } sort keys %field ),
            'X-Authz-Proxy-Authorization' => $credential,
            Authz::Client::bearer( $token{$public} ) ] )->status;
}

sub send_on {
    my ($path) = @_;
    return $stack->http->get(
        "/gateway/shop$path",
        headers => [ Authz::Client::bearer( $token{ $stack->base . '/gateway/shop' } ) ] )->status;
}
is_deeply(
    [ check('/orders'), check('/secret') ],
    [ 200,              403 ],
    'a web server cannot redact, so a request whose route wants that is denied' );
is_deeply(
    gateway_impact( gateway => 'deny contains "closed" if input.action.kind == "http"' ),
    { newlyDenied => 1, other => 1 },
    'route_obligations: what the route denies already is not newly denied (policy.md I8)' );
is_deeply( [ send_on('/orders'), send_on('/secret') ], [ 200, 200 ], 'the gateway itself redacts' );
is_deeply(
    gateway_impact(
        gateway => qq{obligations["redact"] := ["/body/a"] if startswith(input.request.endpoint, "/gateway/")} ),
    { other => 1, same => 3 },
    '... and what the route demands already is no other obligation' );
is_deeply(
    gateway_impact( gateway => 'deny contains "closed" if input.action.route == "secret"' ),
    { newlyDenied => 1, other => 1, same => 2 },
    '... nor is a denial of what the gateway lets through the same' );

# ---- either engine

my $engine = $stack->decides_in_process ? 'opa' : 'embedded';
my $other  = Authz::Stack->start(
    beside   => $stack,
    settings => { SVC_OPA_BINARY => Authz::Path::opa(), SVC_POLICY_ENGINE => $engine } );
my @both = map {
    counts(
        $_->admin(
            POST    => $where,
            json    => { rule => deny('"read" in input.scopes.requested'), filter => { evaluation => 'issue' } },
            headers => [ Prefer => 'wait=25' ] ) )
} $stack, $other;
ok( $both[0]{newlyDenied}, 'a measurement of a service that decides by one engine' );
is_deeply(
    $both[1], $both[0],
    "opa_engine_plans_too: ... and with SVC_POLICY_ENGINE=$engine, it is the same (policy.md I2)" );

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
