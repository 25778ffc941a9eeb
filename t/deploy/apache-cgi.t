# Plain CGI under Apache, mod_cgid: etc/apache/authz-cgi.conf (architecture.md 3).
use strict;
use warnings;

use Authz::Deploy ();

Authz::Deploy->check('apache-cgi');
