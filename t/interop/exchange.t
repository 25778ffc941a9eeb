# Token exchange by a client we did not write, oauth4webapi, and with ID tokens that jose made, good and hostile (RFC 8693;
# specification 7.1; RFC 8725).
use strict;
use warnings;

use Test::More;

use Authz::Interop ();
use Authz::Stack   ();
use Authz::Web     ();

Authz::Interop::need();

my $port  = Authz::Web::free_port();
my $stack = Authz::Stack->start( settings => { SVC_SAFE_HTTP_ALLOW_INSECURE_LOCALHOST => 'true' } );
$stack->patch_row( 'svc.operator.controls.trust', { trusted_issuers => ["http://127.0.0.1:$port"] } );
my @web  = $stack->make_client( 'web', { grants => ['client_credentials'], scopes => [qw(orders.read orders.write)] } );
my @gate = $stack->make_client(
    'gate',
    {   grants    => ['urn:ietf:params:oauth:grant-type:token-exchange'],
        scopes    => [qw(orders.read orders.write)],
        endpoints => ['introspect'] } );
Authz::Interop::tests(
    'exchange', ISSUER => $stack->base, PORT => $port, WEB => "@web" =~ tr/ /:/r,
    GATE => "@gate" =~ tr/ /:/r );
done_testing;
