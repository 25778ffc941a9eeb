# /gateway/mcp and /gateway/mcp/{name}: both eras of the protocol, the list of tools, calls of STATIC, REST and MCP tools, and what
# upstreams can do to them (gateway-admin.md 1.1 to 1.5).
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Check;
use Authz::Client ();
use Authz::Mcp    ();
use Authz::Peer   ();
use Authz::Stack  ();

my $json  = JSON::PP->new->utf8->canonical->allow_nonref;
my $peer  = Authz::Peer->start;
my $stack = Authz::Stack->start(
    gateway  => 2,
    settings => {
        SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => 'localhost,127.0.0.1', SVC_GATEWAY_RESPONSE_TIMEOUT => '1s',
        SVC_GATEWAY_CONNECT_TIMEOUT        => '1s',
        SVC_GATEWAY_ALLOWED_ORIGINS        => 'https://inspector.example' } );
my $mcp = Authz::Mcp->new($stack);

sub tool {
    my ( $name, $route, %more ) = @_;
    return { name => $name, route => $route, inputSchema => { type => 'object' }, %more };
}

$mcp->resource(
    'desk',
    upstreamType => 'STATIC',
    routes       => [
        {   id       => 'hello', methods => ['GET'], path => '/hello/{who}',
            response =>
              { status => 200, headers => { 'Content-Type' => 'application/json' }, json => { said => 'hello' } } },
        { id => 'gone', methods => ['GET'], path => '/gone', response => { status => 410, body => 'no more' } },
        {   id       => 'off', methods => ['GET'], path => '/off', enabled => false,
            response => { status => 200, body => 'x' } } ],
    tools => [
        tool(
            'hello', 'hello',
            title       => 'Greet', description => 'Say hello.', annotations => { readOnlyHint => true },
            inputSchema => {
                type => 'object', properties => { who => { type => 'string', maxLength => 20 } }, required => ['who'],
                additionalProperties => false },
            args => { path => ['who'] } ),
        tool( 'gone',   'gone' ),
        tool( 'off',    'off' ),
        tool( 'asleep', 'gone', enabled => false ),
        tool( 'write',  'gone', scopes  => [ 'desk:write', 'desk:admin' ] ) ] );

# ---- the modern revision

my $answer = $mcp->modern( 'server/discover', {} );
is( $answer->status, 200, 'server/discover (MCP 2026-07-28)' ) or diag $answer->text;
my $result = $mcp->result($answer);
is_deeply( $result->{supportedVersions}, [qw(2026-07-28 2025-11-25 2025-06-18 2025-03-26)], '... the versions' );
is_deeply( $result->{capabilities},      { tools => { listChanged => true } }, '... tools, with list changes' );
is( $result->{resultType},                                        'complete', '... complete' );
is( $result->{_meta}{'io.modelcontextprotocol/serverInfo'}{name}, 'authz',    '... and who answers' );

$answer = $mcp->modern( 'tools/list', {} );
$result = $mcp->result($answer);
is_deeply(
    [ map { $_->{name} } @{ $result->{tools} } ], [qw(desk__gone desk__hello desk__write)],
    'tools/list: enabled tools of enabled routes, with the name of the resource, sorted' ) or diag $answer->text;
is_deeply(
    [ @{$result}{qw(resultType ttlMs cacheScope)} ], [ 'complete', 30000, 'private' ],
    '... what it is, and that only this caller may keep it' );
my ($hello) = grep { $_->{name} eq 'desk__hello' } @{ $result->{tools} };
is_deeply(
    [ @{$hello}{qw(title description)}, $hello->{annotations}, $hello->{inputSchema}{required} ],
    [ 'Greet', 'Say hello.', { readOnlyHint => true }, ['who'] ],
    '... as the operator described it' );
