# MCP upstreams that misbehave: what they send is bounded, and nothing of it breaks a resource (gateway-admin.md 1.5).
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Check;
use Authz::Mcp   ();
use Authz::Peer  ();
use Authz::Stack ();

my $json  = JSON::PP->new->utf8->canonical->allow_nonref;
my $peer  = Authz::Peer->start;
my $stack = Authz::Stack->start(
    gateway  => 1, web_workers => 1,
    settings => {
        SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => 'localhost,127.0.0.1', SVC_GATEWAY_MAX_BODY_SIZE    => '300KB',
        SVC_GATEWAY_CONNECT_TIMEOUT        => '1s',                  SVC_GATEWAY_RESPONSE_TIMEOUT => '1s' } );
my $mcp = Authz::Mcp->new($stack);

# Answers as the SDK's servers give them.
sub answer { my ($result) = @_; return { body => { jsonrpc => '2.0', id => 1, result => $result } } }
my $modern =
  answer( { resultType => 'complete', supportedVersions => ['2026-07-28'], capabilities => { tools => {} } } );
my $tool = { name => 'echo', description => 'Say the same.', inputSchema => { type => 'object' } };

sub upstream {
    my ( $name, @answer ) = @_;
    $peer->set( "/$name" => [ $modern, @answer ] );
    $mcp->resource(
        $name,
        upstreamType => 'MCP', upstreamUrl => $peer->url("/$name"),
        upstreamAuth => { type => 'static_header', value => 'credential-of-the-gateway' } );
    return $stack->admin( POST => "/admin/api/managed-resources/$name/sync" );
}
sub shown { my ($name) = @_; return $stack->admin( GET => "/admin/api/managed-resources/$name" )->json }

# ---- lists of tools

