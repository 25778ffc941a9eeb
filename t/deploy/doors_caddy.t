# Caddy asks /auth/check about each request, by contrib/examples/doors/Caddyfile (gateway-admin.md 1.8,
# doc/behind-your-proxy.md).
use strict;
use warnings;

use Test::More;

use Authz::Door    ();
use Authz::Path    ();
use Authz::Process ();
use Authz::Web     ();

my $caddy = Authz::Path::door('caddy') // plan skip_all => 'needs caddy';
my $door  = Authz::Door->start('caddy');
my $file  = Authz::Web::write_file(
    Authz::Process::directory() . '/Caddyfile',
    "{\n\tadmin off\n}\n" . Authz::Web::edit(
        Authz::Path::source(qw(contrib examples doors Caddyfile)),
        qr{http://shop\.example:8443} => 'http://127.0.0.1:' . $door->port,
        qr{127\.0\.0\.1:8080}         => '127.0.0.1:' . $door->stack->{port},
        qr{127\.0\.0\.1:3000}         => '127.0.0.1:' . $door->api->port,
        qr{Y2FkZHk6c2VjcmV0}          => $door->credential ) );
local $ENV{XDG_DATA_HOME}   = Authz::Process::directory();
local $ENV{XDG_CONFIG_HOME} = Authz::Process::directory();
my ( $status, $said ) = Authz::Process->run(
    name    => 'caddy-validate',
    command => [ $caddy, 'validate', '--adapter', 'caddyfile', '--config', $file ] );
is( $status, 0, 'caddy validate says that the example is good' ) or diag $said;
$door->run( 'caddy', $caddy, 'run', '--adapter', 'caddyfile', '--config', $file );
$door->serves;
$door->turns_away;
$door->withstands;
$door->fails_closed(502);
done_testing;
