/* The one use of a code or refresh token: family, access token, refresh token and audit row change
 * in one commit, under the family's lock (decisions.md "Tokens"). */
#ifndef AZ_STORE_TOKENS_GRANTS_USE_H
#define AZ_STORE_TOKENS_GRANTS_USE_H

#include <stdbool.h>
#include <stdint.h>

#include "store/tokens/grants.h"

/* Kinds of use. */
enum grant_how {
    GRANT_REDEEM, /* redeem the code, once */
    GRANT_ROTATE, /* use a refresh token and replace it by another */
    GRANT_KEEP,   /* use a refresh token that stays */
};

struct grant_use {
    enum grant_how how;                /* kind of use */
    const unsigned char *family;       /* token_grant.id */
    const struct token_parts *shown;   /* the refresh token of the request; not read for a code */
    const struct token_parts *refresh; /* the new refresh token, or NULL */
    int64_t idle_expires_at;           /* new idle end of the family; seconds since 1970 */
    int64_t expires_at; /* end of the family if a code is redeemed; seconds since 1970 */
};

/* Outcome of a use. */
enum grant_outcome {
    GRANT_DONE,  /* consumed and issued */
    GRANT_STALE, /* the client has another version, or the revision may not decide; nothing was done
                  */
    GRANT_USED,  /* used up, expired, revoked, or its provider was disabled; nothing was issued */
};

/* Consume and issue in one commit and one trip, with the audit row; token->grant_id is the family.
 * Any number of requests may do this at the same moment on any number of hosts: the state of the
 * rows decides, and the lock only keeps the requests from waiting on each other's rows. */
enum az_status grant_use(struct op *op, const struct grant_use *use, const struct token_new *token,
                         const struct audit_entry *audit, enum grant_outcome *ret);

/* Revoke the family if its code was redeemed before (shown NULL), or if the refresh token was
 * rotated and may not be used again, or ended when a sibling was used: then an attacker may hold a
 * copy (RFC 6749 4.1.2, RFC 9700 4.14). The rows decide, not what the caller saw. *ret_revoked:
 * this call ended it. */
enum az_status grant_revoke_reused(struct op *op, const unsigned char family[UUID7_OCTETS],
                                   const struct token_parts *shown, bool *ret_revoked);

#endif
