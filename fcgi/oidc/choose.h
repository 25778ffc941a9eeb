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

/* Return the link that begins the request again at a provider; NULL: no memory. */
const char *choose_href(struct request *req, const struct authorization *authorization,
                        const char *idp_id);

/*
 * Let the failure of the request be a page that says that this provider cannot be reached, with
 * links to the other enabled ones, read anew, to try again, and back to the application. After
 * AZ_PROVIDER_SETUP the page names the code of op.provider_fault in place of the link to try again,
 * and the fault is noted for the operator (world.md W1, W3). Without
 * memory, or if the request is too long for links, the failure stays what it is.
 */
void choose_another(struct request *req, const struct authorization *authorization,
                    const struct identity_provider *away);

#endif
