/* Print a plan, write it to a file, and read it back. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json/jsonx.h"
#include "cli/instance/instance.h"
#include "cli/lib/dir.h"
#include "cli/lib/input.h"
#include "cli/lib/json_text.h"
#include "cli/lib/limits.h"
#include "cli/policy/impact.h"

/* Largest plan, in octets: the objects of an instance, indented. */
#define PLAN_MAX (256 << 20)

/* The words that are printed for an action, and if it counts as a change. */
struct plan_action {
    const char *name, *counted;
    bool changes;
};

static const struct plan_action actions[] = {
    {"create",  "to create",  true },
    {"change",  "to change",  true },
    {"adopt",   "to adopt",   true },
    {"approve", "to approve", true },
    {"stray",   "stray",      true },
    {"forget",  NULL,         false},
    {"same",    "same",       false},
};
#define ACTIONS (sizeof(actions) / sizeof(actions[0]))

static const char *
step_text(const json_t *step, const char *name)
{
    const char *text = json_string_value(json_object_get(step, name));
    return text != NULL ? text : "";
}

/* Return the action of a step; ACTIONS if there is no such action. */
static size_t
action_of(const json_t *step)
{
    size_t i = 0;
    while (i < ACTIONS && strcmp(actions[i].name, step_text(step, "action")) != 0)
        i++;
    return i;
}

/* True if the step is a stray that apply --prune leaves too. */
static bool
is_left(const json_t *step)
{
    return strcmp(step_text(step, "action"), "stray") == 0
           && (json_is_true(json_object_get(step, "kept"))
               || json_is_true(json_object_get(step, "drifted")));
}

static const char *
step_note(const json_t *step)
{
    if (json_is_true(json_object_get(step, "kept")))
        return " (never deleted)";
    if (strcmp(step_text(step, "action"), "stray") == 0)
        return is_left(step) ? " (changed since it was applied, so it stays)"
                             : " (`apply --prune` deletes it)";
    return json_is_true(json_object_get(step, "drifted")) ? " (changed since it was applied)" : "";
}

static void
print_step(const struct instance *run, const json_t *step)
{
    size_t i;
    json_t *name;
    char *members = talloc_strdup(run->cli->mem, "");
    json_array_foreach (json_object_get(step, "members"), i, name)
        members = talloc_asprintf_append_buffer(members, "%s%s", i > 0 ? ", " : ": ",
                                                json_string_value(name));
    output_text(talloc_asprintf(run->cli->mem, "%s %s %s%s%s\n", step_text(step, "action"),
                                step_text(step, "kind"), step_text(step, "key"), members,
                                step_note(step)));
}

/* Return the plan as JSON, without the steps that change nothing. */
static json_t *
plan_document(const struct instance *run)
{
    struct jsonx_build steps = {jsonx_own(run->cli->mem, json_array()), false};
    size_t i;
    json_t *step;
    json_array_foreach (run->steps, i, step)
        if (strcmp(step_text(step, "action"), "same") != 0)
            jsonx_append(&steps, json_incref(step));
    return jsonx_own(run->cli->mem,
                     json_pack("{s:i,s:s,s:s*,s:s*,s:O}", "format", INSTANCE_FORMAT, "owner",
                               run->owner, "service", run->service, "revision", run->revision,
                               "steps", jsonx_built(&steps)));
}

/* Return the plan as JSON with what was measured, which its file does not have. */
static json_t *
plan_shown(const struct instance *run)
{
    json_t *plan = plan_document(run);
    return plan != NULL && run->impact != NULL && json_object_set(plan, "impact", run->impact) != 0
               ? NULL
               : plan;
}

