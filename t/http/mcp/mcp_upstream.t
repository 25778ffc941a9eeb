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
        SVC_GATEWAY_CONNECT_TIMEOUT        => '1s',                  SVC_GATEWAY_RESPONSE_TIMEOUT => '2s' } );
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

# A server that wants another address, as many do with a slash at the end, says so; administrators see where.
my $target = $peer->url('/moved/');
my @moved  = ( { status => 307, type => 'text/plain', body => '', headers => [ Location => $target ] } ) x 2;
$peer->set( '/moved' => [@moved] );
$mcp->resource( 'moved', upstreamType => 'MCP', upstreamUrl => $peer->url('/moved') );
admin_error(
    $stack->admin( POST => '/admin/api/managed-resources/moved/sync' ),
    502,
    'a redirect: the sync fails',
    members => { error_description => "The upstream redirects to $target: change upstreamUrl" } );

# ---- an event without data

# MCP 2025-11-25, transports: a server opens a stream with an event that has an id and empty data.
my $stream = 'data: ' . $json->encode( answer( { tools => [$tool] } )->{body} ) . "\n\n";
is( upstream( 'primed', { type => 'text/event-stream', body => "id: 1\nretry: 9\ndata: \n\n$stream" } )->status,
    200, 'an event with empty data is no message: the sync succeeds' );
is_deeply( [ map { $_->{name} } @{ shown('primed')->{tools} } ], ['echo'], '... and reads the message behind it' );

# ---- an answer that goes on later

# MCP 2025-11-25, transports: a server may end the stream of an answer after an event with an id, and give the rest to a GET.
my $text = { content => [ { type => 'text', text => 'later' } ] };

sub later {
    my ( $name, $session, $rest ) = @_;
    my $begun = { type => 'text/event-stream', body => "id: e7\nretry: 50\ndata: \n\n" };
    my %hello = %{ answer( { protocolVersion => '2025-11-25', capabilities => {}, serverInfo => {} } ) };
    my %by    = (
        'server/discover' => { status  => 404,                                               body => '{}' },
        'initialize'      => { headers => [ $session ? ( 'Mcp-Session-Id' => 'one' ) : () ], %hello },
        'initialized'     => { status  => 202 }, 'tools/list' => answer( { tools => [$tool] } ), 'tools/call' => $begun
    );
    $by{'notifications/initialized'} = delete $by{initialized};
    $peer->set( "/$name" => { %$rest, instead => { map { ( qq("$_") => $by{$_} ) } keys %by } } );
    $mcp->resource( $name, upstreamType => 'MCP', upstreamUrl => $peer->url("/$name") );
    is( $stack->admin( POST => "/admin/api/managed-resources/$name/sync" )->status, 200, "$name is synced" );
    my $said = $mcp->modern( 'tools/call', { name => 'echo', arguments => {} }, at => $name );
    my @got  = $peer->requests("/$name");
    return ( $said, scalar( grep { $_->{body} =~ m{"tools/call"} } @got ), grep { $_->{method} eq 'GET' } @got );
}
my $event = 'data: ' . $json->encode( { jsonrpc => '2.0', id => 1, result => $text } ) . "\n\n";
my ( $said, $times, @rest ) = later( 'later', 1, { type => 'text/event-stream', body => $event } );
is( $mcp->result($said)->{content}[0]{text}, 'later', 'an answer whose stream ends early is asked for again' );
is( $rest[0]{headers}{'last-event-id'},      'e7',    '... behind the last event' );
is( $rest[0]{headers}{'mcp-session-id'},     'one',   '... in its session' );
is( $times,                                  1,       '... without a second call' );
( $said, $times, @rest ) = later( 'lost', 1, { status => 404, body => '{}' } );
like( $said->text, qr/isError/, 'a server that has no rest of an answer: an error' );
is( "$times " . @rest, '1 1', '... and neither the call nor the question is made again' );
( $said, $times, @rest ) = later( 'empty', 1, { type => 'text/event-stream', body => "id: e8\nretry: 0\ndata: \n\n" } );
like( $said->text, qr/isError/, 'one that never gives it: an error' );
is( "$times " . @rest, '1 5', '... after five times' );
( $said, $times, @rest ) = later( 'stateless', 0, { type => 'text/event-stream', body => $event } );
is( scalar @rest, 0, 'without a session nothing is asked for again' );

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

