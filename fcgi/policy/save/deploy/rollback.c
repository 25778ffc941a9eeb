#include "config.h"

#include "policy/save/deploy/rollback.h"

#include <string.h>

#include "policy/impact/guards.h"

static const char *
stored_member(const json_t *row, const char *name)
{
    return json_string_value(json_object_get(row, name));
}

enum az_status
rollback_read(struct op *op, const json_t *content, struct deploy *ret)
{
    const json_t *rules = json_object_get(content, "rules"),
                 *data = json_object_get(content, "data"), *row;
    size_t i, rule_count = json_array_size(rules), data_count = json_array_size(data);
    struct deploy_rule *rule =
        talloc_zero_array(op->mem, struct deploy_rule, (unsigned) rule_count + 1);
    struct deploy_data *entry =
        talloc_zero_array(op->mem, struct deploy_data, (unsigned) data_count + 1);
    if (rule == NULL || entry == NULL)
        return op_no_memory(op);
    json_array_foreach (rules, i, row)
        rule[i] = (struct deploy_rule){.path = stored_member(row, "path"),
                                       .content = stored_member(row, "content"),
                                       .enabled = true,
                                       .version = stored_member(row, "version")};
    data_count = 0;
    json_array_foreach (data, i, row) {
        const char *key = stored_member(row, "dataKey");
        /* The guards of now stay: a rollback to a time before them removes none. */
        if (key != NULL && strcmp(key, GUARDS_ROW) == 0)
            continue;
        entry[data_count++] = (struct deploy_data){.data_key = key,
                                                   .payload = stored_member(row, "payload"),
                                                   .version = stored_member(row, "version")};
    }
    *ret = (struct deploy){
        .rule = rule,
        .rules = rule_count,
        .data = entry,
        .data_rows = data_count,
        .replace = true,
        .bundle_only = true,
        .source = "rollback",
    };
    return AZ_OK;
}

enum az_status
deploy_rollback(struct op *op, const json_t *content, const struct rollback *how,
                struct deploy_result *ret)
{
    struct deploy deploy;
    enum az_status st = rollback_read(op, content, &deploy);
    if (st != AZ_OK)
        return st;
    deploy.who = how->who;
    deploy.message = how->message;
    deploy.if_revision = how->if_revision;
    deploy.limits = how->limits;
    deploy.dry_run = how->dry_run;
    return deploy_run(op, &deploy, ret);
}
