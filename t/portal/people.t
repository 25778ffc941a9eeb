# The console with what an installation has after a month: lists of what people hold and grant, changes by administrators, and the
# figures of the first data (gateway-admin.md 7.5).
use strict;
use warnings;

use Authz::Filled ();
use Authz::Node   ();
use Authz::Path   ();
use Authz::Portal ();
use Authz::Stack  ();

my $why = Authz::Node::missing( browser => 1 );
if ( defined $why ) {
    print "1..0 # SKIP $why\n";
    exit 0;
}
my $stack = Authz::Stack->start(
    gateway  => 1,
    settings => { SVC_OPA_BINARY => Authz::Path::opa() },
    web_more => Authz::Portal::settings('lighttpd') );
Authz::Filled::fill($stack);

# The next signing key may sign once its publication has reached the verifiers.
$stack->sql(q{UPDATE signing_key SET created_at = created_at - interval '1 day'});
my $key = $stack->admin( POST => '/admin/api/admin-keys', json => { label => 'mira', role => 'owner' } )->member('key');
Authz::Node::run_tap(
    [ Authz::Node::command( 'portal', 'people.mjs' ) ],
    AUTHZ_BASE => $stack->settings->{SVC_OIDC_ISSUER}, AUTHZ_KEY => $key );
