# The reader at /swagger-ui/ in a real browser: it shows every operation, sends requests, keeps no secret, and works under its
# Content-Security-Policy (gateway-admin.md 7.1).
use strict;
use warnings;

use Authz::Node  ();
use Authz::Stack ();

my $why = Authz::Node::missing( browser => 1 );
if ( defined $why ) {
    print "1..0 # SKIP $why\n";
    exit 0;
}

# Below a path: the addresses of the page are relative.
my $stack = Authz::Stack->start( path => '/auth' );
my ( $id, $secret ) = $stack->make_client(
    'crm:1', { grants => ['client_credentials'], scopes => ['crm.read'] },
    clientName => '<img src=x onerror=alert(1)>' );
$stack->make_client('a/b c');
Authz::Node::run_tap(
    [ Authz::Node::command( 'pages', 'reader.mjs' ) ],
    AUTHZ_BASE   => $stack->settings->{SVC_OIDC_ISSUER}, AUTHZ_ADMIN_KEY => $stack->settings->{SVC_ADMIN_API_KEY},
    AUTHZ_CLIENT => $id,                                 AUTHZ_SECRET    => $secret );
