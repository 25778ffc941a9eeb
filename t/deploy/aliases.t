# The shipped configuration of lighttpd removes each alias with an underscore of each header that the service reads; a header
# that is new in fcgi/ must be in its list (gateway-admin.md 7.2). That it works is in Authz::Deploy::Alias.
use strict;
use warnings;

use Test::More;

use Authz::Deploy::Alias qw(aliases_of headers_read);
use Authz::Path          ();
use Authz::Web           ();

my @read = headers_read();
ok( scalar( grep { $_ eq "X_ADMIN_API_KEY" } @read ), "the sources are found: they read HTTP_X_ADMIN_API_KEY" );

my $text = Authz::Web::edit( Authz::Path::source(qw(etc lighttpd authz-limits.conf)) );
my %listed =
  map { ( lc $_ => 1 ) } $text =~ /^setenv[.]set-request-header = \((.*?)\)$/ms ? $1 =~ /"([^"]+)" => ""/g : ();
for my $variable (@read) {
    ok( $listed{ lc $_ }, "lighttpd: the alias $_ is removed" ) for aliases_of($variable);
}
for my $file (qw(authz.conf authz-spawn.conf authz-cgi.conf)) {
    like(
        Authz::Web::edit( Authz::Path::source( qw(etc lighttpd), $file ) ),
        qr/^include "authz-limits[.]conf"$/m, "lighttpd: $file includes the list" );
}

done_testing;
