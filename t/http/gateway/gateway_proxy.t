# /gateway/{name} and below: requests to managed resources, against an upstream that misbehaves (gateway-admin.md 3.1 to 3.3,
# decisions.md "Gateway").
use strict;
use warnings;

use JSON::PP     ();
use MIME::Base64 qw(encode_base64);
use Test::More;

use Authz::Client  ();
use Authz::Managed ();
use Authz::Peer    ();
use Authz::Stack   ();

my $peer  = Authz::Peer->start;
my $stack = Authz::Stack->start(
    gateway  => 2,
    settings => {
        SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => 'localhost,127.0.0.1', SVC_GATEWAY_MAX_BODY_SIZE => '200KB',
        SVC_GATEWAY_RESPONSE_TIMEOUT       => '2s' } );
my $gateway = Authz::Managed->new($stack);

# The request that reached the upstream last.
sub reached { my ($path) = @_; return ( $peer->requests($path) )[-1] }

sub fails {
    my ( $answer, $status, $error, $name ) = @_;
    my $good = is( $answer->status, $status, $name );
    $good = is( $answer->member('error'), $error, '... with its code' ) && $good if defined $error;
    diag( $answer->text ) if !$good;
    return $answer;
}

# ---- a request

$gateway->resource(
    'crm',
    upstreamUrl    => $peer->url('/v3'),
    requestHeaders => { 'X-Api-Version' => '7', Accept => 'application/vnd.crm+json' },
    routes         => [
        {   id => 'issues', methods => [ 'GET', 'POST' ], path => '/repos/{owner}/{repo}/issues',
            query => { allow => [ 'state', 'page' ] }, forwardHeaders => ['Idempotency-Key'] },
        { id => 'moved', methods => ['GET'], path => '/old/{id}', upstreamPath => '/new/{id}/x', timeoutMs => 500 },
        { id => 'small', methods => ['PUT'], path => '/small',    maxBodyBytes => 100 },
        {   id          => 'checked', methods => ['GET'], path => '/checked',
            successWhen => { pointer => '/ok', equals => JSON::PP::true() } },
        {   id          => 'hidden', methods => ['GET'], path => '/hidden',
            obligations => { redact => ['/body/email'], response_max_bytes => 1000 } },
        { id => 'limited', path    => '/limited', obligations => { response_max_bytes => 100 } },
        { id => 'off',     methods => ['GET'],    path        => '/off', enabled => JSON::PP::false() },
        { id => 'rest',    methods => [ 'GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE' ], path => '/any/**' },
    ] );
$peer->set(
    '/v3/repos/a/b%20c/issues' => {
        type    => 'application/json', body => { n => 1 },
        headers => [
            ETag     => '"7"', 'Set-Cookie' => 'sid=1', 'WWW-Authenticate' => 'Basic', 'X-Sendfile' => '/etc/passwd',
            'X-Kept' => 'yes',
            Status   => '500', 'Cache-Control' => 'public, max-age=60', 'Access-Control-Allow-Origin' => '*',
            Location => '/admin/api/keys' ] } );
my $trace  = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
my $answer = $gateway->ask(
    GET     => 'crm', '/repos/a/b%20c/issues?state=open&admin=1&page=2;x',
    headers => [
        Accept => 'text/html', Cookie  => 'sid=secret', 'X-Forwarded-For' => '192.0.2.1', Forwarded => 'for=192.0.2.1',
        'X-Admin-API-Key' => 'k', DPoP => 'd',          'Idempotency-Key' => 'i1',        'X-Request-ID' => 'req-1',
        traceparent       => $trace,
        'X-Other' => 'o', 'Accept-Encoding' => 'gzip', 'User-Agent' => 'caller/1', 'X-HTTP-Method-Override' => 'DELETE'
    ] );
is( $answer->status,                   200,                'a request goes to the upstream' ) or diag $answer->text;
is( $answer->body,                     '{"n":1}',          '... and its answer comes back' );
is( $answer->header('Content-Type'),   'application/json', '... with its type' );
is( $answer->header('Content-Length'), 7,                  '... its length' );
is_deeply(
    [ map { $answer->header($_) } qw(ETag X-Kept Cache-Control X-Request-ID) ], [ '"7"', 'yes', 'no-store', 'req-1' ],
    '... and the fields that may pass; it is not kept by caches' );