# ---- schemas at the limit of 32 levels, the first included (gateway-admin.md 1.5): what was stored can be read back

sub deep_tool {
    my ( $name, $levels ) = @_;
    my $schema = JSON::PP::true();
    $schema = { properties => { a => $schema } } for 1 .. $levels;
    return { name => $name, inputSchema => { %$schema, type => 'object' } };
}
$answer =
  upstream( 'levels', ( answer( { tools => [ $tool, deep_tool( deep => 32 ), deep_tool( past => 33 ) ] } ) ) x 2 );
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

# ---- structured content (MCP 2025-11-25, tools, "Output Schema"), and characters that people do not see

my $calls_with = sub {
    my ( $name, $schema, $said ) = @_;
    my $has = { %$tool, defined $schema ? ( outputSchema => $schema ) : () };
    upstream( $name, answer( { tools => [$has] } ), $modern, answer( { content => [], %$said } ) );
    return sub {
        my ($revision) = @_;
        return $mcp->result( $mcp->$revision( 'tools/call', { name => 'echo', arguments => {} }, at => $name ) ) // {};
    };
};
my %counted = ( type => 'object', required => ['n'], properties => { n => { type => 'integer' } } );
is_deeply(
    $calls_with->( 'kept', \%counted, { structuredContent => { n => 7 } } )->('modern')->{structuredContent},
    { n => 7 },
    'structured content as outputSchema says passes' );
for my $case (
    [ 'typed',   { structuredContent => { n => 'seven' } },                        'a value of another type' ],
    [ 'lacking', { structuredContent => {} },                                      'a member less' ],
    [ 'missing', { content           => [ { type => 'text', text => 'seven' } ] }, 'none' ] )
{
    my ( $name, $said, $what ) = @$case;
    my $shown = $calls_with->( $name, \%counted, $said )->('modern');
    ok( $shown->{isError} && !exists $shown->{structuredContent},
        "structured content that outputSchema forbids: $what" );
    unlike( $json->encode($shown), qr/seven/, '... of which nothing passes' );
}
my $list_of = $calls_with->( 'array', { type => 'array' }, { structuredContent => [ 1, 2 ] } );
is_deeply( $list_of->('modern')->{structuredContent}, [ 1, 2 ], 'structured content may be an array' );
ok( !exists $list_of->('legacy')->{structuredContent}, '... but not for older clients (MCP 2025-11-25, tools)' );

my ( $hidden, $seen ) = ( "a\x{202e}b\x{2066}c\x{e0041}d\x{e0100}e\tf\x{200f}", "abcde\tf\x{200f}" );
is_deeply(
    $calls_with->(
        'hiding', undef,
        {   content => [
                { type => 'text',          text     => $hidden },
                { type => 'resource',      resource => { uri => 'a:b', text => $hidden } },
                { type => 'resource_link', uri      => 'a:b', name => $hidden } ],
            structuredContent => { a => [ $hidden, 1 ] } } )->('modern'),
    {   resultType => 'complete',
        content    => [
            { type => 'text',          text     => $seen },
            { type => 'resource',      resource => { uri => 'a:b', text => $seen } },
            { type => 'resource_link', uri      => 'a:b', name => $seen } ],
        structuredContent => { a => [ $seen, 1 ] } },
    'results pass without characters that reorder text, and those that people do not see (gateway-admin.md 1.5)' );
ok( $calls_with->( 'naming', undef, { structuredContent => { $hidden => 1 } } )->('modern')->{isError},
    '... and a name of a member with one is an error of the tool' );
