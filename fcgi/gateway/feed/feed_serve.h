/* The process that hears MCP upstreams (gateway-admin.md 1.15). */
#ifndef AZ_GATEWAY_FEED_FEED_SERVE_H
#define AZ_GATEWAY_FEED_FEED_SERVE_H

#include "base/op.h"

/* Seconds after which a feeder that ended is started again. */
#define FEED_SERVE_EVERY 1

/* Hear the upstreams of whose URIs clients want to learn, until the process is stopped. While none
 * is wanted it waits for the bell of the relay's line, without a connection to the database. */
void feed_serve(struct op *op);

#endif
