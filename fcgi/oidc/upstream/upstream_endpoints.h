/* Endpoints of an identity provider: those of its row; for empty ones, those of its discovery
 * document (oauth.md 5; OpenID Connect Discovery 4). */
#ifndef AZ_OIDC_UPSTREAM_UPSTREAM_ENDPOINTS_H
#define AZ_OIDC_UPSTREAM_UPSTREAM_ENDPOINTS_H

#include <jansson.h>
#include <stdbool.h>

#include "base/op.h"
#include "store/people/identity_providers.h"

/* The endpoints that the caller cannot do without. */
enum upstream_need { UPSTREAM_NEED_NOTHING, UPSTREAM_NEED_AUTHORIZATION, UPSTREAM_NEED_TOKEN };

/* Endpoints; NULL: the provider has none. On op->mem, or the row's. */
struct upstream_endpoints {
    const char *authorization;
    const char *token;
    const char *userinfo;
    const char *jwks_uri;
    const char *end_session;
    bool secret_in_form; /* the token endpoint takes client_secret_post but not client_secret_basic
                          */
    const char *assertion_alg; /* of our JWT at the token endpoint; NULL: RS256 */
    bool sends_iss;            /* every authorization response has iss (RFC 9207) */
    bool takes_create;         /* it announces prompt=create (Initiating User Registration 4) */
    bool unanswered; /* discovery cannot be reached at the moment, so what it names is unknown */
};

/*
 * Collect the endpoints. A stored one always wins; discovery is asked for the others. If all that
 * is needed is stored, a provider whose discovery fails simply lacks the others. AZ_UNAVAILABLE:
 * discovery cannot be reached; AZ_PROVIDER_SETUP: it names another issuer; AZ_SERVER_ERROR: a
 * needed endpoint is in neither.
 */
enum az_status upstream_endpoints_get(struct op *op, const struct identity_provider *provider,
                                      enum upstream_need need, struct upstream_endpoints *ret);

/* Providers at which prompt=create looks, and those of them that may not answer before it gives up:
 * each can take the time of a fetch. */
#define UPSTREAM_CREATE_MAX 16
#define UPSTREAM_CREATE_AWAY_MAX 2

/*
 * Keep the providers of the array whose discovery documents announce prompt=create; *fits becomes
 * their count. AZ_INVALID_REQUEST: no provider does; AZ_UNAVAILABLE: one may, but cannot be
 * reached.
 */
enum az_status upstream_keep_creating(struct op *op, const struct identity_provider **fit,
                                      size_t *fits);

/* True if the discovery document of a provider that was fetched last announces prompt=create;
 * nothing is fetched. */
bool upstream_creates(struct op *op, const struct identity_provider *provider);

/* Return the address to which the provider sends the browser back:
 * {issuer}/authorize/callback/{idpId}. On op->mem, or NULL if out of memory. */
const char *upstream_callback(struct op *op, const struct identity_provider *provider);

#endif
