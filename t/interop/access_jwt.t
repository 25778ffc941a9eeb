# JWT access tokens by verifiers that we did not write (RFC 9068 4; world.md T2): oauth4webapi and jose, with the key set alone.
use strict;
use warnings;

use Test::More;

use Authz::Interop ();
use Authz::Stack   ();

Authz::Interop::need();

my $stack = Authz::Stack->start;
my %resource =
  ( AUDIENCE => 'https://api.example/orders', RSA => 'https://rsa.example', OTHER => 'https://other.example' );
$stack->patch_row(
    'svc.registry.jwt_resources',
    { $resource{AUDIENCE} => {}, $resource{RSA} => { alg => 'RS256' } } );
my ( $id, $secret ) = $stack->make_client(
    'app',
    { grants => ['client_credentials'], scopes => ['orders.read'], resources => [ values %resource ] } );
Authz::Interop::tests( 'access_jwt', ISSUER => $stack->base, CLIENT_ID => $id, CLIENT_SECRET => $secret, %resource );

done_testing;
