# The strict client oauth4webapi with authorization_details (RFC 9396) and resource (RFC 8707), against the whole service with
# npm `oidc-provider` as the upstream identity provider.
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Interop ();
use Authz::Stack   ();

Authz::Interop::need();

my $stack = Authz::Stack->start( settings => { SVC_SAFE_HTTP_ALLOW_INSECURE_LOCALHOST => 'true' } );
Authz::Interop::provider( $stack, qw(openid) );

my $resource = 'https://api.example/payments';
$stack->patch_row(
    'svc.registry.resource_types',
    { rar => { types => { payment => { actions => [ 'initiate', 'status' ], locations => [$resource] }, log => {} } } }
);

# Nobody listens there: the address to which a browser is sent is all that counts.
my $back   = 'http://127.0.0.1:9/callback';
my @secret = $stack->make_client(
    'web',
    {   grants                => [qw(client_credentials authorization_code refresh_token)],
        resources             => [$resource],
        authorization_details => [ 'payment', 'log' ],
        endpoints             => ['introspect'] },
    redirectUris => [$back] );
Authz::Interop::tests(
    'details',
    ISSUER        => $stack->base, REDIRECT_URI => $back, CLIENT_ID => $secret[0],
    CLIENT_SECRET => $secret[1],   RESOURCE     => $resource );

done_testing;
