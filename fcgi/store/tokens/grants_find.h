/* Finding families: by the code, or by a refresh token. */
#ifndef AZ_STORE_TOKENS_GRANTS_FIND_H
#define AZ_STORE_TOKENS_GRANTS_FIND_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "crypto/token.h"
#include "store/clients/clients.h"
#include "store/db/db.h"

/* A family found by its code or by one of its refresh tokens. Texts and values live as long as the
 * operation. */
struct grant_row {
    bool found;                     /* id and secret are right; the rest is set */
    unsigned char id[UUID7_OCTETS]; /* of the family */
    struct client client;           /* the client, as the row is now (no secrets, no lists) */
    bool code_live;                 /* the code has not expired */
    bool redeemed;                  /* the code was used */
    bool revoked;                   /* the family is dead */
    bool live;                      /* neither idle too long nor past its end */
    bool provider_enabled;          /* the provider where the user signed in is enabled */
    bool rotated;                   /* the refresh token was used before */
    bool reusable;                  /* ... and may be used once more */
    bool ended;                     /* it was not, but a sibling was used in its place */
    int branch;                     /* of the refresh token, 0 to GRANT_BRANCHES_MAX - 1 */
    int branches;                   /* of the family */
    bool branch_free;               /* a reuse of the token may make another branch */
    const unsigned char *net;       /* network of its first use, or of the use that issued it */
    size_t net_length;              /* GRANT_NET_OCTETS, or 0: unknown */
    const char *revoked_why;        /* why the family ended by itself, or NULL */
    int64_t issued_at;              /* of the refresh token, seconds since 1970; 0 for a code */
    int64_t ends_at;                /* idle end or end, whichever comes first; seconds since 1970 */
    int64_t expires_at;             /* end of the family, seconds since 1970 */
    const char *subject;            /* the user */
    const char *issuer;             /* identity provider that the subject is from */
    const char *idp_id;             /* idpId of the provider of this sign-in */
    json_t *claims;                 /* claims of the last sign-in, object */
    const char *sid;                /* browser session, as in ID tokens */
    const char *flow_id;            /* of the authorization request */
    const char *redirect_uri;       /* as requested */
    const char *code_challenge;     /* S256, or NULL */
    const char *nonce;              /* or NULL */
    const char *dpop_jkt;           /* DPoP key that the code is bound to, or NULL */
    const char *jkt;                /* DPoP key that the refresh tokens are bound to, or NULL */
    int64_t auth_time;              /* seconds since 1970 */
    bool with_auth_time;            /* ID tokens must have auth_time */
    const char *acr;                /* or NULL */
    json_t *amr;                    /* array, or NULL */
    const char *scope;              /* as requested, or NULL: not named */
    const char *resource;           /* or NULL */
    json_t *resource_types;         /* array, or NULL */
    json_t *details;                /* array, or NULL */
    const char *granted_scope;      /* scope that the redemption granted; NULL before */
};

/* Find a family in one trip. ret->found is false for an unknown id and for a wrong secret alike. A
 * code or token whose time cannot be ours costs no SQL. */
enum az_status grant_find_code(struct op *op, const struct token_parts *code,
                               struct grant_row *ret);
enum az_status grant_find_refresh(struct op *op, const struct token_parts *refresh,
                                  struct grant_row *ret);

/* The same in two halves, for a trip that reads more. The step is NULL if there is nothing to
 * read. */
enum az_status grant_add_refresh(struct op *op, struct db_batch *batch,
                                 const struct token_parts *refresh, struct db_step **ret_step);
enum az_status grant_read(struct op *op, const struct db_step *step,
                          const struct token_parts *shown, struct grant_row *ret);

#endif
