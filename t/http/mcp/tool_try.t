# The tester of tools: the question that policy gets is that of a call, nothing is sent unless the body says so, and the audit row is
# the operator's (gateway-admin.md 3.6).
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Check;
use Authz::Mcp   ();
use Authz::Peer  ();
use Authz::Stack ();

my $peer  = Authz::Peer->start;
my $stack = Authz::Stack->start(
    gateway  => 1, web_workers => 1,
    settings => { SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => 'localhost' } );
my $mcp  = Authz::Mcp->new($stack);
my %tool = (
    name        => 'find', route => 'find', args => { query => ['q'] },
    inputSchema => {
        type       => 'object', required => ['q'], additionalProperties => JSON::PP::false(),
        properties => { q => { type => 'string', maxLength => 5 } } } );
$mcp->resource(
    'crm',
    upstreamType => 'REST', upstreamUrl => $peer->url(''), upstreamAuth => { type => 'static_header', value => 'k3y' },
    routes       => [ { id => 'find', path => '/find' } ],
    tools        => [ \%tool, { %tool, name => 'off', enabled => JSON::PP::false() } ] );
$peer->set( '/find' => { body => { found => 1 } } );
$stack->make_client( 'stranger', { grants => ['client_credentials'], scopes => ['mcp'] } );