size_t
instance_plan_print(struct instance *run)
{
    size_t count[ACTIONS] = {0}, changes = 0, i;
    json_t *step;
    json_array_foreach (run->steps, i, step) {
        size_t action = action_of(step);
        if (action == ACTIONS)
            continue;
        count[action]++;
        changes += actions[action].changes && !is_left(step);
        if (!run->cli->choice.json && actions[action].counted != NULL
            && strcmp(actions[action].name, "same") != 0)
            print_step(run, step);
    }
    char *line = talloc_strdup(run->cli->mem, "");
    for (i = 0; i < ACTIONS; i++)
        if (actions[i].counted != NULL)
            line = talloc_asprintf_append_buffer(line, "%s%zu %s", *line != '\0' ? ", " : "",
                                                 count[i], actions[i].counted);
    if (run->cli->choice.json) {
        output_json(plan_shown(run));
        return changes;
    }
    output_text(talloc_asprintf(run->cli->mem, "%s\n", line));
    if (run->impact != NULL)
        impact_print_result(run->impact);
    else if (limits_are_given(run->cli))
        output_text("nothing to measure: no rule or row would change\n");
    return changes;
}

/* The file has no secret, but the rules and rows of the service, so others cannot read it, also if
 * it was there before with another mode. */
int
instance_plan_write(struct instance *run, const char *file)
{
    const char *compact = jsonx_dump(run->cli->mem, plan_document(run)),
               *text = compact != NULL ? json_text_pretty(run->cli->mem, compact, PLAN_MAX) : NULL;
    if (text == NULL)
        return output_no_memory(run->cli);
    int fd =
        open(file, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC, DIR_FILE_MODE);
    struct stat about;
    bool kept = fd >= 0 && fstat(fd, &about) == 0
                && (!S_ISREG(about.st_mode) || fchmod(fd, DIR_FILE_MODE) == 0);
    FILE *out = kept ? fdopen(fd, "w") : NULL;
    bool done = out != NULL && fputs(text, out) >= 0;
    int why = errno;
    if (out != NULL && fclose(out) != 0)
        done = false, why = errno;
    else if (out == NULL && fd >= 0)
        close(fd);
    if (done)
        return CLI_OK;
    output_error("%s: --out: %s: %s; name a file that can be written", run->cli->path, file,
                 strerror(why));
    return CLI_FAILED;
}

/* True if a value can be a step: anything else was not written by `plan --out`. The path of a
 * deletion is one of the kind. */
static bool
is_step(const json_t *step)
{
    const struct instance_kind *kind = instance_kind_named(step_text(step, "kind"));
    const char *path = step_text(step, "path");
    size_t length = kind != NULL ? strlen(kind->path) : 0;
    return action_of(step) < ACTIONS && kind != NULL && *step_text(step, "key") != '\0'
           && (*path == '\0' || (strncmp(path, kind->path, length) == 0 && path[length] == '/'))
           /* No dot segment, which would be a path of another kind. */
           && strstr(path, "/.") == NULL;
}

int
instance_plan_read(struct instance *run, const char *file)
{
    static const char expected[] = "give a file of `authzctl plan --out`";
    size_t length = 0, i;
    json_t *plan = NULL, *step;
    const char *why = "is no plan";
    char *text = input_read_file(run->cli, file, PLAN_MAX, "256 MiB", expected, &length);
    if (text == NULL)
        return CLI_FAILED;
    bool good = jsonx_parse(run->cli->mem, text, length, CALL_DEPTH_MAX, &plan, &why) == AZ_OK;
    run->owner = json_string_value(json_object_get(plan, "owner"));
    run->issuer = json_string_value(json_object_get(plan, "service"));
    run->revision = json_string_value(json_object_get(plan, "revision"));
    run->steps = json_object_get(plan, "steps");
    good = good && run->owner != NULL && json_is_array(run->steps)
           && json_integer_value(json_object_get(plan, "format")) == INSTANCE_FORMAT;
    json_array_foreach (good ? run->steps : NULL, i, step)
        good = good && is_step(step);
    if (good)
        return CLI_OK;
    output_error("%s: %s: %s; %s", run->cli->path, file, why, expected);
    return CLI_FAILED;
}
