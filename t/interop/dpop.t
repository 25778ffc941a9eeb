# DPoP with clients and a resource server of others (RFC 9449): oauth4webapi with and without nonces, hostile proofs by jose, and a
# Node.js resource server that checks bound tokens by introspection.
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Interop ();
use Authz::Stack   ();
use Authz::Web     ();

Authz::Interop::need();

for my $nonces (qw(false true)) {
    my $stack = Authz::Stack->start(
        settings => { SVC_SAFE_HTTP_ALLOW_INSECURE_LOCALHOST => 'true', SVC_DPOP_NONCE_ENABLED => $nonces } );
    Authz::Interop::provider( $stack, qw(openid profile email) );
    my @rs       = $stack->make_client( 'rs', { grants => ['client_credentials'], endpoints => ['introspect'] } );
    my $resource = Authz::Web::free_port();
    Authz::Interop::serve(
        'bound_resource', PORT => $resource, ISSUER => $stack->base,
        CLIENT_ID => $rs[0], CLIENT_SECRET => $rs[1] );
    Authz::Interop::tests(
        'dpop', ISSUER => $stack->base, REDIRECT_URI => 'http://127.0.0.1:9/callback',
        RESOURCE => "http://127.0.0.1:$resource", NONCES => $nonces, CLIENT_ID => $rs[0], CLIENT_SECRET => $rs[1] );
}

done_testing;
