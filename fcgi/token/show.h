/* Evaluation 2: the present state of a token for one caller. No HTTP. */
#ifndef AZ_TOKEN_SHOW_H
#define AZ_TOKEN_SHOW_H

#include "policy/decide/ask.h"
#include "store/db/rows/audit.h"
#include "store/tokens/tokens_find.h"

/* The kind of answer to the caller. */
enum shown_as {
    SHOWN_ACTIVE,        /* with the present scopes */
    SHOWN_INVALID,       /* unknown, expired, revoked, consumed, or hidden from this caller */
    SHOWN_POLICY_DENIED, /* policy denies it now */
};

/* Outcome of one introspection. */
struct shown {
    enum shown_as as;       /* kind of answer */
    struct verdict verdict; /* evaluation 2, with its scopes, obligations and reasons */
    json_t *baseline;       /* stored pdpOutput, NULL for an unknown token */
    json_t *issued;         /* stored pdpInput, NULL if it was purged */
    const char *dead;       /* for the log: why the token is invalid, or NULL */
};

/*
 * Ask policy about the token in lookup->row (found or not) for the caller, and wait for an
 * acceptable revision. If that took long, read the row again: lookup->row.found becomes false if
 * the token is no longer valid. The caller sets question's caller, its method, the context and the
 * frame; the rest is set here. Without a decision, *ret still has what the audit row of the 503
 * shows (policy.md 6.6). AZ_FORBIDDEN: the caller may not introspect, whatever the token is.
 */
enum az_status token_show(struct op *op, struct token_lookup *lookup,
                          struct introspect_question *question, struct shown *ret);

/* Add the question, the answer and what is known of the token to the audit entry. A token that is
 * not shown is noted with the scopes that it has. */
void token_note_shown(struct op *op, struct audit_entry *audit, const struct shown *shown);

/* Asks policy one question, which `arg` points to. */
typedef enum az_status token_ask_fn(struct op *op, void *arg, struct verdict *ret);

/*
 * Ask until a revision decides that may: one of lookup->acceptable, or of those that are read again
 * while a save is being confirmed. AZ_UNAVAILABLE: there is no such answer, and *ret has what the
 * audit row shows (policy.md 6.6).
 */
enum az_status token_ask_acceptable(struct op *op, struct token_lookup *lookup, token_ask_fn *ask,
                                    void *arg, struct verdict *ret);

/* Read the stored pdpOutput of a row. *ret is untouched if the row has none. */
enum az_status token_row_output(struct op *op, const struct token_row *row, json_t **ret);

#endif
