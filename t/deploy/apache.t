# Apache mod_proxy_fcgi in front of the daemon with its three pools: etc/apache/authz.conf (gateway-admin.md 7.2).
use strict;
use warnings;

use Authz::Deploy ();

Authz::Deploy->check('apache');
