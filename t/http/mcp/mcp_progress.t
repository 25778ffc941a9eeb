# Progress of a call: the caller who asked for it gets it as it comes, in a stream that the answer ends (gateway-admin.md 1.5; MCP,
# basic/utilities/progress). What needs an audit row is not sent without one.
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Check;
use Authz::Managed ();
use Authz::Mcp     ();
use Authz::Peer    ();
use Authz::Stack   ();

my $json  = JSON::PP->new->utf8->canonical->allow_nonref;
my $peer  = Authz::Peer->start;
my $stack = Authz::Stack->start(
    gateway  => 1, web_workers => 1,
    settings => { SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => 'localhost,127.0.0.1', SVC_GATEWAY_RESPONSE_TIMEOUT => '5s' } );
my $mcp = Authz::Mcp->new( $stack, client => 'host' );

sub answer { my ($result) = @_; return { body => { jsonrpc => '2.0', id => 1, result => $result } } }
my $modern = answer( { resultType => 'complete', supportedVersions => ['2026-07-28'], capabilities => {} } );
my @hello  = (
    { status => 404, body => '{}' },
    answer( { protocolVersion => '2025-11-25', capabilities => {}, serverInfo => {} } ),
    { status => 202 } );
my $tools = answer( { tools => [ { name => 'run', inputSchema => { type => 'object' } } ] } );
my $said  = { content => [ { type => 'text', text => 'done' } ] };

sub event  { my ($message) = @_; return 'data: ' . $json->encode( { jsonrpc => '2.0', %$message } ) . "\n\n" }
sub told   { my (%params)  = @_; return event( { method => 'notifications/progress', params => \%params } ) }
sub stream { return { type => 'text/event-stream', body => join '', @_ } }
my $end = event( { id => 1, result => $said } );

my $count = 0;

# A resource whose tool answers so; the sync and the call each find out about the upstream, in workers of their own.
sub upstream {
    my ( $reply, @before ) = @_;
    my $name = 'run' . ++$count;
    @before = ($modern) if !@before;
    $peer->set( "/$name" => [ @before, $tools, @before, $reply ] );
    $mcp->resource(
        $name,
        upstreamType => 'MCP', upstreamUrl => $peer->url("/$name"),
        upstreamAuth => { type => 'static_header', value => 'credential-of-the-gateway' } );
    my $synced = $stack->admin( POST => "/admin/api/managed-resources/$name/sync" );
    is( $synced->status, 200, "$name is synced" ) or diag $synced->text;
    return $name;
}

# The messages of a stream.
sub events {
    my ($answer) = @_;
    return [ map { $json->decode($_) } $answer->text =~ /^data: (.*)$/mg ];
}

my %call = ( name => 'run', arguments => {} );

sub call {
    my ( $name, $token, %option ) = @_;
    my %field = ( 'MCP-Protocol-Version' => '2026-07-28', 'Mcp-Method' => 'tools/call', 'Mcp-Name' => 'run' );
    my %meta  = (
        'io.modelcontextprotocol/protocolVersion'    => '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities' => {},
        defined $token ? ( progressToken => $token ) : () );
    return $mcp->send_octets(
        $json->encode( { jsonrpc => '2.0', id => 7, method => 'tools/call', params => { %call, _meta => \%meta } } ),
        at => $name, headers => [%field], %option );
}

# ---- what the caller gets

my @steps = map { told( progressToken => 1, progress => $_, total => 3, message => "step $_" ) } 1 .. 3;
my $name  = upstream( stream( @steps, $end ) );
my $whole = call( $name, 'mine' );
is( $whole->header('Content-Type'), 'text/event-stream', 'a call with a token and progress is answered by a stream' )
  or diag $whole->text;
