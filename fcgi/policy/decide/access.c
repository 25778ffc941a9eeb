#include "config.h"

#include "policy/decide/access.h"

#include "base/json/jsonx.h"
#include "policy/decide/outcome.h"
#include "policy/engine/entrypoints.h"

const char *
access_read(const struct decision *decision, struct access_decision *ret)
{
    json_t *context = json_object_get(decision->output, "context");
    if (context != NULL && !json_is_null(context) && !json_is_object(context))
        return "context";
    *ret = (struct access_decision){
        .allow = decision->allow,
        .context = json_is_object(context) ? context : NULL,
        .reasons = decision->reasons,
    };
    return NULL;
}

/* Read the decisions of a batch, each as strictly as a single one. */
static enum az_status
read_batch(struct op *op, struct access *access, struct verdict *verdict)
{
    static const struct decision_bounds none = {.scopes = NULL};
    json_t *list = json_object_get(verdict->decision.output, "evaluations");
    size_t count = json_array_size(access->question.requests);
    if (!json_is_array(list) || json_array_size(list) != count)
        return ask_refuse(op, "evaluations", "does not have one decision for each request",
                          verdict);
    for (size_t i = 0; i < count; i++) {
        struct decision decision = {.revision = verdict->decision.revision};
        enum az_status st = decision_read(op, json_array_get(list, i), &none, &decision);
        if (st != AZ_OK)
            return st == AZ_UNAVAILABLE ? ask_refuse(op, "evaluations", "is malformed", verdict)
                                        : st;
        if (access_read(&decision, &access->decisions[i]) != NULL)
            return ask_refuse(op, "context", "is not an object", verdict);
    }
    return AZ_OK;
}

enum az_status
access_ask(struct op *op, struct access *access, struct verdict *ret)
{
    static const struct decision_bounds none = {.scopes = NULL};
    const struct access_question *question = &access->question;
    size_t count = json_array_size(question->requests);
    access->decisions = talloc_zero_array(op->mem, struct access_decision, (unsigned) count);
    if (access->decisions == NULL)
        return op_no_memory(op);
    enum az_status st = ask_entrypoint(
        op, entrypoint_paths[question->batch ? ENTRYPOINT_AUTHZEN_BATCH : ENTRYPOINT_AUTHZEN],
        question_access(op, question), &none, ret);
    if (st != AZ_OK)
        return st;
    const struct decision *decision = &ret->decision;
    access->entitled = outcome_entitled(decision, question->batch);
    if (!access->entitled)
        return AZ_OK;
    if (question->batch)
        return read_batch(op, access, ret);
    return access_read(decision, &access->decisions[0]) == NULL
               ? AZ_OK
               : ask_refuse(op, "context", "is not an object", ret);
}
