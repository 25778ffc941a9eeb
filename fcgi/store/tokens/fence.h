/* Revocation of everything that was issued before a restore of the database. */
#ifndef AZ_STORE_TOKENS_FENCE_H
#define AZ_STORE_TOKENS_FENCE_H

#include "base/op.h"
#include "store/db/rows/audit.h"

/* Numbers of the things that fence_write ended. */
struct fence_counts {
    int64_t clients;  /* of which every token, refresh token and code ends */
    int64_t sessions; /* browser sessions */
    int64_t console;  /* sessions of the console */
    int64_t pending;  /* sign-ins, requests and tickets that waited for their next step */
};

/*
 * Revoke all access tokens, refresh tokens and codes of all clients that were issued so far, delete
 * all sessions and everything that may be used once, note the time, after which client assertions
 * and DPoP proofs must have been made, and write the audit row, in one statement.
 *
 * A database that was restored to an earlier moment has forgotten what was revoked or used since
 * then: such tokens, sessions and links are live again. As in revocation_write, the audit row's id
 * is the mark that later tokens are above. One trip.
 */
enum az_status fence_write(struct op *op, const struct audit_entry *audit,
                           struct fence_counts *ret);

#endif
