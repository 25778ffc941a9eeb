/* The page on which the user chooses an identity provider. */
#ifndef AZ_OIDC_CHOOSE_H
#define AZ_OIDC_CHOOSE_H

#include "http/request.h"
#include "store/people/identity_providers.h"
#include "token/authorization.h"

/* Answer with a page of links, one per provider; each leads back to /authorize with the checked
 * request and idp_hint. req->client is set. AZ_INVALID_REQUEST: the request is too long for a link.
 */
enum az_status choose_respond(struct request *req, const struct authorization *authorization,
                              const struct identity_provider *const *providers, size_t count);

#endif
