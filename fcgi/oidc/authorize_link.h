/* A checked authorization request as a link of a page. */
#ifndef AZ_OIDC_AUTHORIZE_LINK_H
#define AZ_OIDC_AUTHORIZE_LINK_H

#include "http/request.h"
#include "token/authorization.h"

/*
 * Return the request as a URL of /authorize, with the scope that the client asked for, that also
 * names the provider (or NULL). It may be longer than a target that is read (request_target_fits),
 * or NULL if out of memory.
 */
const char *authorize_link(struct request *req, const struct authorization *authorization,
                           const char *idp_id);

#endif
