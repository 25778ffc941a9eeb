# Routes of REST and STATIC resources as MCP resources: lists, templates, reads and completions, each decided as a request of
# the route (gateway-admin.md 1.11).
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
    settings => { SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => 'localhost,127.0.0.1', SVC_GATEWAY_RESPONSE_TIMEOUT => '30s' }
);
my $mcp = Authz::Mcp->new($stack);

sub route {
    my ( $id, $path, %more ) = @_;
    return { id => $id, path => $path, mcpResource => { name => $id }, %more };
}
my $desk = [
    route( about => '/about', response => { status => 200, json => { said => 'about' } } ),
    route(
        picture     => '/picture',
        response    => { status => 200,       base64 => '/wA=',      headers     => { 'Content-Type' => 'image/png' } },
        mcpResource => { name   => 'picture', title  => 'A picture', description => 'Two octets.' } ),
    route( gone => '/gone', response => { status => 410 } ),
    { id => 'hidden', path => '/hidden', response => { status => 200, body => 'not an MCP resource' } } ];
$mcp->resource( 'desk', upstreamType => 'STATIC', routes => $desk );
my @routes = (
    route( issue => '/repos/{owner}/{repo}', obligations => { redact => ['/body/secret'] } ),
    route(
        list  => '/repos', mcpResource => { name => 'list', query => ['state'] },
        query => { allow => [ 'state', 'page' ] } ),
    route( file  => '/files/**', mcpResource => { name => 'file', mimeType => 'text/plain' }, scopes => ['code:read'] ),
    route( plain => '/plain' ) );
my @tools = (
    {   name        => 'issue', route => 'issue', args => { path => [ 'owner', 'repo' ] },
        inputSchema =>
          { type => 'object', properties => { owner => { type => 'string', enum => [ 'ann', 'anton', 'bob' ] } } } } );
my %code = ( upstreamType => 'REST', upstreamUrl => $peer->url('/api'), routes => \@routes, tools => \@tools );
$mcp->resource( 'code', %code );