is_deeply( [ grep {/args|route|scopes|origin/} keys %$hello ], [], '... without what is the gateway\'s own' );
is( $answer->header('Cache-Control'), 'no-store', '... and no cache keeps it' );
$answer = $mcp->modern( 'tools/list', {}, at => 'desk', token => $mcp->token( 'mcp', 'desk' ) );
is_deeply(
    [ map { $_->{name} } @{ $mcp->result($answer)->{tools} // [] } ], [qw(gone hello write)],
    '/gateway/mcp/{name}: the tools of one resource by their own names' );
$answer = $mcp->modern( 'tools/list', { cursor => 'x' } );
is_deeply( [ $answer->status, $mcp->error($answer)->{code} ], [ 400, -32602 ], 'a cursor that we never gave' );

$answer = $mcp->modern( 'tools/call', { name => 'desk__hello', arguments => { who => 'world' } }, id => 'x7' );
$result = $mcp->result($answer);
is_deeply(
    $result,
    {   content    => [ { type => 'text', text => '{"said":"hello"}' } ], structuredContent => { said => 'hello' },
        resultType => 'complete' },
    'tools/call of a STATIC route' ) or diag $answer->text;
is( $answer->json->{id}, 'x7', '... with the id of the request' );
my ($row) =
  @{ $stack->admin( GET => '/admin/api/audit-logs?endpoint=/gateway/mcp&size=1' )->json->{content} // [] };
is_deeply(
    [ @{ $row // {} }{qw(outcome clientId)}, @{ $row->{requestSummary} // {} }{qw(status operation)} ],
    [ 'allowed', 'agent', 200, 'callMcp' ],
    'the audit row has the outcome' );
is_deeply(
    { map { $_ => $row->{requestSummary}{$_} } qw(resource tool mcp_version upstream_status octets) },
    { resource => 'desk', tool => 'hello', mcp_version => '2026-07-28', upstream_status => 200, octets => 16 },
    '... and what was called (gateway-admin.md 3.8)' );

# ---- what a modern request must have

my @good = ( 'MCP-Protocol-Version' => '2026-07-28', 'Mcp-Method' => 'tools/call', 'Mcp-Name' => 'desk__gone' );
for my $case (
    [ -32020, 'no headers',                   [] ],
    [ -32020, 'another version',              [ @good[ 2 .. 5 ], 'MCP-Protocol-Version' => '2025-11-25' ] ],
    [ -32020, 'no Mcp-Method',                [ @good[ 0, 1, 4, 5 ] ] ],
    [ -32020, 'another Mcp-Method',           [ @good[ 0, 1, 4, 5 ], 'Mcp-Method' => 'tools/list' ] ],
    [ -32020, 'no Mcp-Name',                  [ @good[ 0 .. 3 ] ] ],
    [ -32020, 'the Mcp-Name of another tool', [ @good[ 0 .. 3 ], 'Mcp-Name' => 'desk__hello' ] ],
  )
{
    my ( $code, $name, $headers ) = @$case;
    $answer = $mcp->modern( 'tools/call', { name => 'desk__gone' }, headers => $headers );
    is_deeply( [ $answer->status, $mcp->error($answer)->{code} ], [ 400, $code ], "a modern call with $name" )
      or diag $answer->text;
}
$answer = $mcp->modern(
    'tools/call', { name => 'desk__gone' },
    headers => [ @good[ 0 .. 3 ], 'Mcp-Name' => '=?base64?ZGVza19fZ29uZQ==?=' ] );
is( $answer->status, 200, 'Mcp-Name in base64' ) or diag $answer->text;
$answer = $mcp->legacy( 'tools/list', {}, version => '2026-07-28' );
is_deeply( [ $answer->status, $mcp->error($answer)->{code} ], [ 400, -32602 ], 'no _meta beside a modern header' );
$answer = $mcp->legacy( 'tools/list', {}, version => '2031-01-01' );
is_deeply(
    [ $answer->status, $mcp->error($answer)->{code}, $mcp->error($answer)->{data}{requested} ],
    [ 400,             -32022,                       '2031-01-01' ],
    'a version to come' );
is_deeply(
    $mcp->error($answer)->{data}{supported}, [qw(2026-07-28 2025-11-25 2025-06-18 2025-03-26)],
    '... is told the same versions as by server/discover' );
for my $method (qw(ping initialize logging/setLevel resources/list prompts/list nothing)) {
    $answer = $mcp->modern( $method, {} );
    is_deeply( [ $answer->status, $mcp->error($answer)->{code} ], [ 404, -32601 ], "modern $method does not exist" );
}
is( $mcp->modern( 'notifications/cancelled', { requestId => 1 }, notification => 1 )->status, 202,
    'a notification is taken' );
$answer = $mcp->modern( 'subscriptions/listen', { notifications => { promptsListChanged => true } }, id => 's1' );
is( $answer->status,                 200,                 'subscriptions/listen' );
is( $answer->header('Content-Type'), 'text/event-stream', '... answers with events' );
my @event = map { $json->decode($_) } $answer->body =~ /^data: (.*)$/mg;
is_deeply(
    \@event,
    [   {   jsonrpc => '2.0', method => 'notifications/subscriptions/acknowledged',
            params  => { _meta => { 'io.modelcontextprotocol/subscriptionId' => 's1' }, notifications => {} } },
        {   jsonrpc => '2.0', id => 's1',
            result  => { resultType => 'complete', _meta => { 'io.modelcontextprotocol/subscriptionId' => 's1' } } } ],
    '... that end at once for a topic that the endpoint does not have (streams that wait: mcp_listen.t)' );
for my $params ( {}, { notifications => [] }, { notifications => 'all' } ) {
    $answer = $mcp->modern( 'subscriptions/listen', $params );
    is_deeply(
        [ $answer->status, $mcp->error($answer)->{code} ],
        [ 400, -32602 ], 'a filter that is missing or no object: ' . $json->encode($params) );
}

# ---- the older revisions

$answer = $mcp->legacy(
    'initialize',
    { protocolVersion => '2025-06-18', capabilities => {}, clientInfo => { name => 'c', version => '1' } } );
$result = $mcp->result($answer);
is_deeply(
    [ @{$result}{qw(protocolVersion capabilities)}, $result->{serverInfo}{name} ],
    [ '2025-06-18', { tools => { listChanged => true } }, 'authz' ],
    'initialize: a version that both know (MCP 2025-06-18)' ) or diag $answer->text;
like( $answer->header('Mcp-Session-Id'), qr/\As1[.]/, '... and a session' );
is( $mcp->result( $mcp->legacy( 'initialize', { protocolVersion => '1999-01-01' } ) )->{protocolVersion},
    '2025-11-25', '... else the newest of the older ones' );
$answer = $mcp->legacy( 'notifications/initialized', undef, notification => 1, version => '2025-06-18' );
is_deeply( [ $answer->status, $answer->body ], [ 202, '' ],   'notifications/initialized: 202 without a body' );
is_deeply( $mcp->result( $mcp->legacy( 'ping', undef ) ), {}, 'ping' );
for my $version ( '2025-11-25', '2025-06-18', '2025-03-26', undef ) {
    $result = $mcp->result( $mcp->legacy( 'tools/list', {}, version => $version ) );
    is_deeply(
        [ sort keys %$result ], ['tools'],
        'tools/list for ' . ( $version // 'no version' ) . ' has the tools alone' );
}
$result = $mcp->result(
    $mcp->legacy( 'tools/call', { name => 'desk__hello', arguments => { who => 'w' } }, version => '2025-11-25' ) );
is_deeply(
    [ sort keys %$result ], [qw(content structuredContent)],
    'tools/call for an older client has no resultType' );
for my $method ( 'server/discover', 'subscriptions/listen', 'resources/list' ) {
    $answer = $mcp->legacy( $method, {} );
    is_deeply(
        [ $answer->status, $mcp->error($answer)->{code} ], [ 200, -32601 ],
        "older $method: 200 with -32601 (gateway-admin.md 1.1)" );
}
for my $case ( [ GET => 'POST, DELETE, OPTIONS' ], [ PUT => 'POST, DELETE, GET, OPTIONS' ] ) {
    my ( $method, $allow ) = @$case;
    $answer =
      $stack->http->request( $method => '/gateway/mcp', headers => [ Authorization => "Bearer $mcp->{token}" ] );
    is_deeply(
        [ $answer->status, $answer->header('Allow') ],
        [ 405,             $allow ],
        "$method is 405: without a session there is no stream to open" );
}

# ---- messages that are none

for my $case (
    [ 'a batch',        '[{"jsonrpc":"2.0","id":1,"method":"ping"}]',                                     -32600 ],
    [ 'half a message', '{"jsonrpc":"2.0"',                                                               -32700 ],
    [ 'nothing',        '',                                                                               -32700 ],
    [ 'two ids',        '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}',                                -32700 ],
    [ 'an answer',      '{"jsonrpc":"2.0","id":1,"result":{}}',                                           -32600 ],
    [ 'nesting', '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":' . '[' x 200 . ']' x 200 . '}}', -32700 ],
    [   'too many values',
        '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":[' . join( ',', (1) x 100_001 ) . ']}}', -32700 ],
  )
{
    my ( $name, $body, $code ) = @$case;
    $answer = $mcp->send_octets($body);
    is_deeply( [ $answer->status, ( $mcp->error($answer) // {} )->{code} ], [ 400, $code ], "$name: 400" )
      or diag $answer->text;
}
is( $mcp->send_octets( '{}', type => 'text/plain' )->status, 415, 'a body that is not JSON' );
is( $mcp->send_octets( '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"' . 'a' x 1_048_576 . '"}}' )->status,
    413, 'a message past the limit' );

# ---- who may ask

$answer = $mcp->modern( 'tools/list', {}, token => undef );
is( $answer->status, 401, 'without a token: 401 before anything is read' );
like(
    $answer->header('WWW-Authenticate'), qr{\ABearer resource_metadata="[^"]*/gateway/mcp", scope="mcp"},
    '... with the challenge' );
is( $mcp->send_octets( '{"jsonrpc"', token => undef )->status, 401, '... whatever the body is' );
is( $mcp->modern( 'tools/list', {}, token => $mcp->token( 'mcp', 'desk' ) )->status, 401,
    'a token for one resource is not good for all (MCP: audience)' );
is( $mcp->modern( 'tools/list', {}, at => 'desk' )->status,    200, '... and one for all is good for one' );
is( $mcp->modern( 'tools/list', {}, at => 'nothing' )->status, 404, 'an unknown resource' );
$answer = $mcp->modern( 'tools/list', {}, headers =>
      [ 'MCP-Protocol-Version' => '2026-07-28', 'Mcp-Method' => 'tools/list', Origin => 'https://evil.example' ] );
is( $answer->status, 403, 'a page of another origin (DNS rebinding)' );
$answer = $mcp->modern( 'tools/list', {}, headers =>
      [ 'MCP-Protocol-Version' => '2026-07-28', 'Mcp-Method' => 'tools/list', Origin => 'https://inspector.example' ] );
is( $answer->status, 200, 'a page of a listed origin' );

$answer = $mcp->modern( 'tools/call', { name => 'desk__write' }, id => 9 );
is( $answer->status, 403, 'a tool that needs more scopes: 403' ) or diag $answer->text;
my ($challenge) = $answer->headers('WWW-Authenticate');
like( $challenge, qr/error="insufficient_scope"/,   '... insufficient_scope' );
like( $challenge, qr/scope="[^"]*desk:write[^"]*"/, '... with the scopes' );
like( $challenge, qr/scope="[^"]*desk:admin[^"]*"/, '... all of them' );
like(
    $challenge, qr/scope="mcp /,
    '... after those that the token has, which the next token would lack (MCP 2025-11-25)' );
is_deeply(
    [ $mcp->error($answer)->{code}, $answer->json->{id} ], [ 40300, 9 ],
    '... and a body of JSON-RPC (gateway-admin.md 1.5)' );
$answer = $mcp->modern( 'tools/call', { name => 'desk__write' }, token => $mcp->token('mcp desk:write desk:admin') );
is( $answer->status, 200, 'a token with these scopes' ) or diag $answer->text;
ok( $mcp->result($answer), '... calls it' );

my $rule = "package custom.gateway\n\ndeny contains \"not_today\" if input.action.name == \"gone\"\n";
$answer = $mcp->rule($rule);
is( $answer->status, 201, 'a rule of the operator denies a tool' ) or diag $answer->text;
my $denying = $answer->member('id');
$result = $mcp->result( $answer = $mcp->modern( 'tools/call', { name => 'desk__gone' } ) );
is( $answer->status, 200, 'a denial is an answer of the tool' );
ok( $result->{isError} && $result->{content}[0]{text} =~ /\ADenied: .*not_today/, '... with its codes, for the model' )
  or diag $answer->text;
($row) = @{ $stack->admin( GET => '/admin/api/audit-logs?endpoint=/gateway/mcp&size=1' )->json->{content} // [] };
is( $row->{outcome}, 'denied', '... and the audit row says denied' );
is_deeply(
    [ map { $_->{name} } @{ $mcp->result( $mcp->modern( 'tools/list', {} ) )->{tools} } ],
    [qw(desk__hello desk__write)],
    '... and it is not listed any more' );
is( $stack->admin( DELETE => "/admin/api/policy-rules/$denying" )->status, 204, '... until the rule is deleted' );

# A rule about arguments holds however long they are (gateway-admin.md 3.8).
$rule   = "package custom.gateway\n\ndeny contains \"too_much\" if input.arguments.euros > 100\n";
$answer = $mcp->rule($rule);
is( $answer->status, 201, 'a rule about an argument' ) or diag $answer->text;
$denying = $answer->member('id');
for my $case (
    [ 10,      'too_much' ],
    [ 17_000,  'too_much' ],
    [ 500_000, 'too_much' ],
    [ 530_000, 'arguments_too_long' ] )
{
    my ( $padding, $code ) = @$case;
    $answer =
      $mcp->modern( 'tools/call', { name => 'desk__gone', arguments => { euros => 2000, note => 'x' x $padding } } );
    $result = $mcp->result($answer);
    ok( $result->{isError} && $result->{content}[0]{text} =~ /\ADenied: .*$code/,
        "... with $padding octets of padding: $code" ) or diag substr $answer->text, 0, 500;
}
is( $stack->admin( DELETE => "/admin/api/policy-rules/$denying" )->status, 204, '... until it is deleted' );

# ---- arguments

for my $case (
    [ 'none',                {}, qr/who is required/ ],
    [ 'of another type',     { who => 7 },              qr{/who } ],
    [ 'too long',            { who => 'w' x 21 },       qr{/who } ],
    [ 'that nobody knows',   { who => 'w', more => 1 }, qr{/more } ],
    [ 'that leave the path', { who => '..' },           qr/path/ ],
    [ 'with a slash',        { who => 'a/b' },          qr/path/ ],
    [ 'that are empty',      { who => '' },             qr/who/ ],
  )
{
    my ( $name, $arguments, $why ) = @$case;
    $result =
      $mcp->result( $answer = $mcp->modern( 'tools/call', { name => 'desk__hello', arguments => $arguments } ) );
    ok( $answer->status == 200 && $result->{isError} && $result->{content}[0]{text} =~ $why,
        "arguments $name are told to the model" ) or diag $answer->text;
}
$answer = $mcp->modern( 'tools/call', { name => 'desk__hello', arguments => [] } );
is( $mcp->error($answer)->{code}, -32602, 'arguments that are a list' );
for my $name ( 'nothing', 'hello', 'desk__off', 'desk__asleep', 'DESK__hello' ) {
    $answer = $mcp->modern( 'tools/call', { name => $name } );
    is_deeply(
        [ $answer->status, ( $mcp->error($answer) // {} )->{code} ], [ 200, -32602 ],
        "the tool $name does not exist" );
}
$answer = $mcp->modern( 'tools/call', { name => 'desk__gone' } );
is_deeply(
    $mcp->result($answer),
    {   content    => [ { type => 'text', text => 'The upstream answered 410: no more' } ], isError => true,
        resultType => 'complete' },
    'an answer of 4xx is an error of the tool' );

# ---- REST

$mcp->resource(
    'crm',
    upstreamType => 'REST', upstreamUrl => $peer->url('/v3'), requestHeaders => { 'X-Api-Version' => '7' },
    upstreamAuth => { type => 'static_header', value => 'upstream-secret' },
    routes       => [
        { id => 'find', methods => ['GET'], path => '/people/{id}/notes', query => { allow => [ 'q', 'tag' ] } },
        {   id          => 'note', methods => ['POST'], path => '/people/{id}/notes',
            successWhen => { pointer => '/ok', equals => true } },
        { id => 'slim', methods => ['GET'], path => '/slim', obligations => { redact => ['/body/email'] } } ],
    tools => [
        tool( 'find', 'find', args => { path => ['id'], query => [ 'q', 'tag' ], header => ['X-Trace'] } ),
        tool( 'note', 'note', args => { path => ['id'], body  => '*' } ),
        tool( 'slim', 'slim' ) ] );
$peer->set( '/v3/people/a%20b/notes' => { body => { ok => true, n => 1 } } );
$answer = $mcp->modern(
    'tools/call',
    { name => 'crm__find', arguments => { id => 'a b', q => 'x&y', tag => [ 1, 2 ], 'X-Trace' => 't', other => 'o' } }
);
is_deeply( $mcp->result($answer)->{structuredContent}, { ok => true, n => 1 }, 'a REST tool' ) or diag $answer->text;
my ($seen) = $peer->requests('/v3/people/a%20b/notes');
is( $seen->{target}, '/v3/people/a%20b/notes?q=x%26y&tag=1&tag=2', 'its arguments stand in path and query, encoded' );
is_deeply(
    [ @{ $seen->{headers} }{qw(x-trace x-api-version authorization)} ], [ 't', '7', 'Bearer upstream-secret' ],
    '... and in header fields, with those of the resource and its credential' );
is_deeply(
    [ grep {/\A(?:cookie|dpop|mcp-|x-admin|forwarded|x-forwarded)/} keys %{ $seen->{headers} } ], [],
    '... nothing of the caller\'s headers passes' );
unlike( $json->encode($seen), qr/\Q$mcp->{token}\E/, '... least of all its token' );
$answer = $mcp->modern(
    'tools/call',
    { name => 'crm__note', arguments => { id => 'a b', title => 'T', deep => { a => [1] } } } );
ok( !$mcp->result($answer)->{isError}, 'a tool with a body' ) or diag $answer->text;
($seen) = ( $peer->requests('/v3/people/a%20b/notes') )[-1];
is_deeply(
    $json->decode( $seen->{body} ), { title => 'T', deep => { a => [1] } },
    '... which has the other arguments' );
$peer->set( '/v3/people/a%20b/notes' => { body => { ok => false, error => 'quota' } } );
$result = $mcp->result( $mcp->modern( 'tools/call', { name => 'crm__note', arguments => { id => 'a b' } } ) );
ok( $result->{isError} && $result->{content}[0]{text} =~ /quota/, 'successWhen: an answer that is false is an error' );

for my $evil ( "t\r\nHost: evil", "t\nX: y" ) {
    $result = $mcp->result(
        $mcp->modern( 'tools/call', { name => 'crm__find', arguments => { id => 'a b', 'X-Trace' => $evil } } ) );
    ok( $result->{isError}, 'a line end in a header field (header smuggling)' );
}
for my $id ( '..', '../x', 'a/b', 'a\\b', "a\x01" ) {
    $result = $mcp->result( $mcp->modern( 'tools/call', { name => 'crm__find', arguments => { id => $id } } ) );
    ok( $result->{isError}, 'an argument that would change the path' );
}
$peer->set( '/v3/slim' => { body => { email => 'a@example.org', name => 'A' } } );
$answer = $mcp->modern( 'tools/call', { name => 'crm__slim' } );
is_deeply( $mcp->result($answer)->{structuredContent}, { name => 'A' }, 'redact: the member is gone' )
  or diag $answer->text;
unlike( $answer->text, qr/a\@example/, '... from the text too' );
$peer->set( '/v3/slim' => { type => 'text/html', body => '<p>a@example.org' } );
$answer = $mcp->modern( 'tools/call', { name => 'crm__slim' } );
ok( $mcp->result($answer)->{isError} && $answer->text !~ /a\@example/,
    '... and an answer that cannot be redacted is not shown' );

for my $case (
    [ 'a slow upstream',   { delay => 4, body => 'x' }, qr/in time/ ],
    [ 'one that hangs up', { close => 1 },              qr/valid|reached/ ] )
{
    $peer->set( '/v3/people/a%20b/notes' => $case->[1] );
    $result =
      $mcp->result( $answer = $mcp->modern( 'tools/call', { name => 'crm__find', arguments => { id => 'a b' } } ) );
    ok( $answer->status == 200 && $result->{isError} && $result->{content}[0]{text} =~ $case->[2],
        "$case->[0] is an error of the tool" ) or diag $answer->text;
    ($row) = @{ $stack->admin( GET => '/admin/api/audit-logs?endpoint=/gateway/mcp&size=1' )->json->{content} // [] };
    is( $row->{outcome}, 'error', '... and of the audit row' );
}

# ---- the size that policy allows

$mcp->resource(
    'short',
    upstreamType => 'STATIC',
    routes       => [
        map {
            {   id       => $_->[0], methods => ['GET'], path => "/$_->[0]", obligations => { response_max_bytes => 7 },
                response => { status => 200, headers => { 'Content-Type' => 'text/plain' }, body => $_->[1] } }
        } [ 'fits', '1234567' ],
        [ 'long', '12345678' ] ],
    tools => [ tool( 'fits', 'fits' ), tool( 'long', 'long' ) ] );
$result = $mcp->result( $mcp->modern( 'tools/call', { name => 'short__fits', arguments => {} } ) );
is( $result->{content}[0]{text}, '1234567', 'an answer of a STATIC route, as long as policy allows' );
$result = $mcp->result( $mcp->modern( 'tools/call', { name => 'short__long', arguments => {} } ) );
ok( $result->{isError}, '... one octet more is an error of the tool' );
unlike( $result->{content}[0]{text}, qr/1234/, '... and is not shown' );

# ---- metrics and the switch

my $metrics = $stack->http->get('/metrics')->body;
like(
    $metrics, qr/^svc_gateway_tool_calls_total\{upstream="STATIC",outcome="done"\} [1-9]/m,
    'calls are counted by upstream and outcome' );
like( $metrics, qr/^svc_gateway_tool_calls_total\{upstream="STATIC",outcome="denied"\} [1-9]/m, '... denials too' );
like( $metrics, qr/^svc_gateway_tool_calls_total\{upstream="REST",outcome="error"\} [1-9]/m,    '... and failures' );
$stack->restart_service( settings => { SVC_GATEWAY_ENABLED => 'false' } );
is( $mcp->modern( 'tools/list', {} )->status, 404, 'the gateway is off: 404' );

done_testing;
