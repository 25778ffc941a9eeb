#include "config.h"

#include "cli/policy/stored.h"

#include <stdio.h>
#include <string.h>

#include "base/digits.h"
#include "base/json/jsonx.h"
#include "cli/lib/input.h"
#include "cli/lib/output.h"
#include "policy/rows/data_key.h"
#include "store/policy/bundle_history.h"

#define API "/admin/api/"

/* Ask for a path with at most one parameter; the answer's text becomes *ret, NULL for 404 and 409.
 */
static int
stored_get(struct cli *cli, const char *path, const char *name, const char *value,
           struct answer *ret)
{
    const struct query_pair pair = {name, value};
    const struct call call = {
        .method = "GET", .path = path, .query = &pair, .queries = name != NULL};
    int status = call_send(cli, &call, ret);
    if (status != CLI_OK)
        return status;
    if (ret->status == 404 || ret->status == 409)
        ret->text = NULL, ret->json = NULL;
    else if (ret->status != 200)
        return call_refuse(cli, ret, NULL);
    return CLI_OK;
}

static int
stored_get_text(struct cli *cli, const char *path, const char **ret)
{
    struct answer answer;
    int status = stored_get(cli, path, NULL, NULL, &answer);
    if (status == CLI_OK)
        *ret = answer.text;
    return status;
}

/* Return the exit status of a call of the store, after printing its fault. */
static int
stored_read(const struct cli *cli, enum az_status st)
{
    return st == AZ_OK ? CLI_OK : output_fault(cli);
}

int
stored_rules(struct cli *cli, const char **ret_list)
{
    const struct policy_rule_filter all = {.path = NULL};
    return cli->choice.server != NULL
               ? stored_get_text(cli, API "policy-rules", ret_list)
               : stored_read(cli, policy_rule_list(&cli->op, &all, ret_list));
}

int
stored_rows(struct cli *cli, const char **ret_list)
{
    return cli->choice.server != NULL
               ? stored_get_text(cli, API "policy-data", ret_list)
               : stored_read(cli, policy_data_list(&cli->op, NULL, ret_list));
}

/* Read the bundles in two pages if one cannot hold them: the second is the page of one bundle after
 * the full one. */
static int
stored_pages(struct cli *cli, int64_t count, const char **ret_list)
{
    const int64_t size = count < BUNDLE_HISTORY_PAGE_MAX ? count : BUNDLE_HISTORY_PAGE_MAX;
    const char *last;
    json_t *list, *more;
    int status = stored_get_text(
        cli, talloc_asprintf(cli->mem, API "bundle-audit?size=%d", (int) size), ret_list);
    for (int64_t page = size; status == CLI_OK && page < count; page++) {
        status = stored_get_text(
            cli, talloc_asprintf(cli->mem, API "bundle-audit?size=1&page=%d", (int) page), &last);
        if (status == CLI_OK && (status = input_list(cli, *ret_list, &list)) == CLI_OK
            && (status = input_list(cli, last, &more)) == CLI_OK) {
            json_array_extend(list, more);
            *ret_list = jsonx_dump(cli->mem, list);
        }
    }
    return status;
}

int
stored_bundles(struct cli *cli, int64_t count, const char **ret_list)
{
    return cli->choice.server != NULL
               ? stored_pages(cli, count, ret_list)
               : stored_read(cli, bundle_history_list(&cli->op, count, ret_list));
}

int
stored_latest(struct cli *cli, const char **ret_bundle)
{
    *ret_bundle = NULL;
    return cli->choice.server != NULL
               ? stored_get_text(cli, API "bundle-audit/latest", ret_bundle)
               : stored_read(cli, bundle_history_latest(&cli->op, ret_bundle));
}

int
stored_content(struct cli *cli, int64_t id, json_t **ret)
{
    struct answer answer = {.json = NULL};
    *ret = NULL;
    if (cli->choice.server == NULL)
        return stored_read(cli, bundle_history_content(&cli->op, id, ret));
    int status =
        stored_get(cli, talloc_asprintf(cli->mem, API "bundle-audit/%lld/content", (long long) id),
                   NULL, NULL, &answer);
    *ret = answer.json;
    return status;
}

/* Take the rule of this path from a list; a path that ends in * is a pattern for the API. */
static void
take_rule(const struct cli *cli, const json_t *list, const char *path, struct policy_rule *ret)
{
    size_t i;
    json_t *item;
    json_array_foreach (list, i, item) {
        const char *found = json_string_value(json_object_get(item, "path"));
        if (found == NULL || strcmp(found, path) != 0)
            continue;
        ret->id = json_integer_value(json_object_get(item, "id"));
        ret->content = json_string_value(json_object_get(item, "content"));
        ret->dto = jsonx_dump(cli->mem, item);
    }
}

