/* Issuing an access token: policy, then one write. Knows nothing of HTTP. */
#ifndef AZ_TOKEN_ISSUE_H
#define AZ_TOKEN_ISSUE_H

#include "crypto/token.h"
#include "policy/decide/ask.h"
#include "store/db/audit.h"
#include "store/tokens/grants_find.h"

/* The family that a token is issued from; all checked (redeem.h). */
struct issue_family {
    const struct grant_row *grant;   /* as read */
    const struct token_parts *shown; /* the refresh token that is used; NULL: the code */
    bool rotate;                     /* a refresh token is replaced */
    bool refreshable; /* a code's client may hold a refresh token, as far as it registered */
};

/* A token that was issued and stored. Wipe with issued_done. */
struct issued {
    struct token_text text;    /* the access token itself */
    struct token_text refresh; /* the new refresh token */
    bool has_refresh;          /* there is one */
    const char *kept_refresh;  /* the caller's: the refresh token that stays, or NULL */
    const char *id_token;      /* or NULL */
    int64_t expires_in;        /* seconds */
    const char *scope;         /* granted, space-separated */
    json_t *details;           /* granted authorization_details, or NULL */
};

/*
 * Asks policy and stores token and audit row in one commit (RFC 6749 4.4, policy.md 6.2); with a
 * family (or NULL) its code or refresh token is consumed in the same commit, a refresh token issued
 * when it may be, and an ID token for the scope openid (signed before anything is consumed). The
 * audit entry comes filled but for what the decision adds; without a decision it gets the question
 * and the error, for the row of the 503 (policy.md 6.6). Outcomes: AZ_OK; a deny's status with its
 * message (audit row written); AZ_INVALID_GRANT when the family was used up meanwhile (it is dead
 * then if that was a replay); AZ_UNAVAILABLE; AZ_STALE without a fault when the cached client is
 * stale: authenticate again and call once more. *ret_audited: the audit row stands.
 */
enum az_status token_issue(struct op *op, const struct issue_question *question,
                           const struct issue_family *family, struct audit_entry *audit,
                           bool *ret_audited, struct issued *ret);

/*
 * AZ_INVALID_GRANT, after the family's end was stored: its code or refresh token was shown once too
 * often. `detail` says so to the operator; the audit entry notes when it is this that ended it.
 */
enum az_status token_reused(struct op *op, const struct grant_row *grant,
                            const struct token_parts *shown, const char *detail,
                            struct audit_entry *audit);

void issued_done(struct issued *issued);

/* Words of a JSON array joined by spaces; on mem. */
char *scope_join(TALLOC_CTX *mem, const json_t *words);

/* The words of such a text (NULL: none) as a JSON array on mem; NULL without memory. */
json_t *scope_split(TALLOC_CTX *mem, const char *text);

/* The user of a family as policy is told of it. */
struct question_user token_user(const struct grant_row *grant);

/* Whether a JSON array of words holds one. */
bool scope_has(const json_t *words, const char *word);

#endif
