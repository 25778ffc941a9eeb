package Authz::Portal;

# The console of etc/portal behind a web server: its shipped settings, with a directory that is filled as `make install` does.

use strict;
use warnings;

use Authz::Path    ();
use Authz::Process ();
use Authz::Web     ();

# Install the console of FROM (default: the source); return its directory.
sub install {
    my ( $to, $from ) = @_;
    my $program = Authz::Path::source(qw(build-aux portal-install));
    system( $program, $from // Authz::Path::source( 'etc', 'portal' ), $to, '1.2.3' ) == 0 or die "$program failed\n";
    return $to;
}

# Return the settings that a server reads after authz.conf.
sub settings {
    my ($server) = @_;
    my $file     = Authz::Path::source( 'etc', $server, 'authz-portal.conf' );
    my $from     = Authz::Process::directory() . "/portal-$server";
    install($from);
    return "\n" . Authz::Web::edit( $file, qr{"/usr/share/authz/portal"} => qq{"$from"} );
}

1;
