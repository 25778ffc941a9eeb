/* The way on which a request came: from which address, and by http or https. */
#ifndef AZ_HTTP_SERVE_WAY_H
#define AZ_HTTP_SERVE_WAY_H

#include "http/request.h"

/*
 * Refuse a request whose row is known, by the way on which it came, before anything of it counts:
 * AZ_INVALID_REQUEST if the web server names an address that is none; AZ_FOREIGN_NETWORK below
 * /admin from outside SVC_ADMIN_NETWORKS, and below /admin and /bundles in development mode from
 * another host; AZ_PLAIN_HTTP if the issuer is https and the request came by http from another
 * host, unless the row may (route.in_clear), the network is in SVC_PLAIN_HTTP_NETWORKS, or a
 * trusted proxy says that it got it by https. Nothing is refused to the operator of this process.
 */
enum az_status way_check(struct request *req);

#endif
