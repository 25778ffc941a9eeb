package Authz::Portal;

# The console of etc/portal behind a web server: its shipped settings with the directory of the source.

use strict;
use warnings;

use Authz::Path ();
use Authz::Web  ();

# Return the settings that a server reads after authz.conf.
sub settings {
    my ($server) = @_;
    my $file     = Authz::Path::source( 'etc', $server, 'authz-portal.conf' );
    my $from     = Authz::Path::source( 'etc', 'portal' );
    return "\n" . Authz::Web::edit( $file, qr{"/usr/share/authz/portal"} => qq{"$from"} );
}

1;