$answer = upstream(
    'described',
    answer(
        {   tools => [
                { %$tool, description => $hidden },
                { name => 'named', inputSchema => { type => 'object', properties => { $hidden => {} } } } ] } ) );
is_deeply( $answer->json->{added}, ['echo'], 'a tool whose schema has such a name is left out' );
is( shown('described')->{tools}[0]{description}, $seen, '... and of a description they are taken out' );

# ---- requests of an upstream on the stream of a call (MCP 2025-11-25, basic/utilities/ping)

my $old = {
    headers => [ 'Mcp-Session-Id' => 's1' ],
    %{ answer( { protocolVersion => '2025-11-25', capabilities => {}, serverInfo => {} } ) } };
my @hello = ( { status => 404, body => '{}' }, $old, { status => 202 } );

# Calls a tool of an older server that sends these requests first and the result after `answers` answers of ours.
sub asked_call {
    my ( $name, $answers, @question ) = @_;
    my $asked = join '', map { 'data: ' . $json->encode( { jsonrpc => '2.0', %$_ } ) . "\n\n" } @question;
    my $said  = answer( { content => [ { type => 'text', text => 'same' } ] } )->{body};
    my $reply = {
        type  => 'text/event-stream', body => "${asked}data: " . $json->encode($said) . "\n\n",
        await => [ length $asked, 8 + $answers ] };
    $peer->set( "/$name" => [ @hello, answer( { tools => [$tool] } ), @hello, $reply, { status => 202 } ] );
    $mcp->resource( $name, upstreamType => 'MCP', upstreamUrl => $peer->url("/$name") );
    is( $stack->admin( POST => "/admin/api/managed-resources/$name/sync" )->status, 200, "$name: sync" );
    my $got = $mcp->modern( 'tools/call', { name => 'echo', arguments => {} }, at => $name );
    my @all = $peer->requests("/$name");
    return (
        $mcp->result($got) // {},
        map {
            { %$_, said => $json->decode( $_->{body} ) }
        } @all[ 8 .. $#all ] );
}
( $result, my @told ) = asked_call(
    'curious', 3,
    { id     => 'p1',                    method => 'ping' },
    { id     => 7,                       method => 'elicitation/create', params => { message => 'Sure?' } },
    { method => 'notifications/message', params => { level => 'info', data => 'half' } },
    { id     => 8,                       method => 'sampling/createMessage' } );
is_deeply( $result->{content}, [ { type => 'text', text => 'same' } ], 'the call of an upstream that asks goes on' );
is_deeply(
    $told[0]{said}, { jsonrpc => '2.0', id => 'p1', result => {} },
    '... ping is answered with an empty result' );
is_deeply(
    [ map { [ $_->{said}{id}, $_->{said}{error}{code} ] } @told[ 1, 2 ] ], [ [ 7, -32601 ], [ 8, -32601 ] ],
    '... and other requests with -32601: we declare no capability' );
is_deeply(
    [ map { @{ $_->{headers} }{qw(mcp-session-id mcp-protocol-version)} } @told ], [ ( 's1', '2025-11-25' ) x 3 ],
    '... in the session of the call' );
is( scalar @told, 3, '... and a notification has no answer' );
( $result, @told ) = asked_call( 'tiring', 20, map { { id => $_, method => 'ping' } } 1 .. 20 );
is_deeply( $result->{content}, [ { type => 'text', text => 'same' } ], 'an upstream that asks as often as it may' );
( $result, @told ) = asked_call( 'endless', 20, map { { id => $_, method => 'ping' } } 1 .. 21 );
ok( $result->{isError}, '... and once more is an error of the tool' );

# ---- revisions that an upstream offers (MCP 2026-07-28, versioning)

sub offer {
    my (@version) = @_;
    my $error = { code => -32022, message => 'no', data => { supported => \@version, requested => '2026-07-28' } };
    return { status => 400, body => { jsonrpc => '2.0', id => 1, error => $error } };
}

sub methods {
    my ($name) = @_;
    return [ map { $json->decode( $_->{body} )->{method} } $peer->requests("/$name") ];
}

sub offered {
    my ( $name, @answer ) = @_;
    $peer->set( "/$name" => \@answer );
    $mcp->resource( $name, upstreamType => 'MCP', upstreamUrl => $peer->url("/$name") );
    return $stack->admin( POST => "/admin/api/managed-resources/$name/sync" );
}
my $tools = answer( { tools => [$tool] } );
is( offered( 'again', offer('2026-07-28'), $modern, $tools )->status, 200,
    'the revision that was asked for is offered' );
is_deeply(
    methods('again'), [qw(server/discover server/discover tools/list)],
    '... and asked for again, not initialize' );
is( offered( 'forever', offer('2026-07-28') )->status, 502, 'it is refused again' );
is_deeply( methods('forever'), [ ('server/discover') x 2 ], '... and that is the end' );
is( offered( 'both', offer( '2025-06-18', '2024-11-05' ), $old, { status => 202 }, $tools )->status, 200,
    'an older revision is offered' );
is( $json->decode( ( $peer->requests('/both') )[1]{body} )->{params}{protocolVersion},
    '2025-06-18', '... and initialize asks for it' );
is( offered( 'future', offer('2099-01-01') )->status, 502, 'none that is known is offered' );
is_deeply( methods('future'),              ['server/discover'], '... and nothing is guessed' );
is_deeply( shown('future')->{tools} // [], [],                  '... and nothing stored' );

# ---- capabilities that an upstream needs of the client (MCP 2026-07-28, versioning)

my $needs = {
    status => 400,
    body   => {
        jsonrpc => '2.0', id => 1,
        error   => {
            code => -32021, message => 'no',
            data => { requiredCapabilities => { elicitation => { form => {} } }, secret => 'of the upstream' } } } };
for my $case ( [ 'needy1', {} ], [ 'needy2', { elicitation => { url => {} } } ] ) {
    my ( $name, $has ) = @$case;
    is( upstream( $name, $tools, $modern, $needs )->status, 200, 'an upstream that needs a capability' );
    $got = $mcp->modern( 'tools/call', { name => 'echo', arguments => {} }, at => $name, capabilities => $has );
    is_deeply(
        [ $got->status, @{ $mcp->error($got) // {} }{qw(code data)} ],
        [ 400, -32021, { requiredCapabilities => { elicitation => { form => {} } } } ],
        '... a client without it is told which' ) or diag $got->text;
}
upstream( 'needy3', $tools, $modern, $needs );
$got = $mcp->modern(
    'tools/call', { name => 'echo', arguments => {} },
    at => 'needy3', capabilities => { elicitation => { form => {} } } );
ok( $mcp->result($got)->{isError}, '... a client with it would ask for ever: an error of the tool' );
upstream( 'needy4', $tools, $modern, $needs );
$got = $mcp->legacy( 'tools/call', { name => 'echo', arguments => {} }, at => 'needy4', version => '2025-11-25' );
ok( $mcp->result($got)->{isError}, '... and older clients do not know that code' );

# ---- annotations (gateway-admin.md 1.5)

my %hints = ( readOnlyHint => JSON::PP::true(), destructiveHint => 'no', title => 'Echo', other => { x => 1 } );
upstream( 'hinted', answer( { tools => [ { %$tool, annotations => \%hints } ] } ) );

sub hints { return $mcp->result( $mcp->modern( 'tools/list', {}, at => 'hinted' ) )->{tools}[0]{annotations} }
is_deeply(
    hints(), { readOnlyHint => JSON::PP::true(), title => 'Echo' },
    'the annotations of an approved tool pass: those that MCP knows, with their types' );
my $mine = {
    name                => 'echo', annotations => { readOnlyHint => JSON::PP::false() },
    upstreamAnnotations => { openWorldHint => JSON::PP::true() } };
$mcp->resource( 'hinted', upstreamType => 'MCP', upstreamUrl => $peer->url('/hinted'), tools => [$mine] );
is_deeply(
    hints(), { readOnlyHint => JSON::PP::false(), title => 'Echo' },
    '... and those of the operator win; a save changes nothing of the upstream' );

# ---- arguments that header fields repeat (MCP 2026-07-28, transports)

my %region = ( type => 'string', 'x-mcp-header' => 'Region' );
my $asks   = {
    name        => 'echo',
    inputSchema =>
      { type => 'object', properties => { region => \%region, n => { type => 'integer', 'x-mcp-header' => 'N' } } } };
my $twice = { name => 'twice', inputSchema => { type => 'object', properties => { a => \%region, b => \%region } } };
my $same  = answer( { content => [ { type => 'text', text => 'same' } ], resultType => 'complete' } );
$answer = upstream( 'params', answer( { tools => [ $asks, $twice ] } ), $modern, $same );
is_deeply( $answer->json->{added}, ['echo'], 'a tool with a wrong x-mcp-header is left out' );
like( join( '', $stack->{service}->log_lines ), qr{params: left out of tools/list: twice}, '... and named in the log' );

sub with_fields {
    my ( $arguments, @field ) = @_;
    return $mcp->modern(
        'tools/call', { name => 'echo', arguments => $arguments },
        at      => 'params',
        headers =>
          [ 'MCP-Protocol-Version' => '2026-07-28', 'Mcp-Method' => 'tools/call', 'Mcp-Name' => 'echo', @field ] );
}
for my $case (
    [ 'missing',                        { region => 'eu' } ],
    [ 'another',                        { region => 'eu' },         'Mcp-Param-Region' => 'us' ],
    [ 'encoded badly',                  { region => 'eu' },         'Mcp-Param-Region' => '=?base64?ZXU?=' ],
    [ 'one of two missing',             { region => 'eu', n => 1 }, 'Mcp-Param-Region' => 'eu' ],
    [ 'another number',                 { n => 1 },                 'Mcp-Param-N'      => '2' ],
    [ 'another number than a fraction', { n => 1.5 },               'Mcp-Param-N'      => '2' ],
    [ 'without its argument',           {},                         'Mcp-Param-Region' => 'eu' ],
    [ 'of an argument that is null',    { region => undef },        'Mcp-Param-Region' => 'eu' ],
    [ 'of null, with the text null',    { region => undef },        'Mcp-Param-Region' => 'null' ],
    [ 'long, without its argument',     { region => undef },        'Mcp-Param-Region' => 'e' x 8000 ],
  )
{
    my ( $what, @call ) = @$case;
    $got = with_fields(@call);
    is_deeply( [ $got->status, ( $mcp->error($got) // {} )->{code} ], [ 400, -32020 ], "Mcp-Param-...: $what" )
      or diag $got->text;
}
is( $peer->hits('/params'), 2, '... and the upstream is not asked' );
for my $case (
    [ 'the same',       { region => 'eu' }, 'Mcp-Param-Region' => 'eu' ],
    [ 'in base64',      { region => 'eu' }, 'Mcp-Param-Region' => '=?base64?ZXU=?=' ],
    [ 'as a number',    { n      => 1 },    'Mcp-Param-N'      => '1.0' ],
    [ 'of null',        { region => undef } ],
    [ 'of no argument', {} ],
  )
{
    my ( $what, @call ) = @$case;
    $got = with_fields(@call);
    is_deeply( ( $mcp->result($got) // {} )->{content}, $same->{body}{result}{content}, "Mcp-Param-...: $what" )
      or diag $got->text;
}
my @sent = map { $json->decode( $_->{body} )->{params}{arguments} } ( $peer->requests('/params') )[ 3, -2 ];
is_deeply(
    \@sent, [ { region => 'eu' }, {} ],
    'null of an optional argument is dropped before policy and upstream see it' );
$got = $mcp->legacy( 'tools/call', { name => 'echo', arguments => { region => 'eu' } }, at => 'params' );
is_deeply( $mcp->result($got)->{content}, $same->{body}{result}{content}, '... older clients send no such field' );
done_testing;
