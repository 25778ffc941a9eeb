# Plain CGI under lighttpd: etc/lighttpd/authz-cgi.conf (architecture.md 3).
use strict;
use warnings;

use Authz::Deploy ();

Authz::Deploy->check('lighttpd-cgi');
