/* The rules, rows and entries of a plan: one deploy saves all of them or none. */
#include "config.h"

#include "cli/instance/instance.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "cli/lib/input.h"
#include "cli/policy/bundle.h"
#include "cli/policy/opa_check.h"
#include "cli/policy/stored.h"
#include "crypto/digest.h"

/* The deploy of a plan. */
struct policy_deploy {
    struct deploy deploy;
    struct deploy_rule *rule;
    json_t *rows; /* payloads by data key */
    struct jsonx_build marks;
};

static bool
is_saved(const json_t *step, const char *kind)
{
    const char *action = json_string_value(json_object_get(step, "action")),
               *its = json_string_value(json_object_get(step, "kind"));
    return action != NULL && its != NULL && strcmp(its, kind) == 0
           && (strcmp(action, "create") == 0 || strcmp(action, "change") == 0);
}

/* Read the payload of a shared row, to merge entries into it; {} if there is no such row. */
static int
read_payload(struct instance *run, const char *data_key, json_t **ret)
{
    const struct query_pair query = {"dataKey", data_key};
    const struct call call = {
        .method = "GET", .path = "/admin/api/policy-data/by-key", .query = &query, .queries = 1};
    struct answer answer;
    int status = call_send(run->cli, &call, &answer);
    if (status == CLI_OK && answer.status == 404)
        *ret = jsonx_own(run->cli->mem, json_object());
    else if (status == CLI_OK && answer.status != 200)
        return call_refuse(run->cli, &answer, NULL);
    else if (status == CLI_OK)
        status = input_payload(run->cli, json_string_value(json_object_get(answer.json, "payload")),
                               ret);
    return status == CLI_OK && *ret == NULL ? output_no_memory(run->cli) : status;
}

static int
add_entry(struct instance *run, struct policy_deploy *policy, const char *key, json_t *value)
{
    const char *row = instance_row_of(run->cli->mem, key);
    json_t *payload = row != NULL ? json_object_get(policy->rows, row) : NULL;
    int status = CLI_OK;
    if (row != NULL && payload == NULL) {
        status = read_payload(run, row, &payload);
        if (status == CLI_OK && json_object_set(policy->rows, row, payload) != 0)
            status = output_no_memory(run->cli);
    }
    if (status == CLI_OK && !instance_merge(run->cli->mem, payload, key, value))
        return output_no_memory(run->cli);
    return status;
}

/* Add a step to the deploy, if it is one of it. */
static int
add_policy(struct instance *run, struct policy_deploy *policy, const json_t *step)
{
    const char *key = json_string_value(json_object_get(step, "key"));
    const json_t *object = json_object_get(step, "object");
    json_t *payload = json_object_get(object, "payload");
    if (is_saved(step, "rule")) {
        const char *content = json_string_value(json_object_get(object, "content"));
        policy->rule[policy->deploy.rules++] =
            (struct deploy_rule){.path = key,
                                 .content = content != NULL ? content : "",
                                 .enabled = !json_is_false(json_object_get(object, "enabled"))};
    } else if (is_saved(step, "row")) {
        if (json_object_set(policy->rows, key, payload) != 0)
            return output_no_memory(run->cli);
    } else if (is_saved(step, "entry")) {
        return add_entry(run, policy, key, payload);
    }
    return CLI_OK;
}

static int
make_rows(struct instance *run, struct policy_deploy *policy)
{
    TALLOC_CTX *mem = run->cli->mem;
    const char *key;
    json_t *payload;
    struct deploy_data *data =
        talloc_array(mem, struct deploy_data, (unsigned) json_object_size(policy->rows) + 1);
    if (data == NULL)
        return output_no_memory(run->cli);
    json_object_foreach (policy->rows, key, payload) {
        const char *text = jsonx_dump(mem, payload);
        if (text == NULL)
            return output_no_memory(run->cli);
        data[policy->deploy.data_rows++] = (struct deploy_data){.data_key = key, .payload = text};
    }
    policy->deploy.data = data;
    return CLI_OK;
}

