/* Evaluation 2: what a token is still worth, and to this caller. Knows nothing of HTTP. */
#ifndef AZ_TOKEN_SHOW_H
#define AZ_TOKEN_SHOW_H

#include "policy/decide/ask.h"
#include "store/tokens/tokens_find.h"

/* What the caller is told. */
enum shown_as {
    SHOWN_ACTIVE,        /* with scopes as they are now */
    SHOWN_INVALID,       /* unknown, expired, revoked, consumed, or not this caller's to know */
    SHOWN_POLICY_DENIED, /* policy says no now */
};

/* Outcome of one introspection. */
struct shown {
    enum shown_as as;       /* which answer */
    struct verdict verdict; /* evaluation 2, with its scopes, obligations and reasons */
    json_t *baseline;       /* stored pdpOutput, NULL for an unknown token */
    json_t *issued;         /* stored pdpInput, NULL when gone */
};

/*
 * Asks policy about the token in lookup->row (found or not) on behalf of the caller, waiting for an
 * acceptable revision. `question` comes with the caller, its method, the context and the frame; the
 * rest is filled here. Without a decision *ret still holds what the audit row of the 503 shows
 * (policy.md 6.6). AZ_FORBIDDEN when the caller may not introspect at all: the same for live
 * and dead tokens.
 */
enum az_status token_show(struct op *op, struct token_lookup *lookup,
                          struct introspect_question *question, struct shown *ret);

/* The stored pdpOutput of a row; *ret is untouched when it has none. */
enum az_status token_row_output(struct op *op, const struct token_row *row, json_t **ret);

#endif
