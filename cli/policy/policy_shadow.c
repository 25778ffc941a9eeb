/* policy shadow: a change that decides nothing, and what it would have decided. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/digits.h"
#include "base/json/jsonx.h"
#include "cli/lib/limits.h"
#include "cli/lib/output.h"
#include "cli/policy/bundle.h"
#include "cli/policy/impact.h"
#include "cli/policy/stored.h"
#include "cli/verbs.h"

#define SHADOW "/admin/api/policy-shadow"
#define NONE "there is no shadow; `authzctl policy shadow set DIR` makes one"

/* clang-format off */
const struct cli_option policy_shadow_drop_options[] = {CLI_YES, {NULL, 0, NULL, 0, false, NULL}};
const struct cli_option policy_shadow_promote_options[] = {
    LIMITS_OPTIONS,
    LIMITS_OVERRIDE_OPTION,
    LIMITS_SINCE_OPTION,
    CLI_YES,
    {NULL, 0, NULL, 0, false, NULL},
};
const struct cli_option policy_shadow_set_options[] = {
    CLI_MESSAGE,
    {"mode", 0, "MODE", offsetof(struct cli_choices, mode), false,
     "Either merge (default) or replace, as of `bundle deploy`"},
    {"rate", 0, "N", offsetof(struct cli_choices, rate), false,
     "Compare one decision in N, chosen at random (default 10; 1 to 1000000)"},
    {"replace", 0, NULL, offsetof(struct cli_choices, replace), false,
     "End the shadow that is active"},
    {"until", 0, "PERIOD", offsetof(struct cli_choices, until), false,
     "End after this period, for example 24h or 14d (default), or at a time; at most 30 days"},
    CLI_YES,
    {NULL, 0, NULL, 0, false, NULL},
};
/* clang-format on */

static const char *
text(const json_t *object, const char *name)
{
    const char *value = json_string_value(json_object_get(object, name));
    return value != NULL ? value : "-";
}

static long long
number(const json_t *object, const char *name)
{
    return (long long) json_integer_value(json_object_get(object, name));
}

/* Print a shadow, with its result if it has one. */
static void
print_shadow(const struct cli *cli, const json_t *shadow)
{
    const json_t *result = json_object_get(shadow, "result");
    if (cli->choice.json) {
        output_json(shadow);
        return;
    }
    output_print("shadow %lld %s  revision %s  candidate %s  1 of %lld until %s\n",
                 number(shadow, "id"), text(shadow, "state"), text(shadow, "baseRevision"),
                 text(shadow, "candidateRevision"), number(shadow, "rate"), text(shadow, "until"));
    if (json_object_get(shadow, "note") != NULL)
        output_print("stale: %s\n", text(shadow, "note"));
    if (result == NULL)
        return;
    output_print("%lld decisions   moved %lld   dropped %lld\n", number(result, "looked"),
                 number(result, "moved"), number(result, "dropped"));
    impact_print_counts(result);
}

/* Read the ETag of the shadow that is active, or NULL. */
static int
find_active(struct cli *cli, const char **ret)
{
    const struct call call = {.method = "GET", .path = SHADOW};
    struct answer answer;
    int status = call_send(cli, &call, &answer);
    if (status != CLI_OK || answer.status == 404)
        return status;
    if (answer.status != 200)
        return call_refuse(cli, &answer, NULL);
    const char *state = text(answer.json, "state");
    if (strcmp(state, "active") == 0 || strcmp(state, "stale") == 0)
        *ret = call_header(cli, &answer, "ETag");
    return CLI_OK;
}

/* Return the body of the request; NULL: no memory. */
static json_t *
request_body(struct cli *cli, const struct deploy *deploy, int64_t rate)
{
    const char *mode = cli->choice.mode != NULL ? cli->choice.mode : "merge";
    struct jsonx_build body = {bundle_deploy_request(cli, deploy, mode), false};
    if (rate > 0)
        jsonx_set(&body, "rate", json_integer(rate));
    if (cli->choice.until != NULL)
        jsonx_set(&body, "until", json_string(cli->choice.until));
    return jsonx_built(&body);
}

int
policy_shadow_set_run(struct cli *cli)
{
    struct bundle_dir dir;
    struct answer answer;
    int64_t rate = 0;
    bool missing;
    const char *active = NULL;
    if (cli->choice.rate != NULL && (!digits_read(cli->choice.rate, 1000000, &rate) || rate == 0)) {
        output_error("%s: --rate: '%s' must be a number from 1 to 1000000", cli->path,
                     cli->choice.rate);
        return CLI_USAGE;
    }
    int status = bundle_read_policy(cli, cli->args[0], &dir);
    if (status == CLI_OK && cli->choice.replace)
        status = find_active(cli, &active);
    if (status != CLI_OK)
        return status;
    const struct deploy deploy = {.rule = dir.rule,
                                  .rules = dir.rules,
                                  .data = dir.data,
                                  .data_rows = dir.data_rows,
                                  .message = cli->choice.note};
    const struct call call = {.method = "PUT",
                              .path = SHADOW,
                              .if_match = active,
                              .body = request_body(cli, &deploy, rate)};
    const struct refusal_source source = {.deploy = &deploy, .dir = dir.name};
    if (call.body == NULL)
        return output_no_memory(cli);
    status = stored_save(cli, &call, &source, &answer, &missing);
    if (missing)
        return call_refuse(cli, &answer, NULL);
    if (status == CLI_OK)
        print_shadow(cli, answer.json);
    return status;
}

int
policy_shadow_status_run(struct cli *cli)
{
    const struct call call = {.method = "GET", .path = SHADOW};
    struct answer answer;
    int status = call_run(cli, &call, NONE, &answer);
    if (status == CLI_OK)
        print_shadow(cli, answer.json);
    return status;
}

int
policy_shadow_promote_run(struct cli *cli)
{
    struct query_pair query[LIMITS_QUERY_MAX];
    struct answer answer;
    const char *active = NULL;
    bool missing;
    int status = find_active(cli, &active);
    if (status != CLI_OK)
        return status;
    const struct call call = {.method = "POST",
                              .path = SHADOW "/promote",
                              .query = query,
                              .queries = limits_query(cli, query),
                              .if_match = active};
    const struct deploy deploy = {.rules = 0};
    const struct refusal_source source = {.deploy = &deploy};
    status = stored_save(cli, &call, &source, &answer, &missing);
    if (missing)
        return call_refuse(cli, &answer, NONE);
    if (status != CLI_OK)
        return status;
    bundle_print_revision(cli, text(answer.json, "revision"), text(answer.json, "activation"),
                          false, json_object());
    return CLI_OK;
}

int
policy_shadow_drop_run(struct cli *cli)
{
    const struct call call = {.method = "DELETE", .path = SHADOW};
    struct answer answer;
    int status = call_run(cli, &call, NONE, &answer);
    if (status == CLI_OK)
        output_line(cli, "the shadow was dropped");
    return status;
}