sub listed {
    my ( $answer, $member ) = @_;
    return [ map { $_->{uri} // $_->{uriTemplate} } @{ ( $mcp->result($answer) // {} )->{$member} // [] } ];
}
sub read_at { my ( $uri, @at ) = @_; return $mcp->modern( 'resources/read', { uri => $uri }, @at ) }
sub contents { my ($answer) = @_; return ( $mcp->result($answer) // {} )->{contents} }

# ---- lists

is_deeply(
    $mcp->result( $mcp->modern( 'server/discover', {}, at => 'desk' ) )->{capabilities},
    {   tools     => { listChanged => JSON::PP::true() },
        resources => { listChanged => JSON::PP::true(), subscribe => JSON::PP::true() }, completions => {} },
    'a route with mcpResource: resources are declared' );
is_deeply(
    $mcp->result( $mcp->modern( 'server/discover', {}, at => 'code' ) )->{capabilities}{resources},
    { listChanged => JSON::PP::true() }, '... those of a REST upstream without subscriptions' );
my $list = $mcp->modern( 'resources/list', {}, at => 'desk' );
is_deeply(
    $mcp->result($list)->{resources},
    [   { uri => 'res://desk/about',   name => 'about' },
        { uri => 'res://desk/picture', name => 'picture', title => 'A picture', description => 'Two octets.' },
        { uri => 'res://desk/gone',    name => 'gone' } ],
    'routes without variables are MCP resources, those that say so alone' ) or diag $list->text;
is_deeply(
    listed( $mcp->modern( 'resources/templates/list', {}, at => 'code' ), 'resourceTemplates' ),
    [ 'res://code/repos/{owner}/{repo}', 'res://code/repos{?state}', 'res://code/files/{+rest}' ],
    'routes with variables are templates' );
is_deeply(
    listed( $mcp->modern( 'resources/list', {}, at => 'code' ), 'resources' ), ['res://code/plain'],
    '... and others are not' );
is_deeply(
    listed( $mcp->modern( 'resources/list', {} ), 'resources' ), ['mcp+code+res://code/plain'],
    'at /gateway/mcp URIs carry the name' );

# ---- reads

is_deeply(
    contents( read_at( 'res://desk/about', at => 'desk' ) ),
    [ { uri => 'res://desk/about', mimeType => 'application/json', text => '{"said":"about"}' } ],
    'a read of a STATIC route' );
is_deeply(
    contents( read_at('mcp+desk+res://desk/about') ),
    [ { uri => 'mcp+desk+res://desk/about', mimeType => 'application/json', text => '{"said":"about"}' } ],
    '... at /gateway/mcp' );
is_deeply(
    contents( read_at( 'res://desk/picture', at => 'desk' ) ),
    [ { uri => 'res://desk/picture', mimeType => 'image/png', blob => '/wA=' } ], '... of octets' );
$peer->set( '/api/repos/ann/one' => { body => { open => 7, secret => 'hush' } } );
my $read = read_at( 'res://code/repos/ann/one', at => 'code' );
is_deeply(
    JSON::PP->new->decode( contents($read)->[0]{text} ), { open => 7 },
    'a read of a REST route is its GET, with its obligations' ) or diag $read->text;
is( ( $peer->requests('/api/repos/ann/one') )[0]{method}, 'GET', '... to the upstream' );
my ($row) =
  @{ $stack->admin( GET => '/admin/api/audit-logs?endpoint=/gateway/mcp/%7Bname%7D&size=1' )->json->{content} };
is_deeply(
    [ @{ $row->{requestSummary} }{qw(resource kind upstream_status)}, exists $row->{requestSummary}{uri_sha256} ],
    [ 'code', 'resource', 200, 1 ], '... and is noted as a read' );
$peer->set( '/api/repos' => { type => 'text/plain', body => 'all' } );
is( contents( read_at( 'res://code/repos?state=open', at => 'code' ) )->[0]{text}, 'all',
    'a parameter of the template' );
is( ( $peer->requests('/api/repos') )[0]{target}, '/api/repos?state=open', '... goes up' );
my $asked = $peer->hits;
for my $case (
    [ desk => 'res://desk/nothing' ], [ desk => 'res://desk/hidden' ], [ desk => 'res://desk/gone' ],
    [ desk => 'res://code/plain' ],   [ desk => 'res://desk' ],        [ desk => 'res://desk/about#a' ],
    [ desk => 'file:///about' ],
    [ desk => 'res://desk/about?x=1' ],         [ desk => 'res://desk/../about' ], [ desk => 'RES://desk/about' ],
    [ code => 'res://code/repos?page=2' ],      [ code => 'res://code/repos?state=a&state=b' ],
    [ code => 'res://code/repos/ann%2Fone/x' ], [ code => 'res://code/repos/ann/%2E%2E' ],
    [ code => 'res://code/repos/%00/x' ],
  )
{
    my ( $at, $uri ) = @$case;
    $read = read_at( $uri, at => $at );
    is( ( $mcp->error($read) // {} )->{code}, -32602, "no resource: $uri" ) or diag $read->text;
}
is( $peer->hits, $asked, '... and the upstream is not asked' );
is( (   $mcp->error(
            $mcp->legacy( 'resources/read', { uri => 'res://desk/gone' }, at => 'desk', version => '2025-11-25' )
        ) // {} )->{code},
    -32002,
    '... for an older client in its code' );
for my $status ( 500, 302, 403 ) {
    $peer->set( '/api/plain' => { status => $status, body => 'of the upstream' } );
    $read = read_at( 'res://code/plain', at => 'code' );
    is( ( $mcp->error($read) // {} )->{code}, 50200, "an upstream that answers $status is an error" )
      or diag $read->text;
    unlike( $read->text, qr/of the upstream/, '... without its text' );
}
for my $case ( [ 4 << 20, 1 ], [ ( 4 << 20 ) + 1, 0 ] ) {
    my ( $octets, $passes ) = @$case;
    $peer->set( '/api/plain' => { type => 'text/plain', body => 'x', pad => $octets - 1 } );
    is( defined contents( read_at( 'res://code/plain', at => 'code' ) ) ? 1 : 0, $passes,
        "contents of $octets octets" );
}
$read = read_at( 'res://code/files/a/b.txt', at => 'code' );
is( $read->status, 403, 'a route that needs another scope' );
like( $read->header('WWW-Authenticate'), qr/scope="mcp code:read"/, '... asks for it' );
$peer->set( '/api/files/a/b.txt' => { type => 'application/x-thing', body => 'said' } );
is_deeply(
    contents( read_at( 'res://code/files/a/b.txt', at => 'code', token => $mcp->token('mcp code:read') ) ),
    [ { uri => 'res://code/files/a/b.txt', mimeType => 'text/plain', text => 'said' } ],
    '... and with it the read goes on, with the type that the route says' );

# ---- completion

sub complete {
    my ( $uri, $name, $value ) = @_;
    return $mcp->modern(
        'completion/complete',
        { ref => { type => 'ref/resource', uri => $uri }, argument => { name => $name, value => $value } },
        at => 'code' );
}
is_deeply(
    $mcp->result( complete( 'res://code/repos/{owner}/{repo}', 'owner', 'an' ) )->{completion},
    { values => [qw(ann anton)], total => 2, hasMore => JSON::PP::false() },
    'a variable is completed by the enum of a tool of the route' );
is_deeply(
    $mcp->result( complete( 'res://code/repos/{owner}/{repo}', 'repo', '' ) )->{completion}{values}, [],
    '... one without an enum by nothing' );
$mcp->resource( 'code', %code, tools => [ { %{ $tools[0] }, enabled => JSON::PP::false() } ] );
is_deeply(
    $mcp->result( complete( 'res://code/repos/{owner}/{repo}', 'owner', 'an' ) )->{completion}{values}, [],
    '... nor by that of a tool that is switched off' );
$mcp->resource( 'code', %code );
for my $uri ( 'res://code/repos/{owner}', 'res://code/plain', 'res://code/repos/ann/one' ) {
    is( ( $mcp->error( complete( $uri, 'owner', '' ) ) // {} )->{code}, -32602, "no template: $uri" );
}

# ---- policy

my $rule = <<'REGO';
package custom.gateway

deny contains "not_ann" if {
	input.action.kind == "resource"
	input.arguments.path.owner == "ann"
}

deny contains "no_about" if input.action.uri == "res://desk/about"

deny contains "no_issue" if {
	input.action.kind == "tool"
	input.action.name == "issue"
}
REGO
is( $mcp->rule($rule)->status, 201, 'a rule about a variable' );
$asked = $peer->hits;
is( $mcp->error( read_at( 'res://code/repos/ann/one', at => 'code' ) )->{message},
    'Denied: not_ann', 'a rule sees the variables of a read' );
is( $peer->hits, $asked, '... which is not sent' );
is_deeply(
    listed( $mcp->modern( 'resources/list', {}, at => 'desk' ), 'resources' ), [qw(res://desk/picture res://desk/gone)],
    'a list hides what a read would deny' );

is_deeply(
    $mcp->result( complete( 'res://code/repos/{owner}/{repo}', 'owner', 'an' ) )->{completion}{values}, [],
    'the enum of a tool that policy hides completes nothing' );

# ---- documents

for my $case (
    [ 'without GET', route( x => '/x', methods => ['POST'] ) ],
    [   'with a parameter that does not pass',
        route( x => '/x', query => { allow => ['a'] }, mcpResource => { name => 'x', query => ['b'] } ) ],
    [ 'with a parameter of other characters', route( x => '/x', mcpResource => { name => 'x', query => ['a}'] } ) ],
    [ 'without a name',                       route( x => '/x', mcpResource => {} ) ],
    [ 'with another member',                  route( x => '/x', mcpResource => { name => 'x', uri => 'x' } ) ],
  )
{
    my ( $what, $bad ) = @$case;
    my $answer = $stack->admin(
        POST => '/admin/api/managed-resources',
        json => { name => 'bad', displayName => 'bad', %code, routes => [$bad], tools => [] } );
    is( $answer->status, 400, "mcpResource $what is refused" ) or diag $answer->text;
}
done_testing;
