/*
 * The check of an identity provider's ID token (OpenID Connect Core 3.1.3.7). A pure rule: it takes
 * text, keys, expectations and the time, and returns the claims; it fetches nothing.
 */
#ifndef AZ_OIDC_UPSTREAM_UPSTREAM_ID_TOKEN_H
#define AZ_OIDC_UPSTREAM_UPSTREAM_ID_TOKEN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <talloc.h>

#include "base/status.h"

struct jwk_set;

/* Allowed difference between our clock and the provider's, in seconds. */
#define UPSTREAM_SKEW 60

/* Greatest age of a token, in seconds. It comes fresh from the token endpoint; an older one was
 * stolen or kept. */
#define UPSTREAM_AGE_MAX 600

/* Longest acr, sid and amr, in octets: they are stored and shown. */
#define UPSTREAM_TEXT_MAX 256

/* Greatest number of words in amr. */
#define UPSTREAM_AMR_MAX 16

/* The fault of a token that does not tell when the person signed in, although it was asked. A text
 * for ret_why, which is compared as a pointer. */
extern const char upstream_no_auth_time[];

/* The values that a token must match. All pointers are borrowed. */
struct upstream_expected {
    const char *issuer;         /* of the provider's row, octet for octet */
    const char *const *aliases; /* other texts of it, ending with NULL, or NULL */
    const char *client_id;      /* our client_id at the provider */
    const char *nonce;          /* as sent to the provider */
    const char *access_token;   /* the access token that came with it, for at_hash; or NULL */
    int64_t max_age;            /* seconds, or AUTHORIZATION_NO_MAX_AGE */
    bool prompt_login;          /* the user must have signed in since asked_at */
    int64_t asked_at;           /* seconds since 1970 */
    int64_t now;                /* seconds since 1970 */
};

/* The claims of a good token. Texts live on mem. */
struct upstream_claims {
    json_t *object;     /* all claims */
    const char *sub;    /* never empty */
    bool has_auth_time; /* the provider sent auth_time */
    int64_t auth_time;  /* seconds since 1970 */
    const char *acr;    /* or NULL */
    const char **amr;   /* NULL at the end, or NULL */
    const char *sid;    /* or NULL */
};

/*
 * Check a token as received. AZ_INVALID: it is refused; *ret_why becomes a constant text for the
 * operator, and *ret_stale is true if newer keys of the provider might verify it. AZ_SERVER_ERROR:
 * no memory.
 */
enum az_status upstream_id_token_check(TALLOC_CTX *mem, const char *text,
                                       const struct jwk_set *keys,
                                       const struct upstream_expected *expected,
                                       struct upstream_claims *ret, const char **ret_why,
                                       bool *ret_stale);

/* Parts of a signed and of an encrypted token in compact form (RFC 7515 7.1, RFC 7516 7.1). */
#define JWS_PARTS 3
#define JWE_PARTS 5

/* Return how many parts the dots of a text make. */
size_t upstream_token_parts(const char *text);

/*
 * Check a signed answer of userinfo (OpenID Connect Core 5.3.2) as received: keys and algorithms of
 * the ID token; iss and aud, where it has them, of `expected`, and an exp that has not passed. Its
 * sub is the caller's to compare. *ret_object becomes its claims; else as above.
 */
enum az_status upstream_userinfo_check(TALLOC_CTX *mem, const char *text,
                                       const struct jwk_set *keys,
                                       const struct upstream_expected *expected,
                                       json_t **ret_object, const char **ret_why, bool *ret_stale);

#endif
