#include "config.h"

#include "policy/decide/outcome.h"

/* ---- evaluation 1 */

struct decision_bounds
outcome_issue_bounds(const struct issue_question *question)
{
    return (struct decision_bounds){
        .scopes = question_asked(question),
        .ceiling = question->ceiling,
        .resource = question->resource,
        .details = question->details,
        .resource_types = question->resource_types,
        .types_by_resource = true,
    };
}

int64_t
outcome_lifetime(const struct op *op, const struct issue_question *question,
                 const struct decision *decision)
{
    int64_t seconds = decision->has_ttl ? decision->ttl : question->default_ttl;
    int64_t left = question->expires_before - op_now(op);
    return question->expires_before != 0 && left < seconds ? left : seconds;
}

enum az_status
outcome_issue(struct op *op, const struct issue_question *question, const struct decision *decision,
              const char **ret_text)
{
    *ret_text = NULL;
    if (!decision->allow)
        return decision_deny_status(op->mem, decision, question->scopes, question->details,
                                    ret_text);
    if (outcome_lifetime(op, question, decision) <= 0) {
        *ret_text = "Policy allows no lifetime for the token";
        return AZ_ACCESS_DENIED;
    }
    if (json_array_size(question->details) > 0 && json_array_size(decision->details) == 0) {
        *ret_text = "Policy grants none of the requested authorization_details";
        return AZ_INVALID_AUTHORIZATION_DETAILS;
    }
    /* Details decide (specification 4.2): scopes beside granted ones may all be left out. So may
     * default scopes that the client did not register, which it never asked for. */
    const json_t *asked = question->ceiling != NULL ? question_asked(question) : question->scopes;
    if (json_array_size(asked) > 0 && json_array_size(decision->scopes) == 0
        && json_array_size(decision->details) == 0) {
        *ret_text = "Policy grants none of the requested scopes";
        return AZ_INVALID_SCOPE;
    }
    return AZ_OK;
}

/* ---- evaluation 2 */

struct decision_bounds
outcome_introspect_bounds(const json_t *baseline)
{
    return (struct decision_bounds){
        .scopes = json_object_get(baseline, "scopes"),
        .resource = json_string_value(json_object_get(baseline, "resource")),
        .resource_types = json_object_get(baseline, "resource_types"),
        .details = json_object_get(baseline, "authorization_details"),
    };
}

bool
outcome_refuses_caller(const struct decision *decision)
{
    static const char *const codes[] = {"introspection_not_entitled", "caller_not_allowed"};
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
        if (decision_has_code(decision, codes[i]))
            return true;
    return false;
}

bool
outcome_hides_token(const struct decision *decision)
{
    return decision_has_code(decision, "caller_not_audience");
}

static bool
had_some(const json_t *baseline, const char *member)
{
    return json_array_size(json_object_get(baseline, member)) > 0;
}

bool
outcome_lost_all(const json_t *baseline, const struct decision *decision)
{
    if (had_some(baseline, "authorization_details"))
        return json_array_size(decision->details) == 0;
    return had_some(baseline, "scopes") && json_array_size(decision->scopes) == 0;
}

/* ---- access decisions */

bool
outcome_entitled(const struct decision *decision, bool batch)
{
    return batch ? decision->allow : !decision_has_code(decision, "authzen_not_entitled");
}