int
stored_rule(struct cli *cli, const char *path, struct policy_rule *ret)
{
    struct answer answer;
    *ret = (struct policy_rule){.content = NULL};
    if (cli->choice.server == NULL)
        return stored_read(cli, policy_rule_fetch_path(&cli->op, path, ret));
    int status = stored_get(cli, API "policy-rules", "path", path, &answer);
    if (status == CLI_OK)
        take_rule(cli, answer.json, path, ret);
    return status;
}

int
stored_row(struct cli *cli, const char *key, struct policy_row *ret)
{
    struct answer answer;
    *ret = (struct policy_row){.payload = NULL};
    if (cli->choice.server == NULL)
        return stored_read(cli, policy_data_fetch(&cli->op, key, ret));
    if (policy_data_key_fault(key) != NULL)
        return CLI_OK; /* no row can have it */
    int status = stored_get(cli, API "policy-data/by-key", "dataKey", key, &answer);
    if (status == CLI_OK && answer.text != NULL) {
        ret->payload = json_string_value(json_object_get(answer.json, "payload"));
        ret->dto = answer.text;
    }
    return status;
}

/* ---- saves ---- */

/* Print a refusal as that of a save on the database: with the file and the line that it names. */
static int
stored_refuse(struct cli *cli, const struct answer *answer, const struct refusal_source *source)
{
    const json_t *body = answer->json;
    const char *error = json_string_value(json_object_get(body, "error")),
               *text = json_string_value(json_object_get(body, "error_description")),
               *active = json_string_value(json_object_get(body, "activeRevision"));
    struct deploy_result result = {
        .data_key = json_string_value(json_object_get(body, "dataKey")),
        .failures = json_object_get(body, "failures"),
        .faults = json_object_get(body, "fieldErrors"),
    };
    if (answer->status == 422 && result.failures != NULL)
        return refusal_print(cli, AZ_UNPROCESSABLE, &result, source);
    if (answer->status == 400 && json_object_size(result.faults) > 0)
        return refusal_print(cli, AZ_INVALID_FIELDS, &result, source);
    if (answer->status != 422 || active == NULL || text == NULL)
        return call_refuse(cli, answer, NULL);
    result.save.refusal = (struct save_refusal){
        .error = error,
        .description = text,
        .expected = json_string_value(json_object_get(body, "expectedRevision")),
        .active = active,
        .members = answer->json};
    return refusal_print(cli, AZ_UNPROCESSABLE, &result, source);
}

/* Return the head of an answer that describes the measurement, or NULL if no measurement was asked
 * for or made. */
static const char *
impact_head(const struct cli *cli, const struct answer *answer)
{
    return limits_are_given(cli) ? call_header(cli, answer, "X-Policy-Impact") : NULL;
}

int
stored_save(struct cli *cli, const struct call *call, const struct refusal_source *source,
            struct answer *ret, bool *ret_missing)
{
    int status = call_send(cli, call, ret);
    *ret_missing = status == CLI_OK && ret->status == 404;
    if (status != CLI_OK || *ret_missing)
        return status;
    if (ret->status / 100 != 2)
        return stored_refuse(cli, ret, source);
    const char *warning = call_header(cli, ret, "X-Policy-Warning");
    if (warning != NULL)
        output_error("%s: warning: %s", cli->path, warning);
    if (impact_head(cli, ret) != NULL)
        output_error("%s: measured: %s", cli->path, impact_head(cli, ret));
    return CLI_OK;
}

int
stored_impact(struct cli *cli, const struct answer *answer, json_t **ret)
{
    static const char name[] = "id=";
    const char *head = impact_head(cli, answer);
    int64_t id;
    struct answer measured;
    if (head == NULL || strncmp(head, name, strlen(name)) != 0)
        return CLI_OK;
    head += strlen(name);
    if (digits_take(head, strcspn(head, ";"), INT64_MAX, &id) == 0 || id == 0)
        return CLI_OK;
    const struct call call = {
        .method = "GET",
        .path = talloc_asprintf(cli->mem, API "policy-impact/%lld", (long long) id)};
    if (call.path == NULL)
        return output_no_memory(cli);
    int status = call_run(cli, &call, NULL, &measured);
    if (status == CLI_OK)
        *ret = measured.json;
    return status;
}

const char *
stored_revision(const struct cli *cli, const struct answer *answer)
{
    const char *value = call_header(cli, answer, "X-Policy-Revision");
    return value != NULL ? value : "";
}

const char *
stored_activation(const struct cli *cli, const struct answer *answer)
{
    const char *value = call_header(cli, answer, "X-Policy-Activation");
    return value != NULL ? value : "";
}

size_t
stored_query(const struct cli *cli, struct query_pair first, struct query_pair *ret)
{
    size_t count = limits_query(cli, ret);
    ret[count++] = (struct query_pair){"message", cli->choice.note};
    ret[count++] = first;
    return count;
}

bool
stored_asks(const struct cli *cli)
{
    return cli->choice.server != NULL || limits_are_given(cli);
}
