#include "config.h"

#include "policy/decide/admin_request.h"

#include "base/clock.h"
#include "policy/engine/entrypoints.h"
#include "store/policy/engines.h"

enum az_status
admin_request_ask(struct op *op, const struct admin_question *question, struct verdict *ret)
{
    static const struct decision_bounds none = {.scopes = NULL};
    int64_t started = clock_monotonic_ms();
    for (;;) {
        bool good = false;
        enum az_status st = ask_entrypoint(op, entrypoint_paths[ENTRYPOINT_ADMIN],
                                           question_admin(op, question), &none, ret);
        if (st == AZ_OK)
            st = engines_decide(op, ret->decision.revision, &good);
        if (st != AZ_OK || good)
            return st;
        if (!ask_again(op, started, ret)) {
            ask_note_error(op, ret);
            return AZ_UNAVAILABLE;
        }
    }
}

const char *
admin_request_message(const struct decision *decision)
{
    return json_string_value(json_object_get(json_array_get(decision->reasons, 0), "message"));
}