static int
make_deploy(struct instance *run, struct policy_deploy *policy)
{
    size_t i;
    json_t *step;
    int status = CLI_OK;
    *policy = (struct policy_deploy){
        .deploy = {.message = run->cli->choice.note, .if_revision = run->revision},
        .rule = talloc_array(run->cli->mem, struct deploy_rule,
                             (unsigned) json_array_size(run->steps) + 1),
        .rows = jsonx_own(run->cli->mem, json_object())
    };
    if (policy->rule == NULL || policy->rows == NULL)
        return output_no_memory(run->cli);
    json_array_foreach (run->steps, i, step)
        if (status == CLI_OK)
            status = add_policy(run, policy, step);
    policy->deploy.rule = policy->rule;
    return status == CLI_OK ? make_rows(run, policy) : status;
}

/* Mark what the deploy saves, in its transaction. What is more than it takes is marked later. */
static int
add_marks(struct instance *run, struct policy_deploy *policy)
{
    static const char *const kinds[] = {"rule", "row", "entry"};
    char digest[SHA256_HEX_SIZE];
    size_t i;
    json_t *step;
    policy->marks = (struct jsonx_build){jsonx_own(run->cli->mem, json_array()), false};
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
        json_array_foreach (run->steps, i, step) {
            if (!is_saved(step, kinds[k])
                || json_array_size(policy->marks.value) == DEPLOY_MARKS_MAX)
                continue;
            if (!instance_digest(run, json_object_get(step, "object"), digest)
                || json_object_set_new(step, INSTANCE_MARKED, json_true()) != 0)
                return output_no_memory(run->cli);
            jsonx_append(&policy->marks, json_pack("{s:s,s:O,s:s}", "kind", kinds[k], "key",
                                                   json_object_get(step, "key"), "digest", digest));
        }
    policy->deploy.owner = run->owner;
    policy->deploy.marks = jsonx_built(&policy->marks);
    return policy->deploy.marks != NULL ? CLI_OK : output_no_memory(run->cli);
}

/* Send the deploy. Before a rehearsal the engine's program compiles the rules, as the service does
 * with a save alone. */
static int
run_deploy(struct instance *run, const char *mode, bool *ret_saved)
{
    struct policy_deploy policy;
    struct answer answer;
    int status = make_deploy(run, &policy);
    *ret_saved = false;
    if (status != CLI_OK || policy.deploy.rules + policy.deploy.data_rows == 0)
        return status;
    const struct refusal_source source = {
        .deploy = &policy.deploy,
        .dir = run->dir != NULL ? talloc_asprintf(run->cli->mem, "%s/" INSTANCE_POLICY, run->dir)
                                : NULL};
    *ret_saved = strcmp(mode, "merge") == 0;
    if (*ret_saved)
        status = add_marks(run, &policy);
    else if (policy.deploy.rules > 0)
        status = opa_check_deploy(run->cli, &policy.deploy, source.dir);
    if (status != CLI_OK)
        return status;
    status = bundle_deploy_remote(run->cli, &policy.deploy, mode, &source, &answer);
    return status == CLI_OK && !*ret_saved ? stored_impact(run->cli, &answer, &run->impact)
                                           : status;
}

int
policy_rehearse(struct instance *run)
{
    bool saved;
    return run_deploy(run, "dry-run", &saved);
}

int
policy_save(struct instance *run, bool *ret_saved)
{
    return run_deploy(run, "merge", ret_saved);
}

int
policy_rule_place(struct instance *run, const char *path, const char **ret)
{
    const struct query_pair query = {"path", path};
    const struct call call = {
        .method = "GET", .path = "/admin/api/policy-rules", .query = &query, .queries = 1};
    struct answer answer;
    size_t i;
    json_t *rule;
    int status = call_run(run->cli, &call, NULL, &answer);
    *ret = NULL;
    json_array_foreach (status == CLI_OK ? answer.json : NULL, i, rule) {
        const char *its = json_string_value(json_object_get(rule, "path"));
        if (its != NULL && strcmp(its, path) == 0)
            *ret = talloc_asprintf(run->cli->mem, "/admin/api/policy-rules/%lld",
                                   (long long) json_integer_value(json_object_get(rule, "id")));
    }
    if (status == CLI_OK && *ret == NULL) {
        instance_refuse(run, "rule %s is gone; run this again", path);
        return CLI_FAILED;
    }
    return status;
}
