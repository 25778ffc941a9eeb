#include "config.h"

#include "policy/engine/no_decision.h"

/* A row that stands on one line, which its __LINE__ is. */
#define ROW(code, message)                                                                         \
    {                                                                                              \
        code, message, __LINE__                                                                    \
    }

/* clang-format off */
const struct no_decision_row no_decision_rows[NO_DECISION_COUNT] = {
    [NO_DECISION_UNREACHABLE] =
        ROW("engine_unreachable", "the policy engine gave no answer"),
    [NO_DECISION_UNDEFINED] =
        ROW("policy_undefined", "the policy engine has no policy for the request"),
    [NO_DECISION_INVALID] =
        ROW("output_invalid", "the answer of the policy engine cannot be used"),
    [NO_DECISION_OBLIGATION] =
        ROW("obligation_unknown", "the service cannot meet an obligation of a rule"),
};
/* clang-format on */

json_t *
no_decision_reason(enum no_decision why)
{
    const struct no_decision_row *row = &no_decision_rows[why];
    return json_pack("{s:s,s:s,s:s,s:s}", "code", row->code, "category", "system", "control",
                     "system", "message", row->message);
}
