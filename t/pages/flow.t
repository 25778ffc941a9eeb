# A user's way through the service in a real browser, by keyboard alone: chooser, identity provider, consent, client,
# logout (decisions.md "Browser side"; oauth.md 3.2 and 5). A step that a page's own Content-Security-Policy forbids
# would fail.
use strict;
use warnings;

use Authz::Idp     ();
use Authz::Node    ();
use Authz::Process ();
use Authz::Stack   ();

my $why = Authz::Node::missing( browser => 1 );
if ( defined $why ) {
    print "1..0 # SKIP $why\n";
    exit 0;
}
my $stack = Authz::Stack->start( settings => { Authz::Idp->settings } );
my %idp   = map { ( $_ => Authz::Idp->start ) } qw(corp partner);
$idp{$_}->register( $stack, idpId => $_, name => "The $_ accounts" ) for sort keys %idp;

# The logo of one provider: 8 by 8 pixels of one colour.
my $corp = $stack->admin( GET => '/admin/api/identity-providers/corp' )->json;
$corp->{logo} =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR42mPoErXAihiGlgQAFYM1wcsIRvgAAAAASUVORK5CYII=';
$stack->admin( PUT => '/admin/api/identity-providers/corp', json => $corp );
my %back = ( wiki => 'https://app.example/cb', tool => 'http://127.0.0.1:1/cb' );
for my $id ( sort keys %back ) {
    $stack->make_client(
        $id, undef, clientName => "The $id", clientType => 'public', redirectUris => [ $back{$id} ],
        $id eq 'wiki' ? ( postLogoutRedirectUris => ['https://app.example/bye'] ) : () );
    $stack->sql("UPDATE client SET registration_type = 'DCR' WHERE client_id = '$id'");
}
Authz::Node::run_tap(
    [ Authz::Node::command( 'pages', 'flow.mjs' ) ],
    AUTHZ_BASE => $stack->base, Authz::Node::tls() );
