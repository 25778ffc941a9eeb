# HAProxy asks /auth/check about each request, by contrib/examples/doors/haproxy.cfg and haproxy.lua (gateway-admin.md 1.8,
# doc/behind-your-proxy.md).
use strict;
use warnings;

use Test::More;

use Authz::Door    ();
use Authz::Path    ();
use Authz::Process ();
use Authz::Web     ();

my $haproxy = Authz::Path::door('haproxy') // plan skip_all => 'needs haproxy';
my $door    = Authz::Door->start('haproxy');
my $lua     = Authz::Path::source(qw(contrib examples doors haproxy.lua));
my $file    = Authz::Web::write_file(
    Authz::Process::directory() . '/haproxy.cfg',
    Authz::Web::edit(
        Authz::Path::source(qw(contrib examples doors haproxy.cfg)),
        qr{(?<=lua-load )/etc/haproxy/haproxy\.lua} => $lua,
        qr{127\.0\.0\.1:8080}                       => '127.0.0.1:' . $door->stack->{port},
        qr{127\.0\.0\.1:3000}                       => '127.0.0.1:' . $door->api->port,
        qr{bind :8443}                              => 'bind 127.0.0.1:' . $door->port,
        qr{aGFwcm94eTpzZWNyZXQ=}                    => $door->credential,
        qr{(?<=AUTHZ_SCHEME )https}                 => 'http' ) );
my ( $status, $said ) = Authz::Process->run( name => 'haproxy-c', command => [ $haproxy, '-c', '-f', $file ] );
is( $status, 0, 'haproxy -c says that the example is good' ) or diag $said;
$door->run( 'haproxy', $haproxy, '-db', '-f', $file );
$door->serves;
my @other = qw(X.HTTP.Method.Override X~Method-Override X.Original-URL X.Forwarded.Method X.Authz.Subject);
$door->ask( GET => '/api/orders/7', $door->bearer, map { ( $_ => 'root' ) } @other );
my $head = ( $door->api->requests('/api/orders/7') )[-1]{head};
unlike( $head, qr/^\Q$_\E:/im, "the API does not get $_" ) for @other;
$door->turns_away;
$door->withstands;
$door->fails_closed(503);
done_testing;
