#include "config.h"

#include "policy/shadow/shadow_private.h"

#include "base/json/jsonx.h"
#include "base/utf8.h"
#include "policy/shadow/change.h"
#include "store/policy/shadow.h"

/* Return why a deploy was refused, on op->mem. */
static const char *
reason_of(struct op *op, const struct deploy_result *result)
{
    const char *text = result->save.refusal.description, *field;
    json_t *why;
    if (text == NULL)
        json_object_foreach (result->faults, field, why)
            return talloc_asprintf(op->mem, "%s: %s", field, json_string_value(why));
    if (text == NULL && result->data_key != NULL)
        text = talloc_asprintf(op->mem, "%s does not match its schema", result->data_key);
    if (text == NULL)
        text = op->fault.public_text[0] != '\0' ? op->fault.public_text : op->fault.detail;
    return utf8_strndup(op->mem, text, SHADOW_NOTE_MAX);
}

/* Read what was planned. */
static enum az_status
read_policy(struct op *op, const struct impact_pair *pair, struct shadow_policy *ret)
{
    ret->base = talloc_strdup(ret, pair->base.revision);
    ret->candidate = talloc_strdup(ret, pair->candidate.revision);
    if (ret->base == NULL || ret->candidate == NULL)
        return op_no_memory(op);
    enum az_status st = side_read_rows(op, ret, pair->base.data, &ret->base_rows);
    return st == AZ_OK ? side_read(op, ret, &pair->candidate, NULL, &ret->side) : st;
}

enum az_status
shadow_build(struct op *op, TALLOC_CTX *mem, const char *change, struct shadow_policy **ret,
             const char **ret_why)
{
    struct shadow_policy *policy = talloc_zero(mem, struct shadow_policy);
    struct deploy deploy;
    struct deploy_result result = {.data_key = NULL};
    struct impact_pair pair;
    json_t *errors = NULL;
    enum az_status st = policy != NULL ? shadow_change_read(op, change, &deploy) : op_no_memory(op);
    /* It is compared with each base; what was saved meanwhile is refused when it is promoted. */
    deploy.replaced = NULL;
    if (st == AZ_OK)
        st = deploy_measure(op, &deploy, &result, &pair, &errors);
    if (st == AZ_OK)
        st = read_policy(op, &pair, policy);
    *ret_why = st == AZ_OK ? NULL : reason_of(op, &result);
    *ret = st == AZ_OK ? policy : NULL;
    if (st != AZ_OK)
        talloc_free(policy);
    return st;
}
