/* The objects of the service, over the admin API. */
#include "config.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "cli/instance/instance.h"
#include "cli/lib/input.h"
#include "cli/policy/bundle_stored.h"
#include "policy/rows/data_key.h"
#include "policy/rows/rule.h"

/* Clients of these registrations belong to whoever registered them. */
static bool
is_registered(const struct instance_kind *kind, const json_t *object)
{
    const char *type = json_string_value(json_object_get(object, "registrationType"));
    return strcmp(kind->name, "client") == 0 && type != NULL && strcmp(type, "ADMIN") != 0;
}

/* Ask for a list of the admin API. */
static int
ask_list(struct instance *run, const char *path, const struct query_pair *query, json_t **ret)
{
    const struct call call = {
        .method = "GET", .path = path, .query = query, .queries = query != NULL};
    struct answer answer;
    int status = call_run(run->cli, &call, NULL, &answer);
    if (status == CLI_OK && !json_is_array(answer.json)) {
        instance_refuse(
            run, "%s: the answer is not a list; is the URL of --server that of the service?", path);
        return CLI_FAILED;
    }
    *ret = answer.json;
    return status;
}

static int
read_kind(struct instance *run, const struct instance_kind *kind)
{
    json_t *list, *object;
    size_t i;
    int status = ask_list(run, kind->path, NULL, &list);
    if (status != CLI_OK)
        return status;
    json_array_foreach (list, i, object) {
        const char *key = json_string_value(json_object_get(object, kind->key));
        json_t *normal = instance_normal(run->cli->mem, kind, object);
        if (key == NULL || is_registered(kind, object))
            continue;
        json_t *tools = json_object_get(object, "tools");
        if (!instance_put(run->stored, kind->name, key, json_incref(normal))
            || (tools != NULL && !instance_put(run->tools, kind->name, key, json_incref(tools))))
            return output_no_memory(run->cli);
    }
    return CLI_OK;
}

/* Rows below svc are shipped or those of connectors, and the service does not delete them. */
static bool
note_shipped(struct instance *run, const char *key)
{
    return !policy_name_lies_in(key, "svc") || instance_put(run->fixed, "row", key, json_true());
}

static int
read_rules(struct instance *run, const json_t *rules)
{
    size_t i;
    json_t *rule;
    json_array_foreach (rules, i, rule) {
        const char *path = json_string_value(json_object_get(rule, "path"));
        if (path != NULL && !rule_path_is_ours(path)
            && !instance_put(run->stored, "rule", path,
                             json_pack("{s:O,s:b}", "content", json_object_get(rule, "content"),
                                       "enabled",
                                       !json_is_false(json_object_get(rule, "enabled")))))
            return output_no_memory(run->cli);
    }
    return CLI_OK;
}

static int
read_rows(struct instance *run, const json_t *rows)
{
    size_t i;
    json_t *row, *payload;
    int status = CLI_OK;
    json_array_foreach (rows, i, row) {
        const char *key = json_string_value(json_object_get(row, "dataKey"));
        /* The row of a connector comes and goes with it. */
        if (key == NULL || json_is_false(json_object_get(row, "inBundle"))
            || policy_name_lies_in(key, "svc.connectors"))
            continue;
        status =
            input_payload(run->cli, json_string_value(json_object_get(row, "payload")), &payload);
        if (status != CLI_OK)
            return status;
        if (!note_shipped(run, key) || !instance_split(run->cli->mem, run->stored, key, payload))
            return output_no_memory(run->cli);
    }
    return CLI_OK;
}

static int
read_policy(struct instance *run)
{
    struct bundle_stored policy;
    int status = bundle_stored_read(run->cli, &policy);
    if (status != CLI_OK)
        return status;
    run->revision = *policy.revision != '\0' ? policy.revision : NULL;
    status = read_rules(run, policy.rules);
    return status == CLI_OK ? read_rows(run, policy.rows) : status;
}

static int
read_marks(struct instance *run)
{
    json_t *list, *mark;
    size_t i;
    int status = ask_list(run, "/admin/api/object-owners", NULL, &list);
    if (status != CLI_OK)
        return status;
    json_array_foreach (list, i, mark) {
        const char *kind = json_string_value(json_object_get(mark, "kind")),
                   *key = json_string_value(json_object_get(mark, "key"));
        if (instance_kind_named(kind) != NULL && key != NULL
            && !instance_put(run->marks, kind, key, json_incref(mark)))
            return output_no_memory(run->cli);
    }
    return CLI_OK;
}

static int
read_home(struct instance *run)
{
    const struct call call = {.method = "GET", .path = "/admin/api/home-issuer"};
    struct answer answer;
    int status = call_run(run->cli, &call, NULL, &answer);
    if (status == CLI_OK)
        run->home = json_string_value(json_object_get(answer.json, "idpId"));
    return status;
}

int
instance_read_stored(struct instance *run)
{
    int status = CLI_OK;
    run->stored = instance_table(run->cli->mem);
    run->marks = instance_table(run->cli->mem);
    run->fixed = instance_table(run->cli->mem);
    run->tools = instance_table(run->cli->mem);
    if (run->stored == NULL || run->marks == NULL || run->fixed == NULL || run->tools == NULL)
        return output_no_memory(run->cli);
    for (const struct instance_kind *kind = instance_kinds; kind->name != NULL; kind++)
        if (status == CLI_OK && kind->folder != NULL)
            status = read_kind(run, kind);
    if (status == CLI_OK)
        status = read_policy(run);
    if (status == CLI_OK)
        status = read_marks(run);
    return status == CLI_OK ? read_home(run) : status;
}
