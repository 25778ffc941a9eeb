/* The web server that asks /auth/check: its credential, and the address of the caller for which it
 * asks (gateway-admin.md 1.8). */
#ifndef AZ_GATEWAY_CHECK_ASKER_H
#define AZ_GATEWAY_CHECK_ASKER_H

#include "http/route.h"

/* The credential of the web server: a client's secret, as Basic in X-Authz-Proxy-Authorization. A
 * bad one is 403: a 401 would be passed back, and send people to sign in. It sets req->client and
 * the caller's address, and counts the question for that address. */
extern const struct route_credential credential_check;

/* Find the client of the web server by the credential of the request; `fresh`: as the database has
 * it, not this process. AZ_FORBIDDEN: there is no good credential. */
enum az_status asker_take(struct request *req, bool fresh);

#endif
