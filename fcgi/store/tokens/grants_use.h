/* What a code or a refresh token is worth, and its one use: family, access token, refresh token and
 * audit row change in one commit, under the family's lock (decisions.md "Tokens"). */
#ifndef AZ_STORE_TOKENS_GRANTS_USE_H
#define AZ_STORE_TOKENS_GRANTS_USE_H

#include <stdbool.h>
#include <stdint.h>

#include "store/tokens/grants.h"

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
