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

/*
 * The place of a refresh token in its family (world.md R1, R2): policy is asked about this, and the
 * write does this or nothing. A use within the window from the network of the first use may make a
 * branch, with turns of its own, so that programs which share a sign-in go on beside each other. A
 * use from another network makes a sibling in the branch of the token. It also closes the branches
 * that were made since the first use, and those that were not made yet: otherwise a thief elsewhere
 * who came first would make one for himself, which nobody would ever notice.
 */
struct grant_place {
    bool first;   /* the first use of the token; else it was replaced before */
    bool opens;   /* this use makes a branch */
    bool closes;  /* it is from another network than the first one */
    bool changed; /* it is from another network than the one before in its branch, or from an
                     unknown one */
    int branch;   /* of the new token, from 0 */
    int branches; /* of the family, with that which this use makes */
    const unsigned char *net; /* GRANT_NET_OCTETS, or NULL: unknown */
};

struct grant_use {
    enum grant_how how;                /* kind of use */
    const unsigned char *family;       /* token_grant.id */
    const struct token_parts *shown;   /* the refresh token of the request; not read for a code */
    const struct token_parts *refresh; /* the new refresh token, or NULL */
    struct grant_place place;          /* with a new refresh token; of a code, the network alone */
    int64_t idle_expires_at;           /* new idle end of the family; seconds since 1970 */
    int64_t expires_at; /* end of the family if a code is redeemed; seconds since 1970 */
};

/* Outcome of a use. */
enum grant_outcome {
    GRANT_DONE,  /* consumed and issued */
    GRANT_STALE, /* the client has another version, or the revision may not decide; nothing was done
                  */
    GRANT_USED,  /* used up, expired, revoked, or its provider was disabled, or its place is another
                    one now; nothing was issued */
};

/* Consume and issue in one commit and one trip, with the audit row; token->grant_id is the family.
 * Any number of requests may do this at the same moment on any number of hosts: the state of the
 * rows decides, and the lock only keeps the requests from waiting on each other's rows. */
enum az_status grant_use(struct op *op, const struct grant_use *use, const struct token_new *token,
                         const struct audit_entry *audit, enum grant_outcome *ret);

/* A family that this call ended. */
struct grant_end {
    const char *why; /* `code`: its code was redeemed before; `replaced`: the refresh token was, and
                        may not be used again; `sibling`: another one was used in its place. NULL:
                        the family was not ended */
    int branch;      /* of the refresh token */
    int branches;    /* of the family */
};

/* Revoke the family if its code was redeemed before (shown NULL), or if the refresh token was
 * rotated and may not be used again, or ended when a sibling was used: then an attacker may hold a
 * copy (RFC 6749 4.1.2, RFC 9700 4.14). The rows decide, not what the caller saw. All branches end,
 * and their access tokens. */
enum az_status grant_revoke_reused(struct op *op, const unsigned char family[UUID7_OCTETS],
                                   const struct token_parts *shown, struct grant_end *ret);

#endif
