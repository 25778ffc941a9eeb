# A web server that passes a body on as it arrives: slow senders occupy the workers for 5 s at most, and a stop signal does not
# cut a body off (performance.md R8; architecture.md 3). The shipped configurations do not; here Apache is told to.
use strict;
use warnings;

use Authz::Deploy ();

Authz::Deploy->check_streams;
