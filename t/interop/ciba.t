# The strict client `oauth4webapi` does a backchannel authentication in poll mode (OpenID Connect CIBA Core 1.0); the person
# answers on the page /authorize/ciba.
use strict;
use warnings;

use Test::More;

use Authz::Ciba    ();
use Authz::Grant   ();
use Authz::Interop ();
use Authz::Stack   ();

Authz::Interop::need();

my $stack = Authz::Stack->start( settings => { SVC_OAUTH_TIMING_CIBA_INTERVAL_SECONDS => 1 } );
my @secret =
  $stack->make_client( 'till', { grants => [ $Authz::Ciba::GRANT, 'refresh_token' ], scopes => ['openid'] } );
Authz::Grant->people($stack);
my $browser = Authz::Ciba::sign_in( $stack, 'alice', acr => 'urn:loa:2', amr => ['pwd'] );
Authz::Interop::tests(
    'ciba',
    ISSUER => $stack->base, CLIENT_ID => $secret[0], CLIENT_SECRET => $secret[1],
    COOKIE => 'svc_sid=' . $browser->cookie( $stack->base, 'svc_sid' )->{value} );
done_testing;
