/* Issuing tokens: one question to policy, then one write. No HTTP. */
#ifndef AZ_TOKEN_ISSUE_H
#define AZ_TOKEN_ISSUE_H

#include "crypto/token.h"
#include "policy/decide/ask.h"
#include "store/db/rows/audit.h"
#include "store/tokens/grants_find.h"
#include "store/tokens/grants_use.h"

/* The family that a token is issued from. It has been checked (redeem.h). */
struct issue_family {
    const struct grant_row *grant;   /* as read */
    const struct token_parts *shown; /* the refresh token in use; NULL: the code */
    bool rotate;                     /* replace the refresh token */
    struct grant_place place;        /* of the new refresh token; of a code, the network alone */
    bool refreshable; /* by its registration, the client of a code may have a refresh token */
    bool polled; /* the code is an auth_req_id: its second use is a late poll, and ends nothing */
};

/* Tokens that were issued and stored. Wipe with issued_done. */
struct issued {
    struct token_text text;    /* the access token, unless it is a JWT */
    char *jwt;                 /* the access token if it is a JWT (world.md T2), or NULL */
    struct token_text refresh; /* the new refresh token */
    bool has_refresh;          /* refresh is set */
    const char *kept_refresh;  /* set by the caller: the refresh token that stays valid, or NULL */
    const char *id_token;      /* or NULL */
    bool bound;                /* to the sender's DPoP key */
    const char *issued_token_type; /* set by the caller (RFC 8693 2.2.1), or NULL */
    int64_t expires_in;            /* seconds */
    const char *scope;             /* granted, space-separated */
    json_t *details;               /* granted authorization_details, or NULL */
};

/*
 * Ask policy, and store the token and the audit row in one commit (RFC 6749 4.4, policy.md 6.2).
 * With a family (or NULL), the same commit consumes its code or refresh token and stores a new
 * refresh token if there is one. The scope openid adds an ID token, which is signed before anything
 * is consumed. The caller fills the audit entry except for the decision. Without a decision, the
 * entry gets the question and the error, for the audit row of the 503 (policy.md 6.6).
 *
 * AZ_OK; the status of a denial with its message (the audit row is written); AZ_INVALID_GRANT: the
 * family was used meanwhile, and a replay has ended it; AZ_UNAVAILABLE; AZ_STALE without a fault:
 * the cached client is out of date, so authenticate again and call once more; AZ_RETRY without a
 * fault: the refresh token that would be replaced has another place, or none, so look at it again.
 * *ret_audited: the audit row is written.
 */
enum az_status token_issue(struct op *op, const struct issue_question *question,
                           const struct issue_family *family, struct audit_entry *audit,
                           bool *ret_audited, struct issued *ret);

/*
 * End a family whose code or refresh token was used again, and return AZ_INVALID_GRANT with
 * `detail` for the log. The audit entry notes if this call ended the family.
 */
enum az_status token_reused(struct op *op, const struct grant_row *grant,
                            const struct token_parts *shown, const char *detail,
                            struct audit_entry *audit);

/*
 * Find out why a decision was not written: the client changed (AZ_STALE without a fault), or the
 * revision may not decide. AZ_OK: ask once more. `started` is the clock_monotonic_ms() of the first
 * question.
 */
enum az_status token_after_nothing(struct op *op, const struct client *client, int64_t started,
                                   struct verdict *verdict, struct audit_entry *audit);

/* Add the question and the answer to the audit entry. */
void token_note_verdict(struct op *op, struct audit_entry *audit, const struct verdict *verdict);

/* Return the text of the access token. */
const char *issued_access(const struct issued *issued);

/* Wipe the texts of the tokens. */
void issued_done(struct issued *issued);

/* Return the user of a family in the form that policy gets. */
struct question_user token_user(const struct grant_row *grant);

#endif
