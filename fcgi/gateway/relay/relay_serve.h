/* The process that holds streams. */
#ifndef AZ_GATEWAY_RELAY_RELAY_SERVE_H
#define AZ_GATEWAY_RELAY_RELAY_SERVE_H

#include "base/op.h"

/* Seconds after which a relay that ended is started again. */
#define RELAY_SERVE_EVERY 1

/* Hold streams until the process is stopped; then all of them get their last events. The keys and
 * secrets of the process are wiped first, but for the password of the database. */
void relay_serve(struct op *op);

#endif
