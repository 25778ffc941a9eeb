/* plan: the steps that make the service have what the files say (F5, F6). */
#include "config.h"

#include <string.h>
#include <time.h>

#include "base/digits.h"
#include "base/json/jsonx.h"
#include "cli/instance/instance.h"
#include "cli/lib/limits.h"
#include "cli/verbs.h"
#include "crypto/digest.h"
#include "crypto/secret.h"
#include "managed/merge.h"

/* Tries of a request that the service limits (SVC_RATE_LIMIT_REQUESTS), and the longest wait
 * between two: the windows of a day are for tests. */
#define LIMITED_TRIES 10
#define LIMITED_SECONDS_MAX 120

/* clang-format off */
const struct cli_option plan_options[] = {
    {"check", 0, NULL, offsetof(struct cli_choices, check), false,
     "End with exit status 2 if the plan changes anything"},
    LIMITS_IMPACT_OPTION,
    LIMITS_OPTIONS,
    {"out", 0, "FILE", offsetof(struct cli_choices, out), false,
     "Write the plan to FILE, for `authzctl apply FILE`"},
    LIMITS_SINCE_OPTION,
    {NULL, 0, NULL, 0, false, NULL},
};
/* clang-format on */

/* True if a kind is saved by a deploy. */
static bool
is_policy(const struct instance_kind *kind)
{
    return kind->folder == NULL;
}

/* Add a step; takes the reference to `more`, members of it, or NULL. */
static int
add_step(struct instance *run, const char *action, const char *kind, const char *key, json_t *more)
{
    struct jsonx_build step = {jsonx_own(run->cli->mem, json_object()), false};
    const char *name;
    json_t *value;
    jsonx_set(&step, "action", json_string(action));
    jsonx_set(&step, "kind", json_string(kind));
    jsonx_set(&step, "key", json_string(key));
    jsonx_own(run->cli->mem, more);
    json_object_foreach (more, name, value)
        jsonx_set(&step, name, json_incref(value));
    if (jsonx_built(&step) == NULL || json_array_append(run->steps, step.value) != 0)
        return output_no_memory(run->cli);
    return CLI_OK;
}

/* Read one object with its ETag: *ret stays NULL if there is none. */
static int
fetch_object(struct instance *run, const char *path, const struct query_pair *query, json_t **ret,
             const char **ret_tag)
{
    const struct call call = {
        .method = "GET", .path = path, .query = query, .queries = query != NULL};
    struct answer answer;
    int status = call_send(run->cli, &call, &answer);
    *ret = NULL;
    if (status != CLI_OK || answer.status == 404)
        return status;
    if (answer.status != 200)
        return call_refuse(run->cli, &answer, NULL);
    *ret = answer.json;
    *ret_tag = call_header(run->cli, &answer, "ETag");
    return CLI_OK;
}

/* True if an object was changed by others since it was applied. */
static bool
is_drifted(const struct instance *run, const struct instance_kind *kind, const char *key)
{
    char digest[SHA256_HEX_SIZE];
    const char *marked =
        json_string_value(json_object_get(instance_object(run->marks, kind->name, key), "digest"));
    const json_t *stored = instance_object(run->stored, kind->name, key);
    return marked != NULL && *marked != '\0' && stored != NULL
           && instance_digest(run, stored, digest) && strcmp(marked, digest) != 0;
}

/* ---- objects of the files */

static void
wipe_text(const char *text)
{
    if (text != NULL)
        secret_wipe((void *) (uintptr_t) text, strlen(text));
}

/* Send a request of which the service takes so many in a minute, and wait as long as it says. */
static int
send_limited(struct instance *run, const struct call *call, struct answer *ret)
{
    int status = call_send(run->cli, call, ret);
    for (int tries = 1; tries < LIMITED_TRIES && status == CLI_OK && ret->status == 429; tries++) {
        const char *header = call_header(run->cli, ret, "Retry-After");
        int64_t seconds = 1;
        if (header != NULL && !digits_read(header, LIMITED_SECONDS_MAX, &seconds))
            break;
        output_line(run->cli, "the service takes no more requests for %d s", (int) seconds);
        nanosleep(&(struct timespec){seconds, 0}, NULL);
        status = call_send(run->cli, call, ret);
    }
    return status == CLI_OK && ret->status / 100 != 2 ? call_refuse(run->cli, ret, NULL) : status;
}

/* Ask the service if the secrets of an object are those of its mark. */
static int
compare_secrets(struct instance *run, const struct instance_kind *kind, const char *key,
                const json_t *file, bool *ret_same)
{
    const char *text;
    struct answer answer;
    json_t *object = jsonx_own(run->cli->mem, jsonx_deep_copy(file));
    int status = object != NULL ? instance_fill_secrets(run, kind, object, &text)
                                : output_no_memory(run->cli);
    if (status != CLI_OK)
        return status;
    json_t *body = jsonx_own(run->cli->mem, json_pack("{s:[{s:s,s:s,s:s}]}", "secrets", "kind",
                                                      kind->name, "key", key, "secret", text));
    const struct call call = {
        .method = "POST", .path = "/admin/api/object-owners/secrets", .body = body};
    status = body != NULL ? send_limited(run, &call, &answer) : output_no_memory(run->cli);
    instance_wipe_secrets(kind, object);
    wipe_text(json_string_value(
        json_object_get(json_array_get(json_object_get(body, "secrets"), 0), "secret")));
    wipe_text(text);
    *ret_same =
        status == CLI_OK && json_is_true(json_array_get(json_object_get(answer.json, "same"), 0));
    return status;
}

