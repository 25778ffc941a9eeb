# The console in a real browser: sign-in, roles, the story of a client from its making to a rollback, keyboard, hostile texts,
# sizes, colour schemes and axe-core, under its Content-Security-Policy (gateway-admin.md 7.5).
use strict;
use warnings;

use JSON::PP ();

use Authz::Node   ();
use Authz::Path   ();
use Authz::Portal ();
use Authz::Stack  ();

my $why = Authz::Node::missing( browser => 1 );
if ( defined $why ) {
    print "1..0 # SKIP $why\n";
    exit 0;
}

# Below a path: the addresses of the page are relative.
my $stack = Authz::Stack->start(
    path     => '/auth', settings => { SVC_OPA_BINARY => Authz::Path::opa() },
    web_more => Authz::Portal::settings('lighttpd') );
my ( $id, $secret ) =
  $stack->make_client( 'crm', { grants => ['client_credentials'], scopes => ['crm.read'] }, clientName => 'Customers' );
$stack->make_client( 'evil/a b', undef, clientName => '"><img src=x onerror=alert(1)>' );

# The service refuses such a name; an older row may have one.
$stack->sql(q{UPDATE client SET client_name = client_name || U&'\202Etxt.exe' WHERE client_id = 'evil/a b'});
$stack->token( $id, $secret, scope => 'crm.read' );
$stack->token( $id, $secret, scope => 'crm.admin' );
$stack->admin(
    POST => '/admin/api/managed-resources',
    json => {
        name         => 'stock', displayName => 'Stock', upstreamType => 'STATIC', enabled => JSON::PP::true(),
        defaultScope => 'stock:read',
        routes       => [ { id => 'read', path => '/status', response => { status => 200, json => { ok => 1 } } } ] } );
my %key = map {
    ( "AUTHZ_\U$_" =>
          $stack->admin( POST => '/admin/api/admin-keys', json => { label => "key of $_", role => $_ } )->member('key')
    )
} qw(auditor operator owner);
my $off = Authz::Stack->start(
    beside   => $stack, settings => { SVC_ADMIN_ENABLED => 'false' },
    web_more => Authz::Portal::settings('lighttpd') );
Authz::Node::run_tap(
    [ Authz::Node::command( 'portal', 'console.mjs' ) ],
    AUTHZ_BASE => $stack->settings->{SVC_OIDC_ISSUER}, AUTHZ_OFF => $off->base, AUTHZ_SECRET => $secret, %key );