is( $answer->header($_), undef, "$_ of the upstream is dropped" )
  for qw(Set-Cookie WWW-Authenticate X-Sendfile Status Access-Control-Allow-Origin Location);
my $seen = reached('/v3/repos/a/b%20c/issues');
is( $seen->{target}, '/v3/repos/a/b%20c/issues?state=open&page=2%3Bx',
    'the upstream gets the path below upstreamUrl, encoded as it came, and the listed parameters' );
is_deeply(
    { %{ $seen->{headers} }, host => undef, 'user-agent' => undef },
    {   host           => undef, 'user-agent' => undef, accept => 'application/vnd.crm+json', 'x-api-version' => 7,
        'x-request-id' => 'req-1',
        traceparent    => $trace, 'idempotency-key' => 'i1' },
    'it gets the listed fields, those of the resource, which win, and no token, cookie, key or address of the caller' );
like( $seen->{headers}{'user-agent'}, qr{\Aauthz/}, '... and User-Agent is ours' );

my ($row) =
  @{ $stack->admin( GET => '/admin/api/audit-logs?endpoint=/gateway/{name}/**&size=1' )->json->{content} // [] };
is( $row->{outcome}, 'allowed', 'the audit row has the outcome' );
is_deeply(
    { %{ $row->{requestSummary} // {} }, ms => undef },
    {   resource  => 'crm',      route  => 'issues', upstream_status => 200, octets => 7, ms => undef,
        operation => 'proxyGet', status => 200 },
    '... and what the gateway did (gateway-admin.md 3.8)' );

# ---- Accept: the caller's passes as it is; the route's, or else that of the resource, wins (gateway-admin.md 3.2)

$gateway->resource(
    'plain',
    upstreamUrl => $peer->url('/v4'),
    routes      => [
        { id => 'csv', methods => ['GET'], path => '/csv', requestHeaders => { accept => 'text/csv' } },
        { id => 'any', methods => ['GET'], path => '/**' } ] );
$peer->set( '/v4/any' => { body => {} }, '/v4/csv' => { body => {} } );
for my $case (
    [   'any', ['text/csv;q=0.5, application/vnd.x+json;version="2", */*;q=0.1'], undef,
        'a list with weights and parameters' ],
    [ 'any', ['*/*'],                      undef,                  'everything' ],
    [ 'any', [],                           'none',                 'none: libcurl adds none' ],
    [ 'any', [ 'text/html', 'image/png' ], 'text/html, image/png', 'two lines, which are one list (RFC 9110 5.3)' ],
    [ 'csv', ['text/html'],                'text/csv',             'that of the route in place of the caller\'s' ],
    [ 'csv', [],                           'text/csv',             'that of the route alone' ] )
{
    my ( $route, $given, $want, $name ) = @$case;
    my $got = $gateway->ask( GET => 'plain', "/$route", headers => [ map { ( Accept => $_ ) } @$given ] );
    is( $got->status,                                       200,                  "Accept, $name" ) or diag $got->text;
    is( reached("/v4/$route")->{headers}{accept} // 'none', $want // $given->[0], '... reaches the upstream' );
}

# ---- methods and bodies

$peer->set(
    '/v3/any/up' => { status => 201, type => 'text/plain', headers => [ Location => '/x/1' ], body => 'made' } );
for my $method (qw(POST PUT PATCH DELETE)) {
    $answer = $gateway->ask(
        $method => 'crm',                               '/any/up',
        headers => [ 'Content-Type' => 'text/x-test' ], body => 'abc' );
    $seen = reached('/v3/any/up');
    is_deeply(
        [   $answer->status, $answer->body, $answer->header('Location'), $seen->{method}, $seen->{body},
            $seen->{headers}{'content-type'} ],
        [ 201, 'made', '/x/1', $method, 'abc', 'text/x-test' ],
        "$method with a body" );
}
my $large = join '', map { chr( 33 + $_ % 90 ) } 1 .. 200 * 1024;
$answer = $gateway->ask( POST => 'crm', '/any/up', headers => [ 'Content-Type' => 'a/b' ], body => $large );
is( $answer->status, 201, 'the largest body' ) or diag $answer->text;
ok( reached('/v3/any/up')->{body} eq $large, '... arrives whole, beyond what is kept for a second try' );
my $hits = $peer->hits('/v3/any/up');
fails(
    $gateway->ask( POST => 'crm', '/any/up', headers => [ 'Content-Type' => 'a/b' ], body => $large . 'x' ),
    413, undef, 'one octet more: 413' );
fails(
    $gateway->ask( PUT => 'crm', '/small', headers => [ 'Content-Type' => 'a/b' ], body => 'x' x 101 ),
    413, undef, 'past maxBodyBytes of the route: 413' );
fails(
    $gateway->ask( GET => 'crm', '/any/up', headers => [ 'Content-Type' => 'a/b' ], body => 'x' ),
    400, undef, 'GET with a body: 400' );
is( $peer->hits('/v3/any/up'), $hits, '... and the upstream saw none of them' );
$answer = $gateway->ask( HEAD => 'crm', '/any/up' );
is_deeply(
    [ $answer->status, scalar $answer->header('Content-Length'), $answer->body ], [ 201, 4, '' ],
    'HEAD has the length and no body' );
$peer->set( '/v3/any/none' => { status => 304, type => '', headers => [ ETag => '"1"' ] } );
$answer = $gateway->ask( GET => 'crm', '/any/none', headers => [ 'If-None-Match' => '"1"' ] );
is_deeply( [ $answer->status, $answer->header('ETag') ], [ 304, '"1"' ], 'a condition passes, and 304 comes back' );
is( reached('/v3/any/none')->{headers}{'if-none-match'}, '"1"', '... as the upstream decided' );
$peer->set( '/v3/any/moved' => { status => 302, headers => [ Location => 'https://other.example/' ], body => '' } );
$answer = $gateway->ask( GET => 'crm', '/any/moved' );
is_deeply(
    [ $answer->status, $answer->header('Location') ], [ 302, 'https://other.example/' ],
    'a redirect is returned' );
$peer->set( '/v3/new/7/x' => { body => {} } );
is( $gateway->ask( GET => 'crm', '/old/7' )->status, 200, 'upstreamPath has the variables of the path' );

# ---- routes

fails( $gateway->ask( GET => 'crm', '/nothing' ), 404, 'not_found', 'no route: 404' );
fails( $gateway->ask( GET => 'crm', '/off' ),     404, 'not_found', 'a disabled route: 404' );
$answer = fails( $gateway->ask( DELETE => 'crm', '/old/7' ), 405, undef, 'another method: 405' );
is( $answer->header('Allow'), 'GET', '... with Allow' );
$gateway->resource( 'other', upstreamUrl => 'https://10.0.0.1', routes => [ { id => 'a', path => '/' } ] );
fails(
    $gateway->ask( GET => 'other', '/', token => $gateway->token('crm') ), 401, undef,
    'a token of another resource: 401' );
$answer = fails(
    $gateway->ask( GET => 'nobody', '/', token => $gateway->token('crm') ), 404, 'not_found',
    'a resource that is not there: 404' );
is( $answer->header('WWW-Authenticate'), undef, '... without a challenge, which a client would follow' );
fails( $gateway->ask( GET => 'crm', '/any/x', token => undef ), 401, undef, 'no token: 401' );
$hits = $peer->requests;

for my $path (
    '/any/../admin', '/any/%2e%2e/admin', '/any/.%2E/x', '/any/%2e/x', '/any/a%5cb', '/any/a%00b',
    '/any/%c0%ae%c0%ae/x',
    '/any/..%2fx', '/any/%zz', '/any/a%0d%0ab', '/repos/a%2fb/c/issues', '/repos/%2e%2e/c/issues' )
{
    my $status = $gateway->ask( GET => 'crm', $path )->status;
    ok( $status == 400 || $status == 404, "path $path: $status" );
}
is( scalar( my @all = $peer->requests ), $hits, '... and none of them reached the upstream' );
$peer->set( '/v3/any/group%2Fproject' => { body => {} }, '/v3/any/%252e%252e' => { body => {} } );
is( $gateway->ask( GET => 'crm', '/any/group%2Fproject' )->status, 200, 'an encoded slash below /** stays encoded' );
is( $gateway->ask( GET => 'crm', '/any/%252e%252e' )->status,      200, '... and nothing is decoded twice' );

# ---- failures of upstreams

$peer->set(
    '/v3/any/hang'  => { delay => 6 }, '/v3/any/large' => { body => 'x' x ( 200 * 1024 + 1 ) },
    '/v3/any/full'  => { body => 'x' x ( 200 * 1024 ), type => 'a/b' },
    '/v3/any/split' => { raw => "HTTP/1.1 200 OK\r\nX: a\rSet-Cookie: b\r\nContent-Length: 0\r\n\r\n" },
    '/v3/any/401'   =>
      { status => 401, headers => [ 'WWW-Authenticate' => 'Bearer realm="x"' ], body => '{"error":"no"}' },
    '/v3/any/500' => { status => 500, body => 'oops' } );
fails( $gateway->ask( GET => 'crm', '/any/hang' ), 504, 'upstream_timeout', 'no answer in time: 504' );
fails(
    $gateway->ask( GET => 'crm', '/any/large' ), 502, 'upstream_invalid_response',
    'an answer that is too large: 502' );
is( length $gateway->ask( GET => 'crm', '/any/full' )->body, 200 * 1024, 'the largest answer passes' );
fails( $gateway->ask( GET => 'crm', '/any/split' ), 502, 'upstream_invalid_response', 'a split answer: 502' );
$answer = $gateway->ask( GET => 'crm', '/any/401' );
is_deeply(
    [ $answer->status, $answer->body, scalar $answer->header('WWW-Authenticate') ], [ 401, '{"error":"no"}', undef ],
    'without a credential, 401 is passed on without its challenge' );
is( $gateway->ask( GET => 'crm', '/any/500' )->status, 500, 'an error of the upstream is passed on' );
$gateway->resource(
    'gone', upstreamUrl => 'http://127.0.0.1:' . Authz::Web::free_port(),
    routes => [ { id => 'a', path => '/' } ] );
fails( $gateway->ask( GET => 'gone', '/' ), 502, 'upstream_unreachable', 'nobody there: 502' );
$gateway->resource( 'inside', upstreamUrl => 'https://10.0.0.1', routes => [ { id => 'a', path => '/' } ] );
fails(
    $gateway->ask( GET => 'inside', '/' ), 502, 'upstream_unreachable',
    'a private address that is not listed: 502' );

# ---- answers that are read

$peer->set(
    '/v3/checked' => [ { body => { ok => JSON::PP::true() } }, { body => { ok => JSON::PP::false(), error => 'x' } } ]
);
is( $gateway->ask( GET => 'crm', '/checked' )->header('X-Upstream-Failed'), undef, 'successWhen: a good answer' );
$answer = $gateway->ask( GET => 'crm', '/checked' );
is_deeply(
    [ $answer->status, $answer->header('X-Upstream-Failed'), $answer->member('error') ], [ 200, 'true', 'x' ],
    '... a bad one is passed on and marked' );
$peer->set( '/v3/hidden' =>
      { headers => [ ETag => '"1"' ], body => { name => 'a', email => 'a@example.org', more => { email => 'kept' } } }
);
$answer = $gateway->ask( GET => 'crm', '/hidden' );
is_deeply( $answer->json, { name => 'a', more => { email => 'kept' } }, 'an obligation removes a value' );
is( $answer->header('ETag'), undef, '... and the entity tag of what was not sent' );
for my $bad (
    [ 'no JSON' => 'a@example.org' ], [ 'a repeated member' => '{"email":"a","email":"b"}' ],
    [ 'larger than policy allows' => { email => 'a' x 1001 } ] )
{
    $peer->set( '/v3/hidden' => { body => $bad->[1] } );
    fails( $gateway->ask( GET => 'crm', '/hidden' ), 502, 'upstream_invalid_response', "$bad->[0]: nothing is shown" );
}
$peer->set( '/v3/hidden' => { status => 206, headers => [ 'Content-Range' => 'bytes 9-15/40' ], body => '"a@b.c"' } );
fails(
    $gateway->ask( GET => 'crm', '/hidden', headers => [ Range => 'bytes=9-15', 'If-Range' => '"1"' ] ),
    502, 'upstream_invalid_response', 'a part of a body that is to be redacted: nothing is shown (RFC 9110 15.3.7)' );
is_deeply( [ @{ reached('/v3/hidden')->{headers} }{ 'range', 'if-range' } ], [ undef, undef ], '... nor asked for' );
$peer->set( '/v3/any/part' => { status => 206, headers => [ 'Content-Range' => 'bytes 0-0/2' ], body => 'x' } );
is( $gateway->ask( GET => 'crm', '/any/part', headers => [ Range => 'bytes=0-0' ] )->status,
    206, 'a part is passed on where nothing is hidden' );
is( reached('/v3/any/part')->{headers}{range}, 'bytes=0-0', '... and is asked for' );
$peer->set( '/v3/limited' => { body => 'a' x 100 } );
is( $gateway->ask( GET => 'crm', '/limited', headers => [ Range => 'bytes=0-9', 'If-Range' => '"1"' ] )->status,
    200, 'response_max_bytes: a body of the limit' );
is_deeply(
    [ @{ reached('/v3/limited')->{headers} }{ 'range', 'if-range' } ],
    [ undef, undef ],
    '... of which no part is asked for: the limit is that of the whole (gateway-admin.md 3.2)' );
$peer->set( '/v3/limited' => { body => 'a' x 101 } );
fails(
    $gateway->ask( GET => 'crm', '/limited', headers => [ Range => 'bytes=0-9' ] ),
    502, 'upstream_invalid_response', '... and one octet more is refused, whatever part was asked for' );

# ---- STATIC

$gateway->resource(
    'fixed',
    upstreamType => 'STATIC',
    routes       => [
        {   id       => 'status', path => '/status',
            response => {
                status => 203, headers => { 'Content-Type' => 'application/json', 'X-A' => 'b' },
                json   => { ok => JSON::PP::true() } } },
        { id => 'text', path => '/text', response => { status => 200, body => 'hello' } } ] );
for ( 1 .. 2 ) {
    $answer = $gateway->ask( GET => 'fixed', '/status' );
    is_deeply(
        [ $answer->status, $answer->json, $answer->header('X-A') ], [ 203, { ok => JSON::PP::true() }, 'b' ],
        'a STATIC route answers, also again' );
}
is( $gateway->ask( GET => 'fixed', '/text' )->body, 'hello', '... with text' );
fails( $gateway->ask( GET => 'fixed', '/none' ), 404, 'not_found', '... and nothing else' );

# ---- credentials

sub with_auth {
    my ( $name, $auth, %more ) = @_;
    $gateway->resource(
        $name,
        upstreamUrl  => $peer->url,
        upstreamAuth => $auth,
        routes       => [ { id => 'all', path => '/**', methods => [ 'GET', 'POST' ] } ], %more );
    return;
}
my @secret = ( 'sv-7f3a91', 'pw-55c1d2', 'cs-9b8e77' );
$peer->set( '/who' => { body => {} } );
with_auth( 'header', { type => 'static_header', header => 'PRIVATE-TOKEN', scheme => '', value => $secret[0] } );
$gateway->ask( GET => 'header', '/who' );
is( reached('/who')->{headers}{'private-token'}, $secret[0], 'static_header' );
with_auth( 'bearer', { type => 'static_header', value => $secret[0] } );
$gateway->ask( GET => 'bearer', '/who' );
is( reached('/who')->{headers}{authorization}, "Bearer $secret[0]", '... by default a bearer token' );
with_auth( 'param', { type => 'static_header', query => 'api_key', value => 'a&b=c' } );
$gateway->ask( GET => 'param', '/who?api_key=mine&x=1&api%5fkey=mine' );
is( reached('/who')->{target}, '/who?x=1&api_key=a%26b%3Dc', '... in the query, where the caller cannot set it' );
with_auth( 'basic', { type => 'basic', username => 'user', password => $secret[1] } );
$gateway->ask( GET => 'basic', '/who' );
is( reached('/who')->{headers}{authorization}, 'Basic ' . encode_base64( "user:$secret[1]", '' ), 'basic' );

# Policy must see every parameter that reaches the upstream.
my $many = join '&', map {"p$_=1"} 1 .. 64;
$gateway->resource(
    "many", upstreamUrl => $peer->url,
    routes => [ { id => "who", path => "/who", query => { repeat => ["tag"] } } ] );
is( $gateway->ask( GET => "many", "/who?tag=a&tag=b&x=1" )->status, 200,
    "query.repeat: a listed parameter may come twice" );
is( reached("/who")->{target},                             "/who?tag=a&tag=b&x=1", "... and is sent so" );
is( $gateway->ask( GET => 'basic', "/who?$many" )->status, 200, 'a query of 64 parameters reaches the upstream' );
is( reached('/who')->{target},                             "/who?$many", '... whole' );
fails(
    $gateway->ask( GET => 'basic', "/who?$_" ),
    400, 'invalid_request', "a parameter that comes twice: servers disagree about which one counts: $_"
) for 'role=user&role=admin', 'role=admin&role=admin', 'role=user&r%6fle=admin', 'role&role';

# Names that frameworks take for one (gateway-admin.md 3.2 "Parameters").
for my $query (
    'role=user&ROLE=admin',    'role=user&role%5B%5D=admin', 'role=user&role%5B0%5D=admin', 'role=user&%20role=admin',
    'role=user&role%20=admin', 'role=user&role+=admin',      'role%5B%5D=a&role%5B%5D=b', 'role=user&%5Brole%5D=admin',
    'a_b=1&a.b=2',             'page=1&page%5Bsize%5D=2',    'a%5Bb%5D=1&A%5Bb%5D=2',     'role%5B%5D=admin',
    'role%5B0%5D=admin',       '%20role=admin',              'role%20=admin',
    '%5Brole%5D=admin',        'a%5B0%5D%5Bid%5D=1',         'tag=a&TAG=b', 'tag=a&tag%5B%5D=b' )
{
    my $hits = $peer->hits('/who');
    fails(
        $gateway->ask( GET => 'many', "/who?$query" ), 400, 'invalid_request',
        "a name that is another one: $query" );
    is( $peer->hits('/who'), $hits, '... does not reach the upstream' );
}
for my $query ( 'userId=1', 'ROLE=admin', 'page%5Bsize%5D=1&page%5Bnumber%5D=2', 'a.b=1', 'role=user&roles=all' ) {
    is( $gateway->ask( GET => 'many', "/who?$query" )->status, 200, "names that are two, or one alone: $query" );
}
for my $case (
    [ { allow  => ['role'] },               'role=user&x=1',             '?role=user' ],
    [ { allow  => ['role'] },               'role%5B%5D=admin',          '' ],
    [ { allow  => ['role'] },               'ROLE=admin',                '' ],
    [ { allow  => ['ids[]'] },              'ids%5B%5D=1',               '?ids%5B%5D=1' ],
    [ { repeat => ['ids[]'] },              'ids%5B%5D=1&ids%5B%5D=2',   '?ids%5B%5D=1&ids%5B%5D=2' ],
    [ { repeat => [ 'ids[0]', 'ids[1]' ] }, 'ids%5B0%5D=1&ids%5B1%5D=2', '?ids%5B0%5D=1&ids%5B1%5D=2' ],
    [ { repeat => ['ids[]'] },              'ids%5B%5D=1&ids=2',         undef ],
    [ { allow  => [ 'ids', 'ids[]' ] },     'ids%5B%5D=1&ids=2',         undef ] )
{
    my ( $list, $query, $sent ) = @$case;
    my $said = join ' ', %{ { map { ( $_ => "[@{$list->{$_}}]" ) } keys %$list } };
    $gateway->resource(
        'listed', upstreamUrl => $peer->url,
        routes => [ { id => 'who', path => '/who', query => $list } ] );
    my $status = $gateway->ask( GET => 'listed', "/who?$query" )->status;
    is( $status,                   defined $sent ? 200 : 400, "query.$said: $query" );
    is( reached('/who')->{target}, "/who$sent",               '... what goes up' ) if defined $sent;
}
with_auth( 'param', { type => 'static_header', query => 'api_key', value => 'key-of-the-service' } );
fails(
    $gateway->ask( GET => 'param', "/who?$_" ),
    400, 'invalid_request', "a name that may stand for the parameter of our credential: $_"
) for 'API_KEY=mine', 'api_key%5B%5D=mine', 'api.key=mine', '%20api_key=mine';
for my $query ( "$many&p65=1", 'x=%ff', 'x=%00', '%c0%af=1', 'x=%u0041', 'x=%4' ) {
    my $hits = $peer->hits('/who');
    fails(
        $gateway->ask( GET => 'basic', "/who?$query" ),
        400, undef, 'a parameter that policy cannot see is refused: ' . substr $query, -8 );
    is( $peer->hits('/who'), $hits, '... and does not reach the upstream' );
}

$peer->set(
    '/refuses' => { status => 401, headers => [ 'WWW-Authenticate' => 'Bearer' ], body => "you sent $secret[0]" } );
$answer =
  fails( $gateway->ask( GET => 'bearer', '/refuses' ), 502, 'upstream_auth', 'a refused shared credential: 502' );
unlike( $answer->body, qr/$secret[0]/, '... without what the upstream said, which may hold the credential' );
is( $gateway->ask( GET => 'bearer', '/who' )->status, 200, '... the next call of another route is served (3.4)' );
$gateway->ask( GET => 'bearer', '/refuses' ) for 1 .. 3;
my $told = $stack->admin( GET => '/admin/api/managed-resources/bearer' )->json;
is( $told->{status}, 'degraded', 'three 401s degrade the resource' );
like( $told->{statusReason}, qr/refuses the shared credential/, '... and tell the operator' );
is( $gateway->ask( GET => 'bearer', '/who' )->status, 200, '... it is served all the same' );
is( $stack->admin( GET => '/admin/api/managed-resources/bearer' )->json->{status},
    'active', '... and the good call makes it active again' );

my @token   = map { { body => { access_token => "up-$_", token_type => 'Bearer', expires_in => 3600 } } } 1 .. 9;
my %machine = (
    type => 'client_credentials', tokenEndpoint => $peer->url('/token'), clientId => 'gw+1', clientSecret => $secret[2],
    scopes => [ 'read', 'write' ], audience     => 'https://api.example' );
$peer->set( '/token' => \@token );
with_auth( 'machine', {%machine} );
for ( 1 .. 3 ) {
    $gateway->ask( GET => 'machine', '/who' );
    is( reached('/who')->{headers}{authorization}, 'Bearer up-1',
        'client_credentials: the token is fetched once, for all workers' );
}
is( $peer->hits('/token'), 1, '... indeed' );
$seen = reached('/token');
is( $seen->{headers}{authorization}, 'Basic ' . encode_base64( "gw%2B1:$secret[2]", '' ),
    '... by Basic, form-encoded (RFC 6749 2.3.1)' );
is( $seen->{body}, 'grant_type=client_credentials&scope=read%20write&audience=https%3A%2F%2Fapi.example',
    '... with scope and audience' );
unlike(
    $stack->sql('SELECT encode(token_sealed, \'escape\') FROM upstream_token'), qr/up-1/,
    '... and is sealed in the database' );
$peer->set( '/once' => [ { status => 401, body => '' }, { body => { ok => 1 } } ] );
is( $gateway->ask( POST => 'machine', '/once', headers => [ 'Content-Type' => 'a/b' ], body => 'abc' )->status, 200,
    'a refused token is renewed once' );
$seen = reached('/once');
is_deeply(
    [ $seen->{headers}{authorization}, $seen->{body} ], [ 'Bearer up-2', 'abc' ],
    '... and the request is sent again' );
$peer->set( '/never' => { status => 401, body => '' } );
fails( $gateway->ask( GET => 'machine', '/never' ), 502, 'upstream_auth', '... but not a third time' );
is( $peer->hits('/never'), 2, '... indeed' );
with_auth( 'post', { %machine, tokenAuthMethod => 'client_secret_post' } );
$peer->forget;
$gateway->ask( GET => 'post', '/who' );
like( reached('/token')->{body}, qr/&client_id=gw%2B1&client_secret=$secret[2]/, 'client_secret_post' );
$peer->set( '/token2' => { body => { error => 'invalid_client' } } );
with_auth( 'wrong', { %machine, tokenEndpoint => $peer->url('/token2') } );
fails(
    $gateway->ask( GET => 'wrong', '/who' ), 502, 'upstream_auth',
    'an error of the token endpoint with 200 is an error' );

# ---- nothing leaks

my $token = $gateway->token('crm');
is( scalar( grep { JSON::PP::encode_json($_) =~ /at_[A-Za-z0-9]/ } $peer->requests ), 0,
    'no token of a caller reached an upstream' );
my $log = $stack->{service}->log_text;
unlike( $log, qr/\Q$_\E/, 'no credential is in the log' ) for @secret, 'up-1', 'up-2', $token;
my $rows = JSON::PP->new->canonical->encode( $stack->admin( GET => '/admin/api/audit-logs?size=200' )->json );
unlike( $rows, qr/\Q$_\E/, '... or in an audit row' ) for @secret, 'up-1', $token;

done_testing;
