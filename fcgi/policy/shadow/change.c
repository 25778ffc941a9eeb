#include "config.h"

#include "policy/shadow/change.h"

#include <string.h>

#include "base/json/jsonx.h"

/* Nesting of the text, in which payloads are texts. */
#define CHANGE_DEPTH_MAX 8

#define MODE_REPLACE "replace"

const char *
shadow_change_mode(const struct deploy *deploy)
{
    return deploy->replace ? MODE_REPLACE : "merge";
}

/* True if the shadow holds what is listed at this place. One that only adds to what is stored
 * leaves out what is there already: it would take back what is saved while it is compared. */
static bool
is_held(const struct deploy *deploy, const bool *same, size_t place)
{
    return deploy->replace || same == NULL || !same[place];
}

static void
set_list(struct jsonx_build *out, const char *name, const json_t *list)
{
    if (list != NULL)
        jsonx_set(out, name, json_incref((json_t *) (uintptr_t) list));
}

const char *
shadow_change_write(TALLOC_CTX *mem, const struct deploy *deploy,
                    const struct deploy_result *result)
{
    struct jsonx_build rules = {json_array(), false}, data = {json_array(), false};
    for (size_t i = 0; i < deploy->rules; i++)
        if (is_held(deploy, result->same_rule, i))
            jsonx_append(&rules,
                         json_pack("{s:s,s:s,s:b}", "path", deploy->rule[i].path, "content",
                                   deploy->rule[i].content, "enabled", deploy->rule[i].enabled));
    for (size_t i = 0; i < deploy->data_rows; i++)
        if (is_held(deploy, result->same_data, i))
            jsonx_append(&data, json_pack("{s:s,s:s}", "dataKey", deploy->data[i].data_key,
                                          "payload", deploy->data[i].payload));
    struct jsonx_build out = {
        jsonx_own(mem, json_pack("{s:s}", "mode", shadow_change_mode(deploy))),
        rules.lost || data.lost};
    jsonx_set(&out, "rules", rules.value);
    jsonx_set(&out, "data", data.value);
    set_list(&out, "deleteRules", deploy->delete_rules);
    set_list(&out, "deleteData", deploy->delete_data);
    set_list(&out, "replaced", result->replaced);
    const json_t *built = jsonx_built(&out);
    return built != NULL ? jsonx_dump(mem, built) : NULL;
}

static const char *
text_of(const json_t *item, const char *name)
{
    return json_string_value(json_object_get(item, name));
}

enum az_status
shadow_change_read(struct op *op, const char *text, struct deploy *ret)
{
    json_t *change = NULL;
    size_t index;
    const json_t *item;
    enum az_status st = jsonx_parse(op->mem, text, strlen(text), CHANGE_DEPTH_MAX, &change, NULL);
    const json_t *rules = json_object_get(change, "rules"), *data = json_object_get(change, "data");
    const char *mode = st == AZ_OK ? text_of(change, "mode") : NULL;
    struct deploy_rule *rule =
        talloc_zero_array(op->mem, struct deploy_rule, (unsigned) json_array_size(rules) + 1);
    struct deploy_data *row =
        talloc_zero_array(op->mem, struct deploy_data, (unsigned) json_array_size(data) + 1);
    if (mode == NULL || rule == NULL || row == NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "the change of a shadow cannot be read");
    json_array_foreach (rules, index, item)
        rule[index] = (struct deploy_rule){
            .path = text_of(item, "path"),
            .content = text_of(item, "content"),
            .enabled = json_is_true(json_object_get(item, "enabled")),
        };
    json_array_foreach (data, index, item)
        row[index] = (struct deploy_data){.data_key = text_of(item, "dataKey"),
                                          .payload = text_of(item, "payload")};
    *ret = (struct deploy){
        .rule = rule,
        .rules = json_array_size(rules),
        .data = row,
        .data_rows = json_array_size(data),
        .delete_rules = json_object_get(change, "deleteRules"),
        .delete_data = json_object_get(change, "deleteData"),
        .replace = strcmp(mode, MODE_REPLACE) == 0,
        .source = "deploy",
        .replaced = json_object_get(change, "replaced"),
    };
    return AZ_OK;
}
