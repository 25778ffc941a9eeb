/* This server as a relying party of an identity provider (OpenID Connect Core 3.1): the URL for the
 * browser, and the identity that comes back. Does not see the browser's request. */
#ifndef AZ_OIDC_UPSTREAM_UPSTREAM_H
#define AZ_OIDC_UPSTREAM_UPSTREAM_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"
#include "store/people/identity_providers.h"

/* Parameters of the authorization request to the provider. */
struct upstream_request {
    const char *state;                                /* the caller binds it to the browser */
    const char *nonce;                                /* comes back in the ID token */
    const char *code_challenge;                       /* S256 */
    const char *login_hint, *acr_values, *ui_locales; /* passed on to the provider, or NULL */
    bool prompt_login, prompt_select, prompt_create;  /* words of prompt */
    int64_t max_age;                                  /* seconds, or AUTHORIZATION_NO_MAX_AGE */
};

/*
 * Make the URL to which the browser is sent; on op->mem. authorizeParams are appended and cannot
 * override ours (oauth.md 5). An empty endpoint is taken from the provider's discovery document,
 * whose issuer must equal the row's, octet for octet. AZ_UNAVAILABLE: discovery cannot be reached;
 * AZ_PROVIDER_SETUP: it names another issuer, or the row has no clientId; AZ_SERVER_ERROR: neither
 * the row nor discovery has the endpoint.
 */
enum az_status upstream_authorize_url(struct op *op, const struct identity_provider *provider,
                                      const struct upstream_request *request, const char **ret);

/* The answer of the provider at the callback, and what it must match. */
struct upstream_answer {
    const char *code;     /* as received */
    const char *iss;      /* parameter of RFC 9207, or NULL */
    const char *verifier; /* PKCE */
    const char *nonce;    /* as sent to the provider */
    int64_t max_age;      /* seconds, or AUTHORIZATION_NO_MAX_AGE */
    bool prompt_login;    /* the user must have signed in since asked_at */
    int64_t asked_at;     /* seconds since 1970 */
};

/* The proved identity. On op->mem. */
struct upstream_identity {
    const char *sub;      /* sub of the ID token */
    json_t *claims;       /* of the ID token and userinfo, without protocol claims */
    bool userinfo_joined; /* some of them are of userinfo */
    int64_t auth_time;    /* seconds since 1970; 0: the provider does not say */
    const char *acr;      /* or NULL */
    const char **amr;     /* NULL at the end, or NULL */
    const char *sid;      /* or NULL */
    const char *id_token; /* as received */
};

/*
 * Redeem the code, check the ID token (signature by the provider's keys, algorithm, iss, aud, azp,
 * nonce, exp, iat, auth_time; oauth.md 5) and merge userinfo of the same sub. AZ_UNAVAILABLE: the
 * provider cannot be reached, is slow or sends a malformed answer; AZ_PROVIDER_SETUP: it refuses
 * us, or sends what this service never reads (upstream_fault.h); AZ_ACCESS_DENIED: its answer is
 * not acceptable (the fault's detail says why). Never returns an identity that is not proved.
 */
enum az_status upstream_redeem(struct op *op, const struct identity_provider *provider,
                               const struct upstream_answer *answer, struct upstream_identity *ret);

/*
 * Refuse because the provider reports an error at the callback, as upstream_error() does. An error
 * whose `iss` (or NULL) is another issuer's, or is missing although the discovery document
 * announces it, is not believed (RFC 9207 section 2.4): AZ_SERVER_ERROR.
 */
enum az_status upstream_refuse(struct op *op, const struct identity_provider *provider,
                               const char *iss, const char *error, const char *text);

/* Return the end_session_endpoint from discovery, or NULL; discovery that fails is no failure here.
 */
const char *upstream_end_session_endpoint(struct op *op, const struct identity_provider *provider);

#endif
