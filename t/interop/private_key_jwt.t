# Client assertions of libraries that we did not write (RFC 7523; oauth.md J1 to J7): oauth4webapi and openid-client.
use strict;
use warnings;

use File::Copy ();
use Test::More;

use Authz::Interop ();
use Authz::Jwt     ();
use Authz::Process ();
use Authz::Stack   ();

Authz::Interop::need();

my $stack = Authz::Stack->start;
my %key   = map { ( $_->[0] => Authz::Jwt->key( $_->[1], kid => $_->[0] ) ) } [ rsa => 'RS256' ], [ ec => 'ES256' ],
  [ ed => 'EdDSA' ];
my $dir = Authz::Process::directory() . '/pem';
mkdir $dir, 0700 or die "$dir: $!";
File::Copy::copy( $key{$_}->file, "$dir/$_.pem" ) or die "$_: $!" for keys %key;
$stack->make_client(
    'app',
    { grants => ['client_credentials'], scopes => ['introspection'], endpoints => ['introspect'] },
    tokenEndpointAuthMethod => 'private_key_jwt',
    jwks                    => Authz::Jwt::set( values %key ) );
Authz::Interop::tests( 'private_key_jwt', ISSUER => $stack->base, CLIENT_ID => 'app', KEY_DIR => $dir );

done_testing;
