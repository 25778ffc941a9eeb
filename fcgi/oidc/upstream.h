/* We as a relying party of an identity provider (OpenID Connect Core 3.1): where to send the
 * browser, and who came back. Knows nothing of the browser's request. */
#ifndef AZ_OIDC_UPSTREAM_H
#define AZ_OIDC_UPSTREAM_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"
#include "store/people/identity_providers.h"

/* What goes into the upstream authorization request. */
struct upstream_request {
    const char *state;                                /* bound to the browser by the caller */
    const char *nonce;                                /* comes back in the ID token */
    const char *code_challenge;                       /* S256 */
    const char *login_hint, *acr_values, *ui_locales; /* passed on, or NULL */
    bool prompt_login;                                /* prompt=login */
    int64_t max_age;                                  /* seconds, or AUTHORIZATION_NO_MAX_AGE */
};

/*
 * The address to send the browser to; on op->mem. authorizeParams are appended but cannot override
 * ours (oauth.md 5). An empty endpoint is taken from the provider's discovery document, whose
 * issuer must be the row's, byte for byte. AZ_UNAVAILABLE: discovery cannot be had;
 * AZ_SERVER_ERROR: the row and discovery together lack an endpoint.
 */
enum az_status upstream_authorize_url(struct op *op, const struct identity_provider *provider,
                                      const struct upstream_request *request, const char **ret);

/* What the callback brought, and what it must fit. */
struct upstream_answer {
    const char *code;     /* as it came */
    const char *iss;      /* RFC 9207 parameter, or NULL */
    const char *verifier; /* PKCE */
    const char *nonce;    /* as sent */
    int64_t max_age;      /* seconds, or AUTHORIZATION_NO_MAX_AGE */
    bool prompt_login;    /* the user must have signed in since asked_at */
    int64_t asked_at;     /* seconds since 1970 */
};

/* Who came back. On op->mem. */
struct upstream_identity {
    const char *sub;      /* of the ID token */
    json_t *claims;       /* of ID token and userinfo, without protocol claims */
    int64_t auth_time;    /* seconds since 1970; 0: the provider does not say */
    const char *acr;      /* or NULL */
    const char **amr;     /* NULL at the end, or NULL */
    const char *sid;      /* or NULL */
    const char *id_token; /* as received */
};

/*
 * Redeems the code, checks the ID token (signature by the provider's keys, algorithm, iss, aud,
 * azp, nonce, exp, iat, auth_time; oauth.md 5) and merges userinfo of the same sub.
 * AZ_UNAVAILABLE: the provider is away, slow or answers nonsense; AZ_ACCESS_DENIED: what it says is
 * not acceptable (detail for the operator in the fault). Never an identity that was not proved.
 */
enum az_status upstream_redeem(struct op *op, const struct identity_provider *provider,
                               const struct upstream_answer *answer, struct upstream_identity *ret);

/* Its end_session_endpoint by discovery, or NULL; never fails because discovery does. */
const char *upstream_end_session_endpoint(struct op *op, const struct identity_provider *provider);

#endif
