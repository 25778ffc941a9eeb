# The pages in a real browser: no console message, no horizontal scrolling at 320 px, usable by keyboard, contrast
# in both colour schemes; the consent form's redirect passes the page's own policy (decisions.md "Consent").
use strict;
use warnings;

use Authz::Node ();
use Authz::Path ();

my $why = Authz::Node::missing( browser => 1 );
if ( defined $why ) {
    print "1..0 # SKIP $why\n";
    exit 0;
}
my $render = ( $ENV{AUTHZ_BUILDDIR} // '.' ) . '/t/pages/render';
die "$render is not built: run make check TESTS=\n" if !-x $render;
Authz::Node::run_tap(
    [ Authz::Node::command( 'pages', 'pages.mjs' ) ], AUTHZ_RENDER => $render,
    AUTHZ_SRCDIR => Authz::Path::source(), Authz::Node::tls() );
