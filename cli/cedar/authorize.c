#include "config.h"

#include "cli/cedar/authorize.h"

/* Add an id; ids has room. */
static void
add_id(struct cedar_ids *ids, struct cedar_text id)
{
    ids->id[ids->count++] = id;
}

bool
cedar_decide(TALLOC_CTX *mem, const struct cedar_file *file, const enum cedar_outcome *outcome,
             struct cedar_answer *ret)
{
    struct cedar_ids permits = {talloc_array(mem, struct cedar_text, file->policies), 0},
                     forbids = {talloc_array(mem, struct cedar_text, file->policies), 0},
                     errors = {talloc_array(mem, struct cedar_text, file->policies), 0};
    if (permits.id == NULL || forbids.id == NULL || errors.id == NULL)
        return false;
    for (size_t i = 0; i < file->policies; i++)
        if (outcome[i] == CEDAR_NO_MEMORY)
            return false;
        else if (outcome[i] == CEDAR_ERROR)
            add_id(&errors, file->policy[i].id);
        else if (outcome[i] == CEDAR_SATISFIED)
            add_id(file->policy[i].forbid ? &forbids : &permits, file->policy[i].id);
    *ret = (struct cedar_answer){.allow = forbids.count == 0 && permits.count > 0,
                                 .reason = forbids.count > 0 ? forbids : permits,
                                 .errors = errors};
    return true;
}

/* Evaluate a condition of a policy. */
static enum cedar_outcome
outcome_of(TALLOC_CTX *mem, const struct cedar_node *node, bool unless,
           const struct cedar_entities *entities, const struct cedar_request *request)
{
    struct cedar_value value;
    bool no_memory;
    if (!cedar_evaluate(mem, node, entities, request, &value, &no_memory))
        return no_memory ? CEDAR_NO_MEMORY : CEDAR_ERROR;
    if (value.type != CEDAR_BOOL)
        return CEDAR_ERROR;
    return value.truth != unless ? CEDAR_SATISFIED : CEDAR_NOT_SATISFIED;
}

/* Evaluate the parts of a policy as operands of `&&`: the first one that is false ends it. */
static enum cedar_outcome
evaluate_policy(TALLOC_CTX *mem, const struct cedar_policy *policy,
                const struct cedar_entities *entities, const struct cedar_request *request)
{
    enum cedar_outcome outcome = CEDAR_SATISFIED;
    for (int i = 0; i < 3 && outcome == CEDAR_SATISFIED; i++)
        if (policy->scope[i] != NULL)
            outcome = outcome_of(mem, policy->scope[i], false, entities, request);
    for (size_t i = 0; i < policy->conditions && outcome == CEDAR_SATISFIED; i++)
        outcome = outcome_of(mem, policy->condition[i].body, policy->condition[i].unless, entities,
                             request);
    return outcome;
}

bool
cedar_authorize(TALLOC_CTX *mem, const struct cedar_file *file,
                const struct cedar_entities *entities, const struct cedar_request *request,
                struct cedar_answer *ret)
{
    TALLOC_CTX *work = talloc_new(mem);
    enum cedar_outcome *outcome =
        work != NULL ? talloc_array(work, enum cedar_outcome, file->policies) : NULL;
    bool fine = outcome != NULL;
    for (size_t i = 0; fine && i < file->policies; i++)
        outcome[i] = evaluate_policy(work, &file->policy[i], entities, request);
    fine = fine && cedar_decide(mem, file, outcome, ret);
    talloc_free(work);
    return fine;
}