/* Refuse secrets of a new object that cannot be read. */
static int
check_readable(struct instance *run, const struct instance_kind *kind, const json_t *file)
{
    const char *text = NULL;
    json_t *object = jsonx_own(run->cli->mem, jsonx_deep_copy(file));
    int status = object != NULL ? instance_fill_secrets(run, kind, object, &text)
                                : output_no_memory(run->cli);
    instance_wipe_secrets(kind, object);
    wipe_text(text);
    return status;
}

/* Add the members whose secrets change to a list of changes. */
static int
plan_secrets(struct instance *run, const struct instance_kind *kind, const char *key,
             const json_t *file, json_t *changes)
{
    bool same = false;
    if (!instance_has_secret(kind, file))
        return CLI_OK;
    int status = compare_secrets(run, kind, key, file, &same);
    if (status == CLI_OK && !same && json_array_append_new(changes, json_string("(secret)")) != 0)
        return output_no_memory(run->cli);
    return status;
}

/* Plan the approval of a tool, if the description that waits is the one of the file. */
static int
plan_pin(struct instance *run, const char *key, const json_t *tool, const json_t *stored)
{
    const json_t *pin = json_object_get(stored, "pin");
    const char *wanted = json_string_value(json_object_get(json_object_get(tool, "pin"), "sha256")),
               *seen = json_string_value(json_object_get(pin, "sha256")),
               *state = json_string_value(json_object_get(pin, "status")),
               *name = json_string_value(json_object_get(stored, "name"));
    if (wanted == NULL || state == NULL || seen == NULL || name == NULL
        || (strcmp(state, "new") != 0 && strcmp(state, "changed") != 0))
        return CLI_OK;
    if (strcmp(wanted, seen) == 0)
        return add_step(
            run, "approve", "resource", key,
            json_pack("{s:[s],s:s,s:s}", "members", name, "tool", name, "sha256", seen));
    output_error(
        "%s: resource %s: warning: the description of the tool %s that waits for approval "
        "has the hash %s, which is not that of the file; read it with `authzctl resource show "
        "%s`",
        run->cli->path, key, name, seen, key);
    return CLI_OK;
}

static int
plan_pins(struct instance *run, const struct instance_kind *kind, const char *key,
          const json_t *file)
{
    const json_t *stored = instance_object(run->tools, kind->name, key);
    size_t i;
    json_t *tool;
    int status = CLI_OK;
    json_array_foreach (json_object_get(file, "tools"), i, tool)
        if (status == CLI_OK)
            status = plan_pin(run, key, tool,
                              managed_tool_find(stored, managed_tool_upstream_name(tool)));
    return status;
}

/* Plan a change of an object that the service has, or that it stays. */
static int
plan_stored(struct instance *run, const struct instance_kind *kind, const char *key, json_t *file)
{
    const char *tag = NULL;
    json_t *now = NULL, *stored = instance_object(run->stored, kind->name, key);
    const char *digest =
        json_string_value(json_object_get(instance_object(run->marks, kind->name, key), "digest"));
    const bool marked = digest != NULL && *digest != '\0'; /* empty: a run ended too early */
    json_t *changes = instance_changes(run->cli->mem, kind, file, stored);
    int status =
        changes != NULL ? plan_secrets(run, kind, key, file, changes) : output_no_memory(run->cli);
    if (status != CLI_OK)
        return status;
    if (json_array_size(changes) == 0)
        return add_step(run, marked ? "same" : "adopt", kind->name, key,
                        marked ? NULL : json_pack("{s:O}", "object", stored));
    if (!is_policy(kind))
        status = fetch_object(run, instance_path(run->cli, kind, key), NULL, &now, &tag);
    if (status != CLI_OK)
        return status;
    return add_step(run, "change", kind->name, key,
                    json_pack("{s:O,s:O,s:s*,s:b,s:b}", "members", changes, "object", file, "etag",
                              tag, "drifted", is_drifted(run, kind, key), "adopts", !marked));
}

static int
plan_object(struct instance *run, const struct instance_kind *kind, const char *key, json_t *file)
{
    const char *owner =
        json_string_value(json_object_get(instance_object(run->marks, kind->name, key), "owner"));
    if (owner != NULL && strcmp(owner, run->owner) != 0) {
        instance_refuse(
            run,
            "%s %s belongs to the owner %s, not to %s; remove it from these files, or run "
            "`authzctl owner release %s %s`",
            kind->name, key, owner, run->owner, kind->name, key);
        return CLI_OK;
    }
    int status = instance_check_settings(run, kind, key, file);
    if (status == CLI_OK && instance_object(run->stored, kind->name, key) != NULL) {
        status = plan_stored(run, kind, key, file);
        return status == CLI_OK ? plan_pins(run, kind, key, file) : status;
    }
    if (status == CLI_OK)
        status = check_readable(run, kind, file);
    return status == CLI_OK
               ? add_step(run, "create", kind->name, key, json_pack("{s:O}", "object", file))
               : status;
}