my @seen = @{ events($whole) };
is_deeply(
    [ @seen[ 0 .. $#seen - 1 ] ],
    [   map {
            {   jsonrpc => '2.0', method => 'notifications/progress',
                params  => { progressToken => 'mine', progress => $_, total => 3, message => "step $_" } }
        } 1 .. 3 ],
    '... with the progress, and the token of the caller' ) or diag $whole->text;
is_deeply( $seen[-1]{id} . $seen[-1]{result}{content}[0]{text}, '7done', '... that the answer ends' );
is( $json->decode( ( $peer->requests("/$name") )[-1]{body} )->{params}{_meta}{progressToken},
    1, 'the upstream gets a token of ours' );
unlike( ( $peer->requests("/$name") )[-1]{body}, qr/mine/, '... and not that of the caller' );
my ($row) =
  @{ $stack->admin( GET => '/admin/api/audit-logs?endpoint=/gateway/mcp/%7Bname%7D&size=1' )->json->{content} };
is_deeply(
    [ $row->{outcome}, @{ $row->{requestSummary} }{qw(tool upstream_status)} ], [ 'allowed', 'run', 200 ],
    'the audit row has the call as that of any tool' ) or diag explain $row;

for my $case (
    [ 'no token',                       undef ],
    [ 'a token that is an object',      {} ],
    [ 'a token that is a fraction',     1.5 ],
    [ 'a text of 257 octets',           'x' x 257 ],
    [ 'a caller that takes JSON alone', 'mine', headers => 'json' ],
  )
{
    my ( $what, $token, $takes ) = @$case;
    $name = upstream( stream( @steps, $end ) );
    my @field = ( 'MCP-Protocol-Version' => '2026-07-28', 'Mcp-Method' => 'tools/call', 'Mcp-Name' => 'run' );
    my $plain = defined $takes
      ? $stack->http->request(
        POST => "/gateway/mcp/$name",
        body => $json->encode(
            {   jsonrpc => '2.0', id => 7, method => 'tools/call',
                params  => {
                    %call,
                    _meta => {
                        'io.modelcontextprotocol/protocolVersion'    => '2026-07-28',
                        'io.modelcontextprotocol/clientCapabilities' => {}, progressToken => $token } } } ),
        headers => [
            'Content-Type' => 'application/json',     Accept => 'application/json',
            Authorization  => "Bearer $mcp->{token}", @field ] )
      : call( $name, $token );
    like( $plain->header('Content-Type'), qr{\Aapplication/json}, "$what: the answer is JSON" ) or diag $plain->text;
    is( $mcp->result($plain)->{content}[0]{text}, 'done', '... that has the result' );
    unlike(
        ( $peer->requests("/$name") )[-1]{body}, qr/progressToken/,
        '... and the upstream is not asked for progress' );
}
$name = upstream( stream( told( progressToken => 9, progress => 1 ), $end ) );
like( call( $name, 'mine' )->header('Content-Type'), qr{\Aapplication/json}, 'progress of an unknown token is none' );
$name =
  upstream( stream( told( progressToken => 1, progress => 1, message => 'by credential-of-the-gateway' ), $end ) );
unlike( call( $name, 'mine' )->text, qr/credential-of-the-gateway/, 'a message tells no credential of ours' );

# ---- failures after the stream has begun

$name = upstream( stream( $steps[0] ) );
@seen = @{ events( call( $name, 'mine' ) ) };
is( scalar @seen, 2, 'an upstream that ends without an answer: the stream has one' );
ok( $seen[1]{result}{isError}, '... which is a failure of the tool' ) or diag explain \@seen;
($row) = @{ $stack->admin( GET => '/admin/api/audit-logs?endpoint=/gateway/mcp/%7Bname%7D&size=1' )->json->{content} };
is( $row->{outcome}, 'error', '... and the audit row says so' ) or diag explain $row;

# ---- older clients and upstreams

$name  = upstream( stream( @steps, $end ), @hello );
$whole = $mcp->legacy( 'tools/call', { %call, _meta => { progressToken => 5 } }, at => $name, version => '2025-11-25' );
@seen  = @{ events($whole) };
is_deeply( [ map { $_->{params}{progressToken} } @seen ], [ 5, 5, 5, undef ], 'an older client, and an older upstream' )
  or diag $whole->text;
is_deeply( $seen[-1]{result}, $said, '... with the answer of its revision' );
is_deeply(
    $json->decode( ( $peer->requests("/$name") )[-1]{body} )->{params}, { %call, _meta => { progressToken => 1 } },
    '... which gets the token alone' );

# ---- a read and a get

sub reads {
    my ( $method, $params, $result ) = @_;
    my $at = 'reads' . ++$count;
    $peer->set(
        "/$at" => [
            $modern, answer( { tools => [], prompts => [ { name => 'review' } ] } ),
            answer( { prompts => [ { name => 'review' } ] } ), $modern,
            stream( $steps[0], event( { id => 1, result => $result } ) ) ] );
    $mcp->resource(
        $at, upstreamType => 'MCP', upstreamUrl => $peer->url("/$at"), mcpResources => 'live',
        mcpPrompts => 'pinned' );
    is( $stack->admin( POST => "/admin/api/managed-resources/$at/sync" )->status, 200, "$at is synced" );
    my $answered =
      $mcp->legacy( $method, { %$params, _meta => { progressToken => 'r' } }, at => $at, version => '2025-11-25' );
    my @events = @{ events($answered) };
    is_deeply(
        [ $events[0]{params}{progressToken}, $events[-1]{result} ], [ 'r', $result ],
        "$method has progress, and its answer" ) or diag $answered->text;
    return;
}
reads( 'resources/read', { uri  => 'file:///a' }, { contents => [ { uri => 'file:///a', text => 'a' } ] } );
reads( 'prompts/get',    { name => 'review' },    { messages => [] } );

# ---- cancellation: an older upstream is told, a closed connection says nothing there (MCP 2025-11-25, transports)

sub cancelled {
    my ($at) = @_;
    return scalar grep { $_->{body} =~ m{"notifications/cancelled"} } $peer->requests("/$at");
}
my $silent = { type => 'text/event-stream', body => $steps[0] . $end, stall => length $steps[0] };
$name = upstream( $silent, @hello );
$mcp->legacy( 'tools/call', \%call, at => $name, version => '2025-11-25' );
is( cancelled($name), 1, 'an older upstream that is silent for too long gets notifications/cancelled' );
is_deeply(
    $json->decode( ( $peer->requests("/$name") )[-1]{body} ),
    { jsonrpc => '2.0', method => 'notifications/cancelled', params => { requestId => 1 } },
    '... for our request' );
$name = upstream($silent);
$mcp->legacy( 'tools/call', \%call, at => $name, version => '2025-11-25' );
is( cancelled($name), 0, '... a modern one does not: the connection is closed' );

# ---- in time

# The upstream waits for another request before it answers: it is sent when the progress has come.
my $body = $steps[0] . $end;
$name = upstream( { type => 'text/event-stream', body => $body, await => [ length $steps[0], 5 ] } );
my $http   = $stack->http;
my $octets = $json->encode(
    { jsonrpc => '2.0', id => 7, method => 'tools/call', params => { %call, _meta => { progressToken => 'now' } } } );
my $sent = $http->begin(
    $http->octets(
        POST    => "/gateway/mcp/$name",
        body    => $octets,
        headers => [
            'Content-Type' => 'application/json',     Accept                 => 'application/json, text/event-stream',
            Authorization  => "Bearer $mcp->{token}", 'MCP-Protocol-Version' => '2025-11-25',
            'X-Forwarded-For' => '127.0.0.1' ] ) );
my $first = '';
while ( $first !~ /"now"/ && sysread $sent, my $piece, 4096 ) { $first .= $piece }
like( $first, qr/"now"/, 'progress comes before the answer' );
unlike( $first, qr/done/, '... which is not there yet' );
Authz::Client->new( port => $peer->port )->get("/$name");
while ( $first !~ /done/ && sysread $sent, my $piece, 4096 ) { $first .= $piece }
like( $first, qr/done/, '... and ends the stream' );

# ---- nothing without an audit row

my $gateway = Authz::Managed->new($stack);
$gateway->resource( 'plain', upstreamUrl => $peer->url, routes => [ { id => 'all', path => '/**' } ] );
$peer->set( '/text' => { type => 'text/plain', chunked => 1, body => 'of the upstream' } );
my $proxied = $gateway->ask( GET => 'plain', '/text' );
like( $proxied->text, qr{of the upstream\z}, 'a streamed answer of the proxy' ) or diag $proxied->status;
$name = upstream( stream( @steps, $end ) );
$stack->sql(q{ALTER TABLE audit_log ADD CONSTRAINT no_more CHECK (endpoint NOT LIKE '/gateway/%') NOT VALID});
$proxied = $gateway->ask( GET => 'plain', '/text' );
cmp_ok( $proxied->status, '>=', 500, 'without its audit row it fails' );
unlike( $proxied->text // '', qr/of the upstream/, '... and nothing of the upstream is sent' );
$whole = call( $name, 'mine' );
unlike( $whole->text // '', qr/done/, 'a call whose stream has begun is cut off before its answer' );
$stack->sql(q{ALTER TABLE audit_log DROP CONSTRAINT no_more});
done_testing;
