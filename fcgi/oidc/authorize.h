/* GET and POST /authorize (specification 4.2, oauth.md 3.2). */
#ifndef AZ_OIDC_AUTHORIZE_H
#define AZ_OIDC_AUTHORIZE_H

#include "http/route.h"
#include "oidc/authorize_params.h"
#include "store/people/identity_providers.h"

/* Checks a request and takes its first step. A form that came from another site without our cookies
 * is asked for again as a GET, which brings them. */
enum az_status authorize_handle(struct request *req);

/* The chooser page: a link per provider, back to /authorize with the request and idp_hint. */
enum az_status authorize_choose(struct request *req, const struct authorization *authorization,
                                const struct identity_provider *const *providers, size_t count);

/* Whether an address of ours can be asked: its target is within HTTP_PATH_MAX. What was posted may
 * be longer. */
bool authorize_fits_target(const char *url);

#endif
