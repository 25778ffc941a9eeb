/* Where an identity provider is asked: its row's endpoints, and its discovery document's for those
 * that are empty (oauth.md 5; OpenID Connect Discovery 4). */
#ifndef AZ_OIDC_UPSTREAM_ENDPOINTS_H
#define AZ_OIDC_UPSTREAM_ENDPOINTS_H

#include <jansson.h>
#include <stdbool.h>

#include "base/op.h"
#include "store/people/identity_providers.h"

/* What the caller cannot do without. */
enum upstream_need { UPSTREAM_NEED_NOTHING, UPSTREAM_NEED_AUTHORIZATION, UPSTREAM_NEED_TOKEN };

/* NULL: it has none. On op->mem, or the row's. */
struct upstream_endpoints {
    const char *authorization;
    const char *token;
    const char *userinfo;
    const char *jwks_uri;
    const char *end_session;
    bool secret_in_form; /* the token endpoint takes client_secret_post and not client_secret_basic
                          */
    bool sends_iss;      /* RFC 9207: every authorization response has iss */
};

/*
 * A stored endpoint always wins. Discovery is asked for the others; when all that is needed is
 * stored, a provider without discovery is one that lacks the rest. AZ_UNAVAILABLE: discovery cannot
 * be had, or is another issuer's; AZ_SERVER_ERROR: what is needed is nowhere.
 */
enum az_status upstream_endpoints_get(struct op *op, const struct identity_provider *provider,
                                      enum upstream_need need, struct upstream_endpoints *ret);

/* Return the address to which the provider sends the browser back:
 * {issuer}/authorize/callback/{idpId}. On op->mem; NULL: no memory. */
const char *upstream_callback(struct op *op, const struct identity_provider *provider);

#endif
