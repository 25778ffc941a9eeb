/* The dispatcher, which does everything that a row of the routing table declares. */
#ifndef AZ_HTTP_SERVE_DISPATCH_H
#define AZ_HTTP_SERVE_DISPATCH_H

#include "http/request.h"

/* Answer one request, from parse to log line. */
void dispatch(struct az *az, const struct http_io *io);

#endif