/* ---- objects that the files do not have any more */

/* True if an object is never deleted: what the service ships, and the provider whose people keep
 * their sub as their name. */
static bool
is_kept(const struct instance *run, const char *kind, const char *key)
{
    return instance_object(run->fixed, kind, key) != NULL
           || (strcmp(kind, "provider") == 0 && run->home != NULL && strcmp(run->home, key) == 0);
}

/* Find the path and the ETag by which a stray is deleted. */
static int
find_stray(struct instance *run, const struct instance_kind *kind, const char *key,
           const char **ret_path, const char **ret_tag)
{
    json_t *now = NULL;
    int status = CLI_OK;
    *ret_path = instance_path(run->cli, kind, key);
    if (strcmp(kind->name, "rule") == 0)
        status = policy_rule_place(run, key, ret_path);
    else if (strcmp(kind->name, "row") == 0)
        *ret_path = talloc_asprintf(run->cli->mem, "/admin/api/policy-data/by-key?dataKey=%s", key);
    else if (strcmp(kind->name, "entry") == 0)
        return CLI_OK;
    return status == CLI_OK ? fetch_object(run, *ret_path, NULL, &now, ret_tag) : status;
}

static int
plan_stray(struct instance *run, const struct instance_kind *kind, const char *key)
{
    const char *path = NULL, *tag = NULL;
    bool kept = is_kept(run, kind->name, key),
         drifted = is_drifted(run, kind, key) && strcmp(kind->name, "entry") == 0;
    int status = find_stray(run, kind, key, &path, &tag);
    if (status != CLI_OK)
        return status;
    return add_step(run, "stray", kind->name, key,
                    json_pack("{s:s*,s:s*,s:b,s:b}", "path", path, "etag", tag, "kept", kept,
                              "drifted", drifted));
}

static int
plan_strays(struct instance *run, const struct instance_kind *kind)
{
    const char *key;
    json_t *mark;
    int status = CLI_OK;
    json_object_foreach (json_object_get(run->marks, kind->name), key, mark) {
        const char *owner = json_string_value(json_object_get(mark, "owner"));
        if (status != CLI_OK || owner == NULL || strcmp(owner, run->owner) != 0
            || instance_object(run->files, kind->name, key) != NULL)
            continue;
        status = instance_object(run->stored, kind->name, key) != NULL
                     ? plan_stray(run, kind, key)
                     : add_step(run, "forget", kind->name, key, NULL);
    }
    return status;
}

/* ---- the whole plan */

int
instance_check_issuer(struct instance *run)
{
    const struct call call = {.method = "GET", .path = "/.well-known/openid-configuration"};
    struct answer answer;
    int status = call_run(run->cli, &call, NULL, &answer);
    if (status != CLI_OK)
        return status;
    run->service = json_string_value(json_object_get(answer.json, "issuer"));
    if (run->issuer == NULL || (run->service != NULL && strcmp(run->service, run->issuer) == 0))
        return CLI_OK;
    instance_refuse(run,
                    "issuer is %s, but the service is %s; remove issuer from " INSTANCE_FILE
                    " if its files are for several instances",
                    run->issuer, run->service != NULL ? run->service : "another one");
    return CLI_FAILED;
}

int
instance_plan(struct instance *run)
{
    const char *key;
    json_t *file;
    int status = instance_check_issuer(run);
    run->steps = jsonx_own(run->cli->mem, json_array());
    if (run->steps == NULL)
        return output_no_memory(run->cli);
    for (const struct instance_kind *kind = instance_kinds; kind->name != NULL; kind++)
        json_object_foreach (json_object_get(run->files, kind->name), key, file)
            if (status == CLI_OK)
                status = plan_object(run, kind, key, file);
    /* Delete in the reverse order, because later kinds refer to earlier ones. */
    size_t kinds = 0;
    while (instance_kinds[kinds].name != NULL)
        kinds++;
    while (kinds-- > 0)
        if (status == CLI_OK)
            status = plan_strays(run, &instance_kinds[kinds]);
    if (status == CLI_OK && !run->refused)
        status = policy_rehearse(run);
    return run->refused ? CLI_FAILED : status;
}

int
plan_run(struct cli *cli)
{
    struct instance run = {.cli = cli, .dir = cli->args[0]};
    int status = instance_read_files(&run);
    if (status == CLI_OK)
        status = instance_read_stored(&run);
    if (status == CLI_OK)
        status = instance_plan(&run);
    if (status == CLI_OK && cli->choice.out != NULL)
        status = instance_plan_write(&run, cli->choice.out);
    if (status != CLI_OK)
        return status;
    size_t changes = instance_plan_print(&run);
    return changes > 0 && cli->choice.check ? CLI_NOTABLE : CLI_OK;
}
