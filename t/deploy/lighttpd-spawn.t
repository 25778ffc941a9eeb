# lighttpd that starts the workers itself: etc/lighttpd/authz-spawn.conf (gateway-admin.md 7.2).
use strict;
use warnings;

use Authz::Deploy ();

Authz::Deploy->check('lighttpd-spawn');
