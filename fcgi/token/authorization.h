/* An authorization request (RFC 6749 4.1.1) after its checks. It travels through sign-in and
 * consent, and ends in a code. No HTTP. */
#ifndef AZ_TOKEN_AUTHORIZATION_H
#define AZ_TOKEN_AUTHORIZATION_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"
#include "store/tokens/grants.h"

/* The clock of a provider may be this far behind. Seconds. */
#define AUTHORIZATION_CLOCK_SKEW 60

/* Value of max_age if none was sent. */
#define AUTHORIZATION_NO_MAX_AGE (-1)

/* The checked values. Texts and values live as long as the operation. NULL: not sent. */
struct authorization {
    const char *client_id;    /* registered name, or the address of a metadata document */
    const char *redirect_uri; /* as sent; one of the client's */
    const char *state;        /* opaque, returned to the client */
    const char *scope;        /* words separated by one space; the registered scope if not sent */
    const char *requested_scope; /* scope before policy narrowed it; NULL: policy was not asked */
    const char *nonce;           /* OpenID Connect Core 3.1.2.1 */
    const char *code_challenge;  /* S256, 43 characters; NULL: a confidential client without PKCE */
    const char *dpop_jkt;        /* RFC 9449 10: the key that the code is bound to */
    const char *resource;        /* RFC 8707 */
    json_t *resource_types;      /* array of type URIs */
    json_t *details;             /* RFC 9396 array */
    const char *acr_values;      /* passed on */
    const char *login_hint;      /* passed on; its domain may select the provider */
    const char *ui_locales;      /* passed on */
    const char *idp_hint;        /* idpId named by the client or chosen on the chooser page */
    const char *hint_subject; /* subject of id_token_hint: prompt=none applies to this user only */
    int64_t max_age;          /* seconds, or AUTHORIZATION_NO_MAX_AGE */
    bool prompt_none, prompt_login, prompt_consent, prompt_select, prompt_create; /* prompt */
    bool signed_in;   /* the user has been at the provider for this request; no second redirect */
    bool again;       /* the sign-in expired at the provider, and was begun a second time */
    bool own_page;    /* no client asks: redirect_uri is a page of ours that needs a session */
    bool for_console; /* own_page: the session that it makes may become one of the console */
    const char *flow_id; /* UUID that ties the audit rows together */
    int64_t asked_at;    /* seconds since 1970, of the first request */
};

/* Convert to a JSON object and back, for the rows in which the request waits. AZ_SERVER_ERROR with
 * the fault set: no memory, or a row that is not in this form. */
enum az_status authorization_dump(struct op *op, const struct authorization *authorization,
                                  json_t **ret);
enum az_status authorization_load(struct op *op, const char *text, struct authorization *ret);

/* Return the part of the request that a code and its family keep. */
struct grant_terms authorization_terms(const struct authorization *authorization);

/* Compute the SHA-256 of everything that a stored consent covers: client_id, redirect host, scopes
 * (sorted), resource, resource types and details. The subject is in the consent's row. */
enum az_status authorization_consent_hash(struct op *op, const struct authorization *authorization,
                                          unsigned char ret[SHA256_OCTETS]);

/* True if the request wants to know when the user signed in: prompt=login, or max_age. */
bool authorization_needs_time(const struct authorization *authorization);

/* True if a session that began at `auth_time` (seconds since 1970) is fresh enough for max_age and
 * prompt. Its age is taken at the time of the request, so that time spent on the consent page does
 * not count. */
bool authorization_is_fresh(const struct authorization *authorization, int64_t auth_time);

/* Return the host of the redirect_uri for display, or the scheme of a private-use scheme. On
 * op->mem. */
const char *authorization_redirect_host(struct op *op, const struct authorization *authorization);

#endif
