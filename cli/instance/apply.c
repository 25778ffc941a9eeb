/* apply: take the steps of a plan (F7). Providers, connectors and resources come first, then one
 * deploy of the policy, then clients, and deletions last. The first refusal ends the run, and what
 * was done until then stays: the next run begins where this one ended. */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json/jsonx.h"
#include "cli/instance/apply_object.h"
#include "cli/instance/instance.h"
#include "cli/lib/limits.h"
#include "cli/verbs.h"

/* Marks of one request: the body of the admin API has room for them. */
#define MARKS_AT_ONCE 200

/* clang-format off */
const struct cli_option apply_options[] = {
    LIMITS_IMPACT_OPTION,
    LIMITS_OPTIONS,
    CLI_MESSAGE,
    LIMITS_OVERRIDE_OPTION,
    {"prune", 0, NULL, offsetof(struct cli_choices, prune), false,
     "Delete the objects of this owner that the files no longer have"},
    LIMITS_SINCE_OPTION,
    CLI_YES,
    {NULL, 0, NULL, 0, false, NULL},
};
/* clang-format on */

static bool
step_is(const json_t *step, const char *action)
{
    const char *its = json_string_value(json_object_get(step, "action"));
    return its != NULL && strcmp(its, action) == 0;
}

static const char *
step_key(const json_t *step)
{
    return json_string_value(json_object_get(step, "key"));
}

static bool
step_of(const json_t *step, const struct instance_kind *kind)
{
    const char *its = json_string_value(json_object_get(step, "kind"));
    return its != NULL && strcmp(its, kind->name) == 0;
}

/* ---- objects with files of their own */

static int
apply_step(struct applying *apply, const struct instance_kind *kind, const json_t *step)
{
    if (step_is(step, "create"))
        return apply_create(apply, kind, step);
    if (step_is(step, "change"))
        return apply_change(apply, kind, step);
    if (step_is(step, "approve"))
        return apply_approve(apply, kind, step);
    if (step_is(step, "adopt"))
        return apply_mark(apply, kind, step, json_object_get(step, "object"), NULL);
    return CLI_OK;
}

static int
apply_kind(struct applying *apply, const struct instance_kind *kind)
{
    size_t i;
    json_t *step;
    int status = CLI_OK;
    json_array_foreach (apply->run.steps, i, step)
        if (status == CLI_OK && step_of(step, kind)) {
            status = apply_step(apply, kind, step);
            if (status == CLI_OK)
                apply_tell(apply, step);
        }
    return status;
}

/* ---- rules, rows and entries */

static bool
is_marked(const json_t *step, const char *kind)
{
    const char *its = json_string_value(json_object_get(step, "kind"));
    return its != NULL && strcmp(its, kind) == 0
           && (step_is(step, "create") || step_is(step, "change") || step_is(step, "adopt"));
}

/* Mark the rules, rows and entries that are adopted, and those that the save did not mark. */
static int
mark_policy(struct applying *apply)
{
    static const char *const kinds[] = {"rule", "row", "entry"};
    json_t *marks = jsonx_own(apply->run.cli->mem, json_array()), *step;
    size_t i;
    int status = marks != NULL ? CLI_OK : output_no_memory(apply->run.cli);
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
        json_array_foreach (apply->run.steps, i, step) {
            if (status != CLI_OK || !is_marked(step, kinds[k])
                || json_object_get(step, INSTANCE_MARKED) != NULL)
                continue;
            status = apply_add_mark(apply, marks, kinds[k], step_key(step),
                                    json_object_get(step, "object"), NULL);
            if (status == CLI_OK && json_array_size(marks) >= MARKS_AT_ONCE)
                status = apply_send_marks(apply, marks);
        }
    return status == CLI_OK ? apply_send_marks(apply, marks) : status;
}

static int
apply_policy(struct applying *apply)
{
    static const char *const kinds[] = {"rule", "row", "entry"};
    size_t i;
    json_t *step;
    bool saved;
    int status = policy_save(&apply->run, &saved);
    if (status == CLI_OK)
        status = mark_policy(apply);
    if (status != CLI_OK)
        return status;
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
        json_array_foreach (apply->run.steps, i, step)
            if (is_marked(step, kinds[k]))
                apply_tell(apply, step);
    return CLI_OK;
}

/* ---- the run */

/* Delete the strays, if --prune is given, and forget marks of objects that are gone. */
static int
apply_strays(struct applying *apply)
{
    size_t i;
    json_t *step;
    int status = CLI_OK;
    json_array_foreach (apply->run.steps, i, step) {
        bool left = json_is_true(json_object_get(step, "kept"))
                    || json_is_true(json_object_get(step, "drifted"));
        if (status != CLI_OK)
            break;
        if (step_is(step, "forget"))
            status = apply_forget(apply, step);
        else if (step_is(step, "stray") && apply->run.cli->choice.prune && !left) {
            status = apply_delete(apply, step);
            if (status == CLI_OK)
                apply_tell(apply, step);
        }
    }
    return status;
}

static int
apply_steps(struct applying *apply)
{
    int status = CLI_OK;
    for (const struct instance_kind *kind = instance_kinds; kind->name != NULL; kind++) {
        if (status == CLI_OK && kind->folder != NULL)
            status = apply_kind(apply, kind);
        else if (status == CLI_OK && strcmp(kind->name, "rule") == 0)
            status = apply_policy(apply);
    }
    return status == CLI_OK ? apply_strays(apply) : status;
}

/* Make the steps from a directory, or read them from a plan. */
static int
apply_prepare(struct instance *run)
{
    struct stat about;
    bool directory = stat(run->dir, &about) == 0 && S_ISDIR(about.st_mode);
    int status;
    if (!directory) {
        status = instance_plan_read(run, run->dir);
        run->dir = NULL;
        return status == CLI_OK ? instance_check_issuer(run) : status;
    }
    status = instance_read_files(run);
    if (status == CLI_OK)
        status = instance_read_stored(run);
    return status == CLI_OK ? instance_plan(run) : status;
}

static void
print_done(const struct applying *apply, int status)
{
    const struct cli *cli = apply->run.cli;
    if (cli->choice.json)
        output_json(jsonx_own(cli->mem, json_pack("{s:s,s:b,s:O,s:O}", "owner", apply->run.owner,
                                                  "complete", status == CLI_OK, "done", apply->done,
                                                  "secrets", apply->secrets)));
    else if (status == CLI_OK)
        output_line(cli, "%zu steps done", json_array_size(apply->done));
    if (status != CLI_OK)
        output_error("%s: stopped after %zu steps, which stay; run this again to go on", cli->path,
                     json_array_size(apply->done));
}

int
apply_run(struct cli *cli)
{
    struct applying apply = {
        .run = {.cli = cli, .dir = cli->args[0]},
        .done = jsonx_own(cli->mem, json_array()),
        .secrets = jsonx_own(cli->mem, json_object())
    };
    if (apply.done == NULL || apply.secrets == NULL)
        return output_no_memory(cli);
    int status = apply_prepare(&apply.run);
    if (status != CLI_OK)
        return status;
    status = apply_steps(&apply);
    print_done(&apply, status);
    return status;
}
