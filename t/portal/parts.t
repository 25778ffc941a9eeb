# The parts of the console that are functions alone, in Node.js without a browser (gateway-admin.md 7.5).
use strict;
use warnings;

use Authz::Node ();
use Authz::Path ();

my $why = Authz::Node::missing();
if ( defined $why ) {
    print "1..0 # SKIP $why\n";
    exit 0;
}
Authz::Node::run_tap(
    [ Authz::Node::command( 'portal', 'parts.mjs' ) ],
    AUTHZ_PORTAL => Authz::Path::source( 'etc', 'portal', 'js' ) );
