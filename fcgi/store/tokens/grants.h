/* Families of tokens: an authorization code, the tokens it was redeemed for, and the refresh tokens
 * that follow. One row decides for all of them (decisions.md "Tokens"). */
#ifndef AZ_STORE_TOKENS_GRANTS_H
#define AZ_STORE_TOKENS_GRANTS_H

#include "store/people/sessions.h"
#include "store/tokens/tokens.h"

/* Number of times that a rotated refresh token may be used again within
 * SVC_REFRESH_REUSE_WINDOW_SECONDS. */
#define GRANT_REUSES_MAX 3

/* Branches of a family, the first one among them (world.md R1); columns `turns` and `branch` of the
 * schema have as many. */
#define GRANT_BRANCHES_MAX 3

/* Octets of a network in a row: an HMAC by the family's id, so that rows neither show an address
 * nor tell which families share one. */
#define GRANT_NET_OCTETS 16

/* True for a refresh token r of family g if no other token of its branch was used in its place.
 * Each branch counts its turns, one for each first use of one of its tokens, and a token has the
 * turn at which it was issued: the first use of one thus ends all that were issued beside it and
 * not used, without a write to their rows. A token without a turn is from a program that did not
 * know them. */
#define GRANT_IN_TURN                                                                              \
    "(CASE WHEN r.branch IS NULL THEN coalesce(r.turn, g.turn) = g.turn"                           \
    " ELSE r.branch_turn = g.turns[r.branch] END)"
/* True while the branch of a refresh token is not closed. */
#define GRANT_BRANCH_OPEN "(r.branch IS NULL OR g.turns[r.branch] >= 0)"

/* Terms of a code, as requested and checked. NULL: not requested. */
struct grant_terms {
    const char *redirect_uri;   /* as sent */
    const char *code_challenge; /* S256 */
    const char *nonce;          /* for the ID token */
    const char *dpop_jkt;       /* DPoP key that the code is bound to (RFC 9449 10) */
    bool with_auth_time;        /* ID tokens must say when the user signed in */
    const char *scope;          /* words separated by one space */
    const char *resource;       /* RFC 8707 */
    json_t *resource_types;     /* array of type URIs */
    json_t *details;            /* RFC 9396 array */
    const char *flow_id;        /* UUID that ties the audit rows together */
};

/*
 * Store the family of a new code together with the audit row, in one commit, while the client has
 * the version we know and is enabled, the session is live, its provider is enabled, and the
 * revision may decide. *ret_stored false: one of these no longer holds, and nothing was written.
 * `consent` (or NULL), the hash of what the user allowed, is remembered in the same commit.
 */
struct grant_new {
    const struct token_parts *code; /* of TOKEN_CODE */
    const struct client *client;    /* id is set */
    const struct session *session;  /* the user's session */
    struct grant_terms terms;       /* terms of the code */
    const unsigned char *consent;   /* SHA256_OCTETS, or NULL */
    const char *redirect_host;      /* with consent */
    const char *revision; /* bundle revision of the preview, which must still be acceptable; NULL:
                             the user has just agreed to a preview */
    int64_t code_expires_at; /* seconds since 1970 */
};

/* Store the grant with its code, and the audit row, in one trip. *ret_stored is false, and nothing
 * is stored, if the terms do not hold any more. */
enum az_status grant_insert(struct op *op, const struct grant_new *grant,
                            const struct audit_entry *audit, bool *ret_stored);

/* Delete families that ended so long ago that none of their tokens lives (housekeeping). */
enum az_status grants_purge(struct op *op);

#endif
