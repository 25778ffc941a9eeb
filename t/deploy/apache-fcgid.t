# Apache mod_fcgid, which starts the workers: etc/apache/authz-fcgid.conf (gateway-admin.md 7.2).
use strict;
use warnings;

use Authz::Deploy ();

Authz::Deploy->check('apache-fcgid');
