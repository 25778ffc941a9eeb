/* An authorization request (RFC 6749 4.1.1) after its checks: what travels through sign-in and
 * consent, and ends in a code. Knows nothing of HTTP. */
#ifndef AZ_TOKEN_AUTHORIZATION_H
#define AZ_TOKEN_AUTHORIZATION_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"
#include "store/tokens/grants.h"

/* Clocks of providers may run so much behind ours. Seconds. */
#define AUTHORIZATION_CLOCK_SKEW 60

/* No max_age was sent. */
#define AUTHORIZATION_NO_MAX_AGE (-1)

/* All checked; texts and values live as long as the operation. NULL: not sent. */
struct authorization {
    const char *client_id;      /* registered name, or the address of a metadata document */
    const char *redirect_uri;   /* as sent; one of the client's */
    const char *state;          /* opaque, given back */
    const char *scope;          /* words separated by one space; as registered when not sent */
    const char *nonce;          /* OpenID Connect Core 3.1.2.1 */
    const char *code_challenge; /* S256, 43 characters; NULL: a confidential client without PKCE */
    const char *resource;       /* RFC 8707 */
    json_t *resource_types;     /* array of type URIs */
    json_t *details;            /* RFC 9396 array */
    const char *acr_values;     /* passed on */
    const char *login_hint;     /* passed on; its domain may choose the provider */
    const char *ui_locales;     /* passed on */
    const char *idp_hint;       /* idpId the client or the chooser page names */
    const char *hint_subject;   /* of id_token_hint: prompt=none is for this user alone */
    int64_t max_age;            /* seconds, or AUTHORIZATION_NO_MAX_AGE */
    bool prompt_none, prompt_login, prompt_consent; /* prompt */
    bool signed_in;      /* this request has been through the provider: do not send it again */
    const char *flow_id; /* UUID that ties the audit rows together */
    int64_t asked_at;    /* seconds since 1970, of the first request */
};

/* As a JSON object and back, for the rows it waits in. AZ_SERVER_ERROR with the fault set: no
 * memory, or a row that is none of ours. */
enum az_status authorization_dump(struct op *op, const struct authorization *authorization,
                                  json_t **ret);
enum az_status authorization_load(struct op *op, const char *text, struct authorization *ret);

/* What of it a code and its family remember. */
struct grant_terms authorization_terms(const struct authorization *authorization);

/* What a remembered consent covers: SHA-256 over client_id, redirect host, scopes (sorted),
 * resource, resource types and details. The subject is the row's. */
enum az_status authorization_consent_hash(struct op *op, const struct authorization *authorization,
                                          unsigned char ret[SHA256_OCTETS]);

/* Whether the session of a user who signed in at `auth_time` is fresh enough for max_age and
 * prompt; seconds since 1970. Counted to the time of asking, so that a slow consent page refuses
 * nobody. */
bool authorization_is_fresh(const struct authorization *authorization, int64_t auth_time);

/* Host of the redirect_uri for display; its scheme for private schemes. On op->mem. */
const char *authorization_redirect_host(struct op *op, const struct authorization *authorization);

#endif