sub try {
    my ( $body, %option ) = @_;
    return $stack->admin(
        POST => '/admin/api/managed-resources/' . ( $option{at} // 'crm/tools/find' ) . '/try',
        json => $body, %{ $option{more} // {} } );
}

# ---- asking

my $answer = try( { clientId => 'agent', arguments => { q => 'a' } } );
is( $answer->status, 200, 'try: a question is answered' ) or diag $answer->text;
ok( $answer->member('allow'), 'try: ... and the client with rights is allowed, as its call is' );
ok( !$answer->member('sent'), 'try: ... and nothing is sent' );
is( $peer->hits('/find'), 0, 'try: ... the upstream has seen no request' );
like( $answer->member('revision'), qr/\A\S+\z/, 'try: ... and the revision is told' );

$answer = try( { clientId => 'stranger', arguments => { q => 'a' }, call => JSON::PP::true() } );
ok( !$answer->member('allow') && !$answer->member('sent'), 'try: a denied call is not made' );
like( $answer->text, qr/"code"/, 'try: ... and its reasons are told' );
is( $answer->member('asked'), 'token', 'try: ... policy would give it no token for the tool' );
is( $peer->hits('/find'),     0,       'try: ... the upstream has seen no request' );

$answer = try( { clientId => 'agent', scope => 'other', arguments => { q => 'a' } } );
is_deeply( $answer->member('stepUp'), ['mcp'], 'try: scopes that the token would lack are told' ) or diag $answer->text;
is( $answer->member('asked'), 'call', 'try: ... by the question about the call' );

# The question is that of a call: a rule sees the same tool, arguments, client and person.
my $rule = <<'REGO';
package custom.gateway

deny contains {"code": "seen", "category": "resource", "message": json.marshal([
	input.action.name, input.action.route, input.resource.name, input.arguments, input.client.id, input.subject.id,
	input.subject.type, input.request.endpoint, input.token.scopes, input.request.mcp.method])} if true
REGO
my $seen = sub {
    my ($result) = @_;
    my ($reason) = grep { $_->{code} eq 'seen' } @{ $result->{denyReasons} };
    return $reason->{message};
};
my $put = $stack->admin(
    PUT  => '/admin/api/policy-rules/by-path',
    json => { path => 'custom/gateway/see.rego', content => $rule, kind => 'rego', version => '1' } );
like( $put->status, qr/\A20[01]\z/, 'a rule that tells what it sees' ) or diag $put->text;
my $tried = $seen->( try( { clientId => 'agent', arguments => { q => 'a' } } )->json );
$mcp->modern( 'tools/call', { name => 'find', arguments => { q => 'a' } }, at => 'crm' );
my ($row)  = @{ $stack->admin( GET => '/admin/api/audit-logs/search?outcome=denied&size=1' )->member('content') };
my ($real) = map { $_->{message} } grep { $_->{code} eq 'seen' } @{ $row->{policyDecision}{deny_reasons} };
is( $tried, $real, 'try: a rule sees what it sees of a call' );
$stack->admin( DELETE => '/admin/api/policy-rules/' . $put->member('id') );

# ---- people

is( try( { clientId => 'agent', subject => 'nobody', arguments => { q => 'a' } } )->status,
    400, 'try: a person who has not signed in is refused' );
is( try( { clientId => 'agent', subject => 'nobody', idp => 'corp', arguments => { q => 'a' } } )->status,
    200, 'try: ... unless the provider is said' );

# ---- calling

my $operator =
  $stack->admin( POST => '/admin/api/admin-keys', json => { label => 'op', role => 'operator' } )->member('key');
my $auditor =
  $stack->admin( POST => '/admin/api/admin-keys', json => { label => 'au', role => 'auditor' } )->member('key');
my %as = ( headers => [ 'X-Admin-API-Key' => $auditor ] );

sub as {
    my ( $key, $body ) = @_;
    return $stack->http->request(
        POST    => '/admin/api/managed-resources/crm/tools/find/try', json => $body,
        headers => [ 'X-Admin-API-Key' => $key ] );
}
my %call = ( clientId => 'agent', arguments => { q => 'a' }, call => JSON::PP::true() );
is( as( $auditor, { clientId => 'agent', arguments => { q => 'a' } } )->status, 200, 'roles: an auditor asks' );
is( as( $auditor, \%call )->status,                                             403, 'roles: ... and may not call' );
is( $peer->hits('/find'), 0, 'roles: ... nothing was sent' );
$answer = as( $operator, \%call );
is( $answer->status, 200, 'call: an operator calls' ) or diag $answer->text;
ok( $answer->member('sent') && $answer->member('upstreamStatus') == 200, 'call: the upstream was asked' );
is_deeply( $answer->member('result')->{structuredContent}, { found => 1 }, 'call: ... and its result is shown' );
is( $peer->hits('/find'), 1, 'call: ... once' );
unlike( $answer->text, qr/k3y/, 'call: ... without the credential' );
($row) = @{ $stack->admin( GET => '/admin/api/audit-logs/search?operation=tryTool&size=1' )->member('content') };
is( $row->{clientId}, 'op', "audit: the row is the operator's" );
is_deeply(
    { map { $_ => $row->{requestSummary}{$_} } qw(resource tool triedClient decided sent) },
    {   resource => 'crm',   tool => 'find', triedClient => 'agent',
        decided  => 'allow', sent => JSON::PP::true() },
    'audit: ... and says what was tried' );
ok( !$row->{policyInput}, "audit: ... but is no decision of the client's" );

for my $bad (
    [ { %call, arguments => { q => 'too long' } }, 'find', 'arguments that do not fit are not sent' ],
    [ { %call, arguments => {} },                  'find', 'nor are those that lack one' ],
    [ \%call, 'off', 'a tool that is not served is not called' ] )
{
    my ( $body, $tool, $name ) = @$bad;
    my $got = try( $body, at => "crm/tools/$tool" );
    ok( $got->status == 200 && !$got->member('sent') && $got->member('why'), "call: $name" ) or diag $got->text;
}
is( $peer->hits('/find'), 1, 'call: ... the upstream saw none of them' );
$peer->set( '/find' => { status => 500, body => { no => 1 } } );
$answer = try( \%call );
ok( $answer->status == 200 && $answer->member('sent') && $answer->member('result')->{isError},
    'call: a failure of the upstream is a part of the answer' ) or diag $answer->text;

# ---- an MCP server, which may fail, and ask what there is no client for (gateway-admin.md 1.12)

sub reply { my (%member) = @_; return { body => { jsonrpc => '2.0', id => 1, %member } } }
my $discovered =
  reply( result => { resultType => 'complete', supportedVersions => ['2026-07-28'], capabilities => { tools => {} } } );
my $listed = reply( result => { tools => [ { name => 'say', inputSchema => { type => 'object' } } ] } );
my %said   = ( content => [ { type => 'text', text => 'hello' } ] );
$mcp->resource(
    'srv',
    upstreamType => 'MCP', upstreamUrl => $peer->url('/mcp'),
    upstreamAuth => { type => 'static_header', value => 'k3y' },
    interaction  => { form => JSON::PP::true() } );
my %form = ( mode => 'form', message => 'Who?', requestedSchema => { type => 'object', properties => {} } );
my @case = (
    [ reply( result => \%said ),                                          qr/"text":"hello"/, 'the result is shown' ],
    [ reply( error  => { code => -32_000, message => 'no such order' } ), qr/no such order/,  'an error is shown' ],
    [   reply( error => { code => -32_021, message => 'x', data => { requiredCapabilities => { roots => {} } } } ),
        qr/does not allow/, 'an error about capabilities is shown' ],
    [   reply(
            result => {
                resultType    => 'input_required',
                inputRequests => { q => { method => 'elicitation/create', params => \%form } } } ),
        qr/"why":"The upstream asks for input/,
        'a question is told as the reason why there is no result' ] );
$peer->set( '/mcp' => [ $discovered, $listed, map { $_->[0] } @case ] );
is( $stack->admin( POST => '/admin/api/managed-resources/srv/sync' )->status, 200, 'mcp: its tools are read' );
for my $case (@case) {
    my ( undef, $shown, $name ) = @$case;
    my $got = try( { clientId => 'agent', call => JSON::PP::true() }, at => 'srv/tools/say' );
    is( $got->status, 200, "mcp: $name ..." ) or diag $got->text;
    like( $got->text, $shown, '... in the answer' );
}

# ---- the account of a person, and what another provider told of them

my $alice = $mcp->person('alice');
$mcp->resource(
    'mine',
    upstreamType => 'REST', upstreamUrl => $peer->url(''), upstreamAuth => { type => 'user_secret' },
    routes       => [ { id => 'find', path => '/find' } ], tools => [ \%tool ] );
$peer->set( '/find' => { body => { found => 1 } } );
my %of_alice =
  ( clientId => 'host', subject => 'alice', scope => 'mcp', arguments => { q => 'a' }, call => JSON::PP::true() );
for my $case (
    [ {},                 'crm',  1, undef,           'a person is told by the provider of the last sign-in' ],
    [ { idp => 'corp' },  'crm',  1, undef,           'the provider may be said' ],
    [ { idp => 'other' }, 'crm',  0, qr/signed in/,   'for a person of another provider nothing is sent' ],
    [ {},                 'mine', 0, qr/the account/, "a person's own account is not used" ] )
{
    my ( $more, $at, $sent, $why, $name ) = @$case;
    my $got = try( { %of_alice, %$more }, at => "$at/tools/find" );
    is( $got->member('allow') ? 1 : 0, 1, "person: $name ..." ) or diag $got->text;
    is( $got->member('sent') ? 1 : 0, $sent, $sent ? '... and the call is made' : '... though policy allows it' )
      or diag $got->text;
    like( $got->member('why') // '', $why // qr/\A\z/, '... with the reason' );
}

# ---- refusals

is( try( { arguments => {} } )->status,                              400, 'refused: no client' );
is( try( { clientId => 'none' } )->status,                           400, 'refused: an unknown client' );
is( try( { clientId => 'agent', extra => 1 } )->status,              400, 'refused: an unknown member' );
is( try( { clientId => 'agent' }, at => 'crm/tools/none' )->status,  404, 'refused: an unknown tool' );
is( try( { clientId => 'agent' }, at => 'none/tools/find' )->status, 404, 'refused: an unknown resource' );
is( $stack->http->request( POST => '/admin/api/managed-resources/crm/tools/find/try', json => \%call )->status,
    401, 'refused: no key' );

# A trial may have arguments that no call has, and the engine that decides is asked (policy.md 7.3 T7).
$auditor =
  $stack->admin( POST => '/admin/api/admin-keys', json => { label => 'audit', role => 'auditor' } )->member('key');
$put = $stack->admin(
    PUT  => '/admin/api/policy-rules/by-path',
    json => {
        path    => 'custom/gateway/see.rego', kind => 'rego', version => '1',
        content => "package custom.gateway\n\ndeny contains \"x\" if bits.lsh(1, input.arguments.n) < 0\n" } );
like( $put->status, qr/\A20[01]\z/, 'a rule that its input may keep busy' ) or diag $put->text;
my $busy = try( { clientId => 'agent', arguments => { n => 2_000_000_000 } }, more => { key => $auditor } );
is( $busy->status, 503, 'refused: a trial that the engine could not end' );
is( $stack->token( $stack->make_client( 'other', { grants => ['client_credentials'], scopes => ['a'] } ) )->status,
    200, '... and decisions go on' );
done_testing;
