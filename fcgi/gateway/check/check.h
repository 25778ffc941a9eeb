/*
 * GET /auth/check: a web server in front of an upstream asks about each request (forward
 * authentication; gateway-admin.md 1.8). It shows a credential of its own, and nothing else of a
 * request without one is read.
 */
#ifndef AZ_GATEWAY_CHECK_CHECK_H
#define AZ_GATEWAY_CHECK_CHECK_H

#include "http/route.h"

/* Answer 200 with the identity, 401 or 403 with the challenges for the caller, 400 if the web
 * server does not send what is needed, or 503. */
enum az_status check_handle(struct request *req);

#endif
