# An issuer with a path, https://host/auth, behind the daemon: the web servers' configurations with authz_path changed
# (architecture.md 3).
use strict;
use warnings;

use Test::More;

use Authz::Deploy ();

my $first = Authz::Deploy->check_prefix('lighttpd');
for my $web (qw(lighttpd-spawn lighttpd-cgi apache apache-fcgid apache-cgi)) {
    subtest $web => sub { Authz::Deploy->check_prefix( $web, $first )->{stack}{server}->stop };
}
$first->end;
