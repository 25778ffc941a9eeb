# CORS: the endpoints that pages of other origins may call, never with cookies (gateway-admin.md 1.3; oauth.md 3.2:
# never /authorize, never the admin API).
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Stack ();

my $stack = Authz::Stack->start( settings => { SVC_RATE_LIMIT_ENABLED => 'true', SVC_RATE_LIMIT_REQUESTS => 200 } );
my @ask   = (
    Origin                           => 'https://spa.example', 'Access-Control-Request-Method' => 'POST',
    'Access-Control-Request-Headers' => 'authorization, dpop, mcp-protocol-version' );

my %open = (
    '/token' => 'POST', '/revoke' => 'POST', '/register' => 'POST', '/userinfo' => 'GET, POST',
    '/.well-known/openid-configuration' => 'GET', '/.well-known/oauth-authorization-server' => 'GET',
    '/.well-known/jwks.json'            => 'GET', '/.well-known/authzen-configuration'      => 'GET',
);
for my $path ( sort keys %open ) {
    my $answer = $stack->http->request( 'OPTIONS', $path, headers => [@ask] );
    is( $answer->status,                                 204,          "CORS: the preflight of $path is answered" );
    is( $answer->header('Access-Control-Allow-Origin'),  '*',          "CORS: ... for any origin" );
    is( $answer->header('Access-Control-Allow-Methods'), $open{$path}, "CORS: ... with its methods" );
    like(
        lc( $answer->header('Access-Control-Allow-Headers') // '' ),
        qr/authorization.*content-type.*dpop.*mcp-protocol-version/, "CORS: ... and the headers that clients send" );
    is( $answer->header('Access-Control-Allow-Credentials'), undef, "CORS: ... never with cookies (Fetch 3.2.3)" );
    is( $answer->body,                                       '',    "CORS: ... without a body" );
}
for my $path (
    qw(/authorize /authorize/callback/x /authorize/consent /logout /introspect /access/v1/evaluation /health/live),
    '/admin/api/clients', '/bundles/svc', '/nothing' )
{
    my $answer = $stack->http->request( 'OPTIONS', $path, headers => [@ask] );
    ok( $answer->status >= 400, "CORS: the preflight of $path is refused" );
    is( $answer->header('Access-Control-Allow-Origin'), undef,
        "CORS: ... and names no origin (OAuth 2.1 3.1 for /authorize)" );
}

my $refused =
  $stack->http->post( '/token', headers => [ Origin => 'https://spa.example' ], form => [ grant_type => 'nothing' ] );
is( $refused->header('Access-Control-Allow-Origin'), '*', 'CORS: a refusal can be read by the page as well' );
my $userinfo = $stack->http->get( '/userinfo', headers => [ Origin => 'https://spa.example' ] );
is( $userinfo->status, 401, 'CORS: /userinfo without a token is 401' );
like(
    $userinfo->header('Access-Control-Expose-Headers') // '', qr/WWW-Authenticate/,
    'CORS: ... and the page may read the challenge' );
is( $stack->http->request( 'OPTIONS', '/token' )->status, 204,
    'CORS: OPTIONS without the headers of a browser is harmless' );

# A preflight is not a request that counts: the page would use up its limit twice as fast.
my @limit = map { $stack->http->request( 'OPTIONS', '/token', headers => [@ask] )->status } 1 .. 220;
is( scalar( grep { $_ != 204 } @limit ), 0, 'CORS: preflights are not counted by the rate limit' );

# Looking ahead changes nothing: HEAD is answered only where GET does nothing.
is( $stack->http->request( 'HEAD', '/.well-known/jwks.json' )->status, 200,
    'HEAD: answered like GET (RFC 9110 9.3.2)' );
is( $stack->http->request( 'HEAD', $_ )->status, 405,
    "HEAD: $_ is 405, so that a preview uses up neither sign-in nor code"
) for '/authorize?client_id=x', '/authorize/callback/x?state=y', '/logout';

done_testing;
