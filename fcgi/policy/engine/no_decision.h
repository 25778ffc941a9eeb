/* The reasons of the control `system`: why a question to policy has no decision. The service gives
 * them itself, because no rule can speak when the engine has no answer (policy.md 6.4). */
#ifndef AZ_POLICY_ENGINE_NO_DECISION_H
#define AZ_POLICY_ENGINE_NO_DECISION_H

#include <jansson.h>

/* The source file of the table, as GET /admin/api/controls/system names it. */
#define NO_DECISION_FILE "fcgi/policy/engine/no_decision.c"

enum no_decision {
    NO_DECISION_UNREACHABLE, /* no whole answer came: no connection, or too late */
    NO_DECISION_UNDEFINED,   /* the engine has no active policy, or no value for the entrypoint */
    NO_DECISION_INVALID,     /* the answer is malformed, widens the request, or comes from a
                                revision that may not decide */
    NO_DECISION_OBLIGATION,  /* the gateway cannot meet an obligation, so the allow is a denial */
    NO_DECISION_COUNT
};

struct no_decision_row {
    const char *code;
    const char *message;
    int line; /* of the row in NO_DECISION_FILE */
};

extern const struct no_decision_row no_decision_rows[NO_DECISION_COUNT];

/* Return the entry of `deny_reasons`, a new reference. NULL: no memory. */
json_t *no_decision_reason(enum no_decision why);

#endif
