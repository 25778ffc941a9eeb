/* Revocation of all tokens of a person or a client, by one write. */
#ifndef AZ_STORE_TOKENS_REVOCATION_H
#define AZ_STORE_TOKENS_REVOCATION_H

#include <stdbool.h>

#include "base/op.h"
#include "store/db/rows/audit.h"

/* True for a family g that was issued before its client c or its person s was revoked. */
#define GRANT_REVOKED_BEFORE "g.number < greatest(c.revoked_before, s.revoked_before)"

/* True for an access token t that was issued before its client c or its person s was revoked, or
 * whose family g was issued before its person s or its own client was: a token can be another
 * client's than its family. */
#define TOKEN_REVOKED_BEFORE                                                                       \
    "(t.audit_id < greatest(c.revoked_before, s.revoked_before)"                                   \
    " OR g.number < greatest(s.revoked_before,"                                                    \
    "  (SELECT o.revoked_before FROM client o WHERE o.id = g.client)))"

/*
 * Revoke all access tokens, refresh tokens and codes that were issued so far, and write the audit
 * row in the same commit; one of subject and client_id is NULL. The audit row's id is the mark that
 * later tokens are above, so that a token of the same millisecond is either before or after it, on
 * any host. *ret_known false: there is no such person or client, and nothing was written. One trip.
 */
enum az_status revocation_write(struct op *op, const char *subject, const char *client_id,
                                const struct audit_entry *audit, bool *ret_known);

#endif
