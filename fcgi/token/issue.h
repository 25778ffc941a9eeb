/* Issuing an access token: policy, then one write. Knows nothing of HTTP. */
#ifndef AZ_TOKEN_ISSUE_H
#define AZ_TOKEN_ISSUE_H

#include "crypto/token.h"
#include "policy/ask.h"
#include "store/audit.h"

/* A token that was issued and stored. */
struct issued {
    struct token_text text; /* the token itself: wipe with token_text_done */
    int64_t expires_in;     /* seconds */
    const char *scope;      /* granted, space-separated */
    json_t *details;        /* granted authorization_details, or NULL */
};

/*
 * Asks policy and stores token and audit row in one commit (RFC 6749 4.4, policy.md 6.2). The audit
 * entry comes filled but for what the decision adds; without a decision it gets the question and
 * the error, for the row of the 503 (policy.md 6.6). Outcomes: AZ_OK; a deny's status with its
 * message (audit row written); AZ_UNAVAILABLE; AZ_INVALID without a fault when the cached client is
 * stale: authenticate again and call once more. *ret_audited: the audit row stands.
 */
enum az_status token_issue(struct op *op, const struct issue_question *question,
                           struct audit_entry *audit, bool *ret_audited, struct issued *ret);

/* Words of a JSON array joined by spaces; on mem. */
char *scope_join(TALLOC_CTX *mem, const json_t *words);

#endif
