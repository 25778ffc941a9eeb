# The approval of a CIBA request in a real browser, by keyboard alone: sign-in, list, request, Approve and Deny
# (gateway-admin.md 4.2, channel B). A step that a page's own Content-Security-Policy forbids would fail.
use strict;
use warnings;

use Authz::Browser ();
use Authz::Ciba    ();
use Authz::Idp     ();
use Authz::Node    ();
use Authz::Stack   ();

my $why = Authz::Node::missing( browser => 1 );
if ( defined $why ) {
    print "1..0 # SKIP $why\n";
    exit 0;
}
my $stack = Authz::Stack->start( settings => { Authz::Idp->settings } );
my $idp   = Authz::Idp->start;
$idp->register( $stack, idpId => 'corp', name => 'The corp accounts' );
my %may = (
    grants    => [$Authz::Ciba::GRANT], scopes => [ 'openid', 'orders.read' ],
    resources => ['https://api.example/orders'] );
my @till = $stack->make_client( 'till', {%may}, clientName => 'The till', clientUri => 'https://till.example' );

# Ann has signed in before.
my $ann = Authz::Browser->new;
$ann->follow( $stack->base . '/authorize/ciba' );

my @id = map {
    Authz::Ciba::id_of(
        $stack, \@till, login_hint => 'ann', scope => 'openid orders.read', binding_message => $_,
        resource => 'https://api.example/orders' )
} 'W4SCT', 'K9XPZ';
Authz::Node::run_tap(
    [ Authz::Node::command( 'pages', 'ciba.mjs' ) ],
    AUTHZ_BASE   => $stack->base, AUTHZ_TILL => join( ':', @till ), AUTHZ_FIRST => $id[0],
    AUTHZ_SECOND => $id[1],       Authz::Node::tls() );
