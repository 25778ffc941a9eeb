/* The dispatcher, which does everything that a row of the routing table declares. */
#ifndef AZ_HTTP_SERVE_DISPATCH_H
#define AZ_HTTP_SERVE_DISPATCH_H

#include "http/request.h"

/* Answer one request, from parse to log line. */
void dispatch(struct az *az, const struct http_io *io);

/*
 * Send the head of a streamed answer, 200, from within the handler, which may response_write()
 * then. What depends on the audit row is written by the function of respond_stream(), with which
 * such a handler must end; the connection is cut off if it fails, or if the row cannot be written.
 * AZ_UNAVAILABLE: the reader has gone.
 */
enum az_status dispatch_begin_stream(struct request *req, const char *content_type);

#endif
