# Metadata of the gateway's protected resources (RFC 9728; gateway-admin.md 1.4; decisions.md "Gateway").
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Stack ();

my $stack = Authz::Stack->start;
my $base  = $stack->base;
my $known = '/.well-known/oauth-protected-resource';

for my $resource (
    { name => 'notes', defaultScope => 'notes:read', tools => 1 },
    { name => 'plain', defaultScope => 'plain:read' },
    { name => 'bare' },
    { name => 'off', defaultScope => 'off:read', tools => 1, enabled => 0 } )
{
    my $tools = delete $resource->{tools};
    my $made  = $stack->admin(
        POST => '/admin/api/managed-resources',
        json => {
            %$resource, displayName => ucfirst $resource->{name}, upstreamType => 'STATIC',
            enabled => $resource->{enabled} // 1 ? Authz::Check::true() : Authz::Check::false(),
            routes  => [ { id => 'read', path => '/', response => { status => 200, json => { ok => 1 } } } ],
            $tools ? ( tools => [ { name => 'read', route => 'read', inputSchema => { type => 'object' } } ] ) : () } );
    is( $made->status, 201, "the resource $resource->{name}" ) or diag $made->text;
}
my $remote = $stack->admin(
    POST => '/admin/api/managed-resources',
    json => {
        name => 'remote', displayName => 'Remote', upstreamType => 'MCP', upstreamUrl => 'https://mcp.example/mcp',
        defaultScope => 'remote:use', enabled => Authz::Check::true() } );
is( $remote->status, 201, 'an MCP server' ) or diag $remote->text;

sub document {
    my ( $path, $resource, $scopes, $rule ) = @_;
    my $answer = $stack->http->get("$known$path");
    is( $answer->status, 200, $rule ) or diag $answer->text;
    like( $answer->header('Content-Type'), qr{\Aapplication/json\b}, '... application/json (RFC 9728 3.2)' );
    is( $answer->header('Access-Control-Allow-Origin'), '*', '... any page may read it (gateway-admin.md 1.3)' );
    my $document = $answer->json;
    is( $document->{resource}, "$base$resource", '... its resource is the address itself (RFC 9728 3.3)' );
    is_deeply( $document->{authorization_servers},             [$base],           '... the issuer, octet for octet' );
    is_deeply( $document->{bearer_methods_supported},          ['header'],        '... tokens in the header alone' );
    is_deeply( $document->{scopes_supported},                  $scopes,           '... its scopes' );
    is_deeply( $document->{dpop_signing_alg_values_supported}, [qw(ES256 RS256)], '... the algorithms of DPoP proofs' );
    return $document;
}

my $all  = [qw(mcp notes:read)];
my $root = document( '', '/gateway/mcp', $all, 'the root: the document of /gateway/mcp' );
is_deeply( document( '/gateway/mcp', '/gateway/mcp', $all, 'the form with the path' ), $root, '... the same document' );
document( '/gateway/mcp/notes',  '/gateway/mcp/notes',  ['notes:read'], 'a resource at the MCP endpoint' );
document( '/gateway/notes',      '/gateway/notes',      ['notes:read'], '... and at the proxy' );
document( '/gateway/bare',       '/gateway/bare',       ['mcp'],        'a resource without a default scope' );
document( '/gateway/mcp/remote', '/gateway/mcp/remote', ['remote:use'], 'an MCP server' );

# Stock clients and people write a slash behind the address of an MCP server (G4): the same document, which names none.
is_deeply(
    document( '/gateway/mcp/', '/gateway/mcp', $all, 'G4 own_slash: with a slash at the end' ), $root,
    '... the same document' );
document( '/gateway/mcp/notes/', '/gateway/mcp/notes', ['notes:read'], 'G4: ... behind a resource' );
ok( !grep( {/offline/} @{ $root->{scopes_supported} } ), 'no offline_access (MCP authorization)' );

my %none = (
    '/gateway/mcp/nothing' => 'an unknown resource',
    '/gateway/nothing'     => '... at the proxy',
    '/gateway/mcp/off'     => 'a disabled resource',
    '/gateway/off'         => '... at the proxy',
    '/gateway/remote'      => 'an MCP server at the proxy',
    '/gateway'             => 'the gateway itself',
    '/gateway/'            => '... with a slash',
    '/gateway/mcp//'       => 'an empty name',
    '/gateway/mcp/notes//' => 'two slashes behind a resource',
    '/gateway/mcp/notes/x' => 'a path below a resource',
    '/gateway/notes/'      => '... only a slash',
    '/gateway/Notes'       => 'another spelling',
    '/gateway/link'        => 'a path that is no resource',
    '/gateway/%22x'        => 'a name that no resource can have',
    '/mcp'                 => 'a resource of another server',
);
for my $path ( sort keys %none ) {
    my $answer = $stack->http->get("$known$path");
    is( $answer->status, 404, "404: $none{$path} ($path)" );
}
is( $stack->http->post("$known/gateway/mcp")->status, 405, 'the documents are read only' );

# ---- the gateway is off

my $off =
  Authz::Stack->start( beside => $stack, settings => { SVC_GATEWAY_ENABLED => 'false', SVC_OIDC_ISSUER => $base } );
my $bare = $off->http->get($known);
is( $bare->status,           200,                 'off: the root is there (specification 4.1)' );
is( $bare->json->{resource}, "$base/gateway/mcp", '... with the same resource' );
is_deeply( $bare->json->{scopes_supported}, ['mcp'], '... and the base scope alone' );
is( $off->http->get("$known$_")->status, 404, "off: $_ is 404 (decisions.md \"Gateway\")" )
  for qw(/gateway/mcp /gateway/mcp/notes /gateway/notes /gateway/nothing);
is( $off->http->post("$known/gateway/mcp")->status,                 404, 'off: another method is 404 too, not 405' );
is( $off->http->request( OPTIONS => "$known/gateway/mcp" )->status, 404, '... and a preflight' );

# ---- below a path

my $below  = Authz::Stack->start( beside => $stack, path => '/auth' );
my $issuer = $below->base . '/auth';
my $there  = $below->http->get("$known/auth/gateway/mcp");
is( $there->status, 200, 'an issuer with a path: it stands after the well-known name (RFC 9728 3.1)' )
  or diag $there->text;
is( $there->json->{resource}, "$issuer/gateway/mcp", '... and in the resource' );

done_testing;
