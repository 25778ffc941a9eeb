/* What a code or a refresh token is worth, and its one use: family, access token, refresh token and
 * audit row change in one commit, under the family's lock (decisions.md "Tokens"). */
#ifndef AZ_STORE_TOKENS_GRANTS_USE_H
#define AZ_STORE_TOKENS_GRANTS_USE_H

#include <jansson.h>

#include "store/tokens/grants.h"

/* A family as found by its code or by one of its refresh tokens. Texts and values live as long as
 * the operation. */
struct grant_row {
    bool found;                     /* id and secret are good; what follows is set */
    unsigned char id[UUID7_OCTETS]; /* of the family */
    struct client client;           /* whose it is, as the row is now (no secrets, no lists) */
    bool code_live;                 /* the code has not expired */
    bool redeemed;                  /* the code was used */
    bool revoked;                   /* the family is dead */
    bool live;                      /* neither idle too long nor past its end */
    bool provider_enabled;          /* where its user signed in */
    bool rotated;                   /* the refresh token was used before, */
    bool reusable;                  /* ... and may be used once more all the same */
    int64_t issued_at;              /* of the refresh token, seconds since 1970; 0 for a code */
    int64_t ends_at;                /* idle end or end, what comes first; seconds since 1970 */
    int64_t expires_at;             /* end of the family, seconds since 1970 */
    const char *subject;            /* who signed in */
    const char *issuer;             /* of the identity provider the subject is from */
    const char *idp_id;             /* idpId of the provider of this sign-in */
    json_t *claims;                 /* object: of the last sign-in */
    const char *sid;                /* browser session, as in ID tokens */
    const char *flow_id;            /* of the authorization request */
    const char *redirect_uri;       /* as asked */
    const char *code_challenge;     /* S256, or NULL */
    const char *nonce;              /* or NULL */
    int64_t auth_time;              /* seconds since 1970 */
    bool with_auth_time;            /* ID tokens must say it */
    const char *acr;                /* or NULL */
    json_t *amr;                    /* array, or NULL */
    const char *scope;              /* as asked, or NULL: not named */
    const char *resource;           /* or NULL */
    json_t *resource_types;         /* array, or NULL */
    json_t *details;                /* array, or NULL */
    const char *granted_scope;      /* what the redemption granted; NULL before */
};

/* One trip. Unknown ids and wrong secrets alike: ret->found is false. A code or token whose time
 * cannot be one of ours costs no SQL. */
enum az_status grant_find_code(struct op *op, const struct token_parts *code,
                               struct grant_row *ret);
enum az_status grant_find_refresh(struct op *op, const struct token_parts *refresh,
                                  struct grant_row *ret);

/* The same in two halves, for a trip that reads more: the step is NULL when there is nothing to
 * ask. */
enum az_status grant_add_refresh(struct op *op, struct db_batch *batch,
                                 const struct token_parts *refresh, struct db_step **ret_step);
enum az_status grant_read(struct op *op, const struct db_step *step,
                          const struct token_parts *shown, struct grant_row *ret);

/* How a family is used. */
enum grant_how {
    GRANT_REDEEM, /* its code, once */
    GRANT_ROTATE, /* a refresh token that is replaced by another */
    GRANT_KEEP,   /* a refresh token that stays */
};

struct grant_use {
    enum grant_how how;                /* what is consumed */
    const unsigned char *family;       /* token_grant.id */
    const struct token_parts *shown;   /* the refresh token; not looked at for a code */
    const struct token_parts *refresh; /* the new refresh token, or NULL */
    int64_t idle_expires_at;           /* of the family from now on; seconds since 1970 */
    int64_t expires_at;                /* of the family, when a code is redeemed */
};

/* What became of it. */
enum grant_outcome {
    GRANT_DONE,  /* consumed and issued */
    GRANT_STALE, /* the client has another version, or the revision may not decide: nothing done */
    GRANT_USED,  /* used up, expired, revoked, or its provider disabled meanwhile: nothing issued */
};

/*
 * Consumes and issues in one commit and one trip, with the audit row; token->grant_id is the
 * family. Any number at the same moment on any number of hosts: the database decides by the rows'
 * state, the lock only keeps them from waiting on each other's rows.
 */
enum az_status grant_use(struct op *op, const struct grant_use *use, const struct token_new *token,
                         const struct audit_entry *audit, enum grant_outcome *ret);

/*
 * Revokes the family if its code was redeemed (shown NULL), or if the refresh token was rotated and
 * may not be used again: somebody has it who should not (RFC 6749 4.1.2, RFC 9700 4.14). The rows
 * decide, whatever the caller saw. *ret_revoked: it is us who ended it.
 */
enum az_status grant_revoke_reused(struct op *op, const unsigned char family[UUID7_OCTETS],
                                   const struct token_parts *shown, bool *ret_revoked);

#endif