my $deep = '{"type":"object","properties":' x 100 . '{}' . '}' x 100;
my $list = '{"jsonrpc":"2.0","id":1,"result":{"tools":[%s]}}';
for my $case (
    [ 'deep',  { body => sprintf $list, qq({"name":"a","inputSchema":$deep}) }, 'a schema that nests without end' ],
    [ 'wide',  { body => sprintf $list, join ',', (1) x 110_000 },              'more values than a message has' ],
    [ 'large', { body => sprintf $list, '"' . 'x' x 400_000 . '"' },            'an answer that is too large' ],
    [ 'half',  { body => '{"jsonrpc":"2.0","id":1,"result":{"tools":[' },       'half an answer' ],
    [ 'twice', { body => '{"jsonrpc":"2.0","id":1,"result":{"tools":[]},"result":{"tools":[]}}' }, 'two results' ],
    [ 'other', { body => { jsonrpc => '2.0', id => 2, result => { tools => [] } } }, 'the answer to another question' ],
    [ 'html',  { type => 'text/html', body => '<p>login' },                          'a page' ],
    [ 'fault', { body => { jsonrpc => '2.0', id => 1, error => { code => -32603, message => 'x' } } }, 'an error' ],
    [ 'shape', answer( { tools => {} } ),                        'tools that are no list' ],
    [ 'pages', answer( { tools => [], nextCursor => 'again' } ), 'pages without end' ],
    [   'events', { type => 'text/event-stream', chunked => 1, endless => 1, body => ": wait\n\n" },
        'a stream without end' ],
    [   'broken', { type => 'text/event-stream', body => "data: {\"jsonrpc\":\"2.0\"\n\n" },
        'an event that is no message' ],
  )
{
    my ( $name, $bad, $what ) = @$case;
    my $answer = upstream( $name, $bad );
    ok( $answer->status == 502 || $answer->status == 504, "$what: the sync fails" ) or diag $answer->text;
    is_deeply( shown($name)->{tools} // [], [], '... and stores nothing' );
    unlike( $answer->text, qr/credential-of-the-gateway/, '... and tells no credential' );
}
cmp_ok( $peer->hits('/pages'), '<=', 102, 'pages are counted' );

# ---- an event without data

# MCP 2025-11-25, transports: a server opens a stream with an event that has an id and empty data.
my $stream = 'data: ' . $json->encode( answer( { tools => [$tool] } )->{body} ) . "\n\n";
is( upstream( 'primed', { type => 'text/event-stream', body => "id: 1\nretry: 9\ndata: \n\n$stream" } )->status,
    200, 'an event with empty data is no message: the sync succeeds' );
is_deeply( [ map { $_->{name} } @{ shown('primed')->{tools} } ], ['echo'], '... and reads the message behind it' );

# ---- a bad tool among good ones

my $answer = upstream(
    'mixed',
    answer(
        {   tools => [
                $tool,
                { name => 'no schema' },
                { name => 'far', inputSchema => { type => 'object', '$ref' => 'https://evil.example/schema' } },
                { %$tool, description => 'Say something else.' },
                { name => 'hu.ge', inputSchema => { type => 'object' }, description => 'x' x 70_000 },
                { name => '../../admin', inputSchema => { type => 'object' } },
                7 ] } ) );
is( $answer->status, 200, 'a list with tools that cannot be stored' ) or diag $answer->text;
is_deeply( $answer->json->{added}, ['echo'], '... the good one is stored, and the first of a name counts' );
is( shown('mixed')->{status}, 'active', '... and the resource serves' );
is( $peer->hits($_),          0,        "nothing asked $_" ) for '/schema';

# ---- schemas at the limit of 32 levels, two for each property (gateway-admin.md 1.5): what was stored can be read back

sub deep_tool {
    my ( $name, $levels ) = @_;
    my $schema = JSON::PP::true();
    $schema = { properties => { a => $schema } } for 1 .. $levels;
    return { name => $name, inputSchema => { %$schema, type => 'object' } };
}
$answer =
  upstream( 'levels', ( answer( { tools => [ $tool, deep_tool( deep => 16 ), deep_tool( past => 17 ) ] } ) ) x 2 );
is( $answer->status, 200, 'a list with deep schemas' ) or diag $answer->text;
is_deeply( [ sort @{ $answer->json->{added} } ], [qw(deep echo)], '... 32 levels are stored, more are left out' );
is( $stack->admin( POST => '/admin/api/managed-resources/levels/sync' )->status, 200, '... the next sync reads them' );
is_deeply(
    [ map { $_->{name} } @{ ( $mcp->result( $mcp->modern( 'tools/list', {}, at => 'levels' ) ) // {} )->{tools} } ],
    [qw(deep echo)], '... and so does tools/list' );
$mcp->resource( 'levels', displayName => 'New', upstreamType => 'MCP', upstreamUrl => $peer->url('/levels') );
is( shown('levels')->{displayName}, 'New', '... and a change of the resource' );
for my $words ( [qw(resource list)], [qw(resource show levels)] ) {
    is( ( $stack->authzctl(@$words) )[0], 0, "... and authzctl @$words" );
}

# ---- refused credentials

$answer =
  upstream( 'closed', { status => 401, headers => [ 'WWW-Authenticate' => 'Bearer realm="upstream"' ], body => 'no' } );
is( $answer->status,          502,                'an upstream that refuses the credential' ) or diag $answer->text;
is( $answer->member('error'), 'upstream_auth',    '... upstream_auth' );
is( $answer->header('WWW-Authenticate'), undef,   '... its challenge does not pass' );
is( shown('closed')->{status},           'error', '... and somebody must act' );
upstream( 'later', ( answer( { tools => [$tool] } ) ) x 2 );
is( shown('later')->{status}, 'active', 'an upstream that worked' );
$peer->set( '/later' => { status => 401, body => 'no' } );
$stack->admin( POST => '/admin/api/managed-resources/later/sync' );
is( shown('later')->{status}, 'degraded', '... and refuses a later sync is degraded and still served (3.4)' );
like( shown('later')->{statusReason}, qr/refuses the shared credential/, '... with the reason' );

# ---- calls

# The worker of the gateway asks for the revision anew, because another process did the sync.
my $calls = 0;

sub call {
    my ($reply) = @_;
    my $name = 'call' . ++$calls;
    is( upstream( $name, answer( { tools => [$tool] } ), $modern, $reply )->status, 200, 'a resource for a call' );
    my $got = $mcp->modern( 'tools/call', { name => 'echo', arguments => {} }, at => $name );
    return ( $got, $mcp->result($got) // {} );
}
my ( $got, $result ) =
  call( answer( { content => [ { type => 'text', text => 'same' } ], resultType => 'complete' } ) );
is_deeply( $result->{content}, [ { type => 'text', text => 'same' } ], 'a call' ) or diag $got->text;
for my $case (
    [ 'no content',                  answer( {} ) ],
    [ 'content that is a text',      answer( { content    => 'x' } ) ],
    [ 'a request for input',         answer( { resultType => 'input_required', inputRequests => {} } ) ],
    [ 'an answer without id',        { body  => { jsonrpc => '2.0', result => {} } } ],
    [ 'a page',                      { type  => 'text/html',   body => '<p>' } ],
    [ 'an answer that is too large', { body  => sprintf $list, '"' . 'x' x 400_000 . '"' } ],
    [ 'no answer',                   { close => 1 } ],
    [ 'an answer that is late',      { delay => 4, body => 'x' } ],
  )
{
    my ( $what, $reply ) = @$case;
    ( $got, $result ) = call($reply);
    ok( $got->status == 200 && $result->{isError}, "$what is an error of the tool" ) or diag $got->text;
    unlike( $got->text, qr/credential-of-the-gateway/, '... that tells no credential' );
}
done_testing;
