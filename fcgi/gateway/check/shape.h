/*
 * The forms in which web servers ask about a request (gateway-admin.md 1.8): which variables hold
 * its method, scheme, host and target.
 */
#ifndef AZ_GATEWAY_CHECK_SHAPE_H
#define AZ_GATEWAY_CHECK_SHAPE_H

#include "gateway/check/forwarded.h"
#include "http/request.h"

struct check_shape {
    const char *word; /* in the audit row */
    /* CGI variables. uri is NULL if the target is part of the question's own path, after the path
     * of its row. */
    const char *method, *proto, *host, *uri;
    /* The question is the request: REMOTE_ADDR is the caller's, and the answer has variables
     * AUTHZ_SUBJECT and so on for the environment of the upstream, which no caller can set. */
    bool direct;
};

/* GET /auth/check: nginx, Traefik, Caddy, HAProxy. All parts are in fields X-Forwarded-*. */
extern const struct check_shape check_by_fields;

/* /auth/check/at: Envoy. The question itself has the method, host and target of the request. */
extern const struct check_shape check_by_target;

/* The FastCGI role of an authorizer (FastCGI 6.3): lighttpd, Apache. */
extern const struct check_shape check_as_authorizer;

/* Return a variable of a direct question from which an API could read another request, or another
 * caller, than policy is asked about, or NULL. The web server empties such fields, but not in every
 * spelling: lighttpd puts an underscore for each character other than letters and digits, and the
 * API gets the same variables. */
const char *check_shape_other(const struct request *req);

/* Read where the row of the request says that the parts are; a part that is absent is NULL.
 * AZ_SERVER_ERROR: out of memory. */
enum az_status check_shape_read(const struct request *req, struct forwarded_fields *ret);

#endif
