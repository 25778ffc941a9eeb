# lighttpd asks by the FastCGI role of an authorizer about each request, by contrib/examples/doors/lighttpd.conf (gateway-admin.md 1.8,
# doc/behind-your-proxy.md).
use strict;
use warnings;

use Test::More;

use Authz::Door       ();
use Authz::FastCgiApi ();
use Authz::Path       ();
use Authz::Process    ();
use Authz::Web        ();

my $door = Authz::Door->start(
    'lighttpd', api => Authz::FastCgiApi->start,
    settings => { SVC_CHECK_SOCKET_CLIENT => 'lighttpd' } );
my $file = Authz::Web::write_file(
    Authz::Process::directory() . '/door.conf',
    Authz::Web::edit(
        Authz::Path::source(qw(contrib examples doors lighttpd.conf)),
        qr{server\.bind = "0\.0\.0\.0"} => 'server.bind = "127.0.0.1"',
        qr{server\.port = 8443}         => 'server.port = ' . $door->port,
        qr{/run/authz/core\.sock}       => $door->stack->{dir} . '/core.sock',
        qr{"port" => 3000}              => '"port" => ' . $door->api->port ) );
my ( $status, $said ) =
  Authz::Process->run( name => 'lighttpd-tt', command => [ Authz::Path::lighttpd(), '-tt', '-f', $file ] );
is( $status, 0, 'lighttpd -tt says that the example is good' ) or diag $said;
$door->run( 'lighttpd', Authz::Path::lighttpd(), '-D', '-f', $file );
$door->serves;
$door->turns_away;
$door->withstands;
is( $door->stack->sql(
        q{SELECT DISTINCT request_summary::jsonb->>'shape' FROM audit_log WHERE endpoint = '/auth/check'}),
    'authorizer',
    'the audit rows say how it was asked' );

# lighttpd names a variable with an underscore for each character that is no letter and no digit, so it cannot empty them all.
my $hits = $door->api->hits;
for my $name (
    'X.HTTP.Method.Override', 'X-HTTP~Method',   "X'Method-Override", 'X.Original-URL',    'X-Rewrite.URL',
    'X.Forwarded.Method',     'X.Forwarded-Uri', 'X.Forwarded.Host',  'X.Forwarded.Proto', 'X.Forwarded.For' )
{
    is( $door->ask( GET => '/api/orders/7', $door->bearer, $name => '/other' )->status, 403, "refused: $name" );
}
is( $door->api->hits, $hits, '... and nothing of these reached the API' )
  or diag explain [ map { $_->{head} } ( $door->api->requests )[ -3 .. -1 ] ];

# Any target is a question, also one that a row of ours answers: its 200 would let the request through.
for my $target ( '/health', '/.well-known/openid-configuration', '/auth/check' ) {
    isnt( $door->ask( GET => $target, $door->bearer )->status, 200, "refused: $target" );
}
$door->stack->restart_service( settings => { SVC_CHECK_SOCKET_CLIENT => '' } );
is( $door->ask( GET => '/api/orders/7', $door->bearer )->status, 403,
    'without SVC_CHECK_SOCKET_CLIENT a socket is no credential' );
$door->stack->restart_service( settings => { SVC_CHECK_SOCKET_CLIENT => 'unknown' } );
is( $door->ask( GET => '/api/orders/7', $door->bearer )->status, 403, '... nor for a client that does not exist' );
$door->stack->restart_service( settings => { SVC_CHECK_SOCKET_CLIENT => 'app' } );
is( $door->ask( GET => '/api/orders/7', $door->bearer )->status, 403, '... or is not entitled' );
$door->stack->restart_service( settings => { SVC_CHECK_SOCKET_CLIENT => 'lighttpd', SVC_GATEWAY_ENABLED => 'false' } );
isnt( $door->ask( GET => '/api/orders/7', $door->bearer )->status, 200, 'while the gateway is off nothing is served' );
$door->fails_closed(503);
done_testing;
