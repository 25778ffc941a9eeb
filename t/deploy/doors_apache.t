# Apache asks by the FastCGI role of an authorizer about each request, by contrib/examples/doors/apache.conf (gateway-admin.md 1.8,
# doc/behind-your-proxy.md).
use strict;
use warnings;

use Test::More;

use Authz::Door    ();
use Authz::Path    ();
use Authz::Process ();
use Authz::Web     ();

my $apache  = Authz::Path::apache()         // plan skip_all => 'needs Apache';
my $modules = Authz::Path::apache_modules() // plan skip_all => 'needs the modules of Apache';
my $door    = Authz::Door->start( 'apache', aliases => 0 );
my $dir     = Authz::Process::directory();
my $port    = $door->port;
my @load    = map {"LoadModule ${_}_module $modules/mod_$_.so"}
  qw(mpm_event authz_core authn_core authz_user authnz_fcgi setenvif env headers proxy proxy_http);
my $file = Authz::Web::write_file(
    "$dir/door.conf",
    join "\n",
    @load,
    "ServerRoot $dir", "ServerName localhost", "PidFile $dir/door.pid", "DefaultRuntimeDir $dir",
    "Mutex file:$dir default",
    "ErrorLog $dir/door.log",
    ( $> == 0 ? "User www-data\nGroup www-data" : '' ),
    Authz::Web::edit(
        Authz::Path::source(qw(contrib examples doors apache.conf)),
        qr{fcgi://127\.0\.0\.1:9000/} => 'fcgi://127.0.0.1:' . $door->tcp_port . '/',
        qr{Listen 8443}               => "Listen 127.0.0.1:$port",
        qr{VirtualHost \*:8443}       => "VirtualHost 127.0.0.1:$port",
        qr{ServerName shop\.example}  => 'ServerName 127.0.0.1',
        qr{http://127\.0\.0\.1:3000}  => 'http://127.0.0.1:' . $door->api->port,
        qr{YXBhY2hlOnNlY3JldA==}      => $door->credential ) );
my ( $status, $said ) = Authz::Process->run( name => 'apache-t', command => [ $apache, '-t', '-f', $file ] );
is( $status, 0, 'apache2 -t says that the example is good' ) or diag $said;
$door->run( 'apache', $apache, '-D', 'FOREGROUND', '-f', $file );
$door->serves;
$door->turns_away;
$door->withstands;
$door->fails_closed(500);
done_testing;
