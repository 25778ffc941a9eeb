/*
 * What an identity provider's ID token must be for us to believe it (OpenID Connect Core 3.1.3.7).
 * A rule alone: text, keys and expectations in, who signed in out. No time is asked for, nothing is
 * fetched.
 */
#ifndef AZ_OIDC_UPSTREAM_ID_TOKEN_H
#define AZ_OIDC_UPSTREAM_ID_TOKEN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <talloc.h>

#include "base/status.h"

struct jwk_set;

/* Our clock and the provider's may differ by so much. Seconds. */
#define UPSTREAM_SKEW 60

/* A token comes fresh from the token endpoint; an older one was kept by somebody. Seconds. */
#define UPSTREAM_AGE_MAX 600

/* Octets of acr, sid and of each amr: they are stored and shown. */
#define UPSTREAM_TEXT_MAX 256

/* Words of amr. */
#define UPSTREAM_AMR_MAX 16

/* Octets of the claims that are kept, as JSON text: they are in a row, in policy input and in each
 * answer of /userinfo. */
#define UPSTREAM_CLAIMS_MAX (16 * 1024)

/* What a token is held against. All pointers are the caller's. */
struct upstream_expected {
    const char *issuer;       /* of the provider's row, byte for byte */
    const char *client_id;    /* ours there */
    const char *nonce;        /* as sent */
    const char *access_token; /* that came with it, for at_hash; or NULL */
    int64_t max_age;          /* seconds, or AUTHORIZATION_NO_MAX_AGE */
    bool prompt_login;        /* the user must have signed in since asked_at */
    int64_t asked_at;         /* seconds since 1970 */
    int64_t now;              /* seconds since 1970 */
};

/* What a good token says. Texts live on mem. */
struct upstream_claims {
    json_t *object;     /* all claims */
    const char *sub;    /* never empty */
    bool has_auth_time; /* the provider said when */
    int64_t auth_time;  /* seconds since 1970 */
    const char *acr;    /* or NULL */
    const char **amr;   /* NULL at the end, or NULL */
    const char *sid;    /* or NULL */
};

/*
 * Checks a token as it was received. AZ_INVALID: it is refused; *ret_why becomes a constant text
 * for the operator, and *ret_stale says whether newer keys of the provider might verify it.
 * AZ_SERVER_ERROR: no memory.
 */
enum az_status upstream_id_token_check(TALLOC_CTX *mem, const char *text,
                                       const struct jwk_set *keys,
                                       const struct upstream_expected *expected,
                                       struct upstream_claims *ret, const char **ret_why,
                                       bool *ret_stale);

/*
 * What is kept of a person: the claims of the ID token and then those of userinfo (or NULL) that it
 * has not, without those of the protocol and `sub`. More than UPSTREAM_CLAIMS_MAX is cut by leaving
 * out members that do not fit, name, email, email_verified, preferred_username and groups being
 * taken first. Belongs to mem; NULL: no memory.
 */
json_t *upstream_claims_keep(TALLOC_CTX *mem, const json_t *id_token, const json_t *userinfo);

#endif
