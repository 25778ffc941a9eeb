# Tabs of one real browser that sign in at once, and a callback that is loaded again (world.md F1, F2).
use strict;
use warnings;

use Authz::Idp   ();
use Authz::Node  ();
use Authz::Stack ();

my $why = Authz::Node::missing( browser => 1 );
if ( defined $why ) {
    print "1..0 # SKIP $why\n";
    exit 0;
}
my $idp   = Authz::Idp->start;
my $stack = Authz::Stack->start( settings => { Authz::Idp->settings } );
$idp->register($stack);
$stack->make_client(
    'crm', { grants => ['authorization_code'], scopes => [qw(openid email)] },
    clientType => 'public', redirectUris => ['http://127.0.0.1/cb'] );
Authz::Node::run_tap( [ Authz::Node::command( 'pages', 'tabs.mjs' ) ], AUTHZ_BASE => $stack->base );
