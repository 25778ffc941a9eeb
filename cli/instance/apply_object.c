/* Single steps of a plan: requests to the admin API, with If-Match. */
#include "config.h"

#include "cli/instance/apply_object.h"

#include <stdio.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "crypto/digest.h"
#include "crypto/secret.h"

#define OWNERS "/admin/api/object-owners"

static const char *
step_text(const json_t *step, const char *name)
{
    return json_string_value(json_object_get(step, name));
}

/* Send a request of a step. */
static int
send_step(struct applying *apply, const json_t *step, const struct call *call, struct answer *ret)
{
    struct cli *cli = apply->run.cli;
    int status = call_send(cli, call, ret);
    if (status != CLI_OK || ret->status / 100 == 2)
        return status;
    output_error("%s: %s %s %s:", cli->path, step_text(step, "action"), step_text(step, "kind"),
                 step_text(step, "key"));
    return call_refuse(cli, ret, "it is gone; run this again");
}

/* ---- marks */

int
apply_add_mark(struct applying *apply, json_t *marks, const char *kind, const char *key,
               const json_t *object, const char *secret)
{
    char digest[SHA256_HEX_SIZE];
    if (!instance_digest(&apply->run, object, digest)
        || json_array_append_new(marks, json_pack("{s:s,s:s,s:s,s:s*}", "kind", kind, "key", key,
                                                  "digest", digest, "secret", secret))
               != 0)
        return output_no_memory(apply->run.cli);
    return CLI_OK;
}

int
apply_send_marks(struct applying *apply, json_t *marks)
{
    struct answer answer;
    struct cli *cli = apply->run.cli;
    if (json_array_size(marks) == 0)
        return CLI_OK;
    json_t *body =
        jsonx_own(cli->mem, json_pack("{s:s,s:O}", "owner", apply->run.owner, "marks", marks));
    const struct call call = {.method = "PUT", .path = OWNERS, .body = body};
    int status = body != NULL ? call_run(cli, &call, NULL, &answer) : output_no_memory(cli);
    json_array_clear(marks);
    return status;
}

int
apply_mark(struct applying *apply, const struct instance_kind *kind, const json_t *step,
           const json_t *object, const char *secret)
{
    json_t *marks = jsonx_own(apply->run.cli->mem, json_array()),
           *normal = instance_normal(apply->run.cli->mem, kind, object);
    if (marks == NULL || normal == NULL)
        return output_no_memory(apply->run.cli);
    int status = apply_add_mark(apply, marks, kind->name, step_text(step, "key"), normal, secret);
    return status == CLI_OK ? apply_send_marks(apply, marks) : status;
}

/* ---- writes */

/* Print a secret that the service made: it cannot be shown again. */
static int
show_secret(struct applying *apply, const struct instance_kind *kind, const char *key,
            const json_t *answer)
{
    json_t *secret = json_object_get(answer, "clientSecret");
    if (!json_is_string(secret) || strcmp(kind->name, "client") != 0)
        return CLI_OK;
    if (!apply->run.cli->choice.json)
        output_text(talloc_asprintf(apply->run.cli->mem,
                                    "client %s: clientSecret %s (shown this once)\n", key,
                                    json_string_value(secret)));
    return json_object_set(apply->secrets, key, secret) == 0 ? CLI_OK
                                                             : output_no_memory(apply->run.cli);
}

static void
show_warnings(const struct applying *apply, const char *key, const json_t *answer)
{
    size_t i;
    json_t *text;
    json_array_foreach (json_object_get(answer, "warnings"), i, text)
        output_error("%s: %s: warning: %s", apply->run.cli->path, key, json_string_value(text));
}

/* Send an object with its secrets and its owner, whose mark is written in the transaction of the
 * object. What only the answer tells, the digest of the object as stored, follows. */
static int
write_object(struct applying *apply, const struct instance_kind *kind, const json_t *step,
             struct call *call)
{
    struct answer answer;
    const struct query_pair owner = {"owner", apply->run.owner};
    const char *secret = NULL, *key = step_text(step, "key");
    call->query = &owner;
    call->queries = 1;
    int status = instance_fill_secrets(&apply->run, kind, call->body, &secret);
    if (status == CLI_OK)
        status = send_step(apply, step, call, &answer);
    instance_wipe_secrets(kind, call->body);
    if (status == CLI_OK && secret == NULL)
        status = show_secret(apply, kind, key, answer.json);
    if (status == CLI_OK) {
        show_warnings(apply, key, answer.json);
        status = apply_mark(apply, kind, step, answer.json, secret);
    }
    if (secret != NULL)
        secret_wipe((void *) (uintptr_t) secret, strlen(secret));
    return status;
}

/* Make sure that a connector is what the files say. */
static int
check_connector(const struct applying *apply, const json_t *step, const json_t *stored)
{
    const json_t *object = json_object_get(step, "object"),
                 *settings = json_object_get(object, INSTANCE_SETTINGS);
    const char *key = step_text(step, "key"),
               *wanted = json_string_value(json_object_get(object, "version")),
               *version = json_string_value(json_object_get(stored, "version"));
    bool other = wanted != NULL && (version == NULL || strcmp(version, wanted) != 0);
    if (!other
        && (settings == NULL || json_equal(settings, json_object_get(stored, INSTANCE_SETTINGS))))
        return CLI_OK;
    output_error("%s: connector %s has version %s%s, and the files say %s: the catalogue of the "
                 "service has no other, or a sync was refused; see `authzctl connector sync %s`",
                 apply->run.cli->path, key, version != NULL ? version : "-",
                 other ? "" : " and other settings", wanted != NULL ? wanted : "others", key);
    return CLI_FAILED;
}

/* Install a connector, or bring it to the version of the catalogue, with the settings of the files.
 */
static int
write_connector(struct applying *apply, const struct instance_kind *kind, const json_t *step,
                const char *operation)
{
    struct cli *cli = apply->run.cli;
    const char *path = instance_path(cli, kind, step_text(step, "key"));
    json_t *settings = json_object_get(json_object_get(step, "object"), INSTANCE_SETTINGS);
    const struct query_pair owner = {"owner", apply->run.owner};
    const struct call call = {
        .method = "POST",
        .path = talloc_asprintf(cli->mem, "%s/%s", path, operation),
        .query = &owner,
        .queries = 1,
        .body = jsonx_own(cli->mem, json_pack("{s:O*}", INSTANCE_SETTINGS, settings))};
    const struct call look = {.method = "GET", .path = path};
    struct answer answer;
    if (call.body == NULL)
        return output_no_memory(cli);
    int status = send_step(apply, step, &call, &answer);
    if (status == CLI_OK)
        status = send_step(apply, step, &look, &answer);
    if (status == CLI_OK)
        status = check_connector(apply, step, answer.json);
    if (status != CLI_OK)
        return status;
    return apply_mark(apply, kind, step, answer.json, NULL);
}

int
apply_create(struct applying *apply, const struct instance_kind *kind, const json_t *step)
{
    struct call call = {.method = "POST", .path = kind->path};
    if (strcmp(kind->name, "connector") == 0)
        return write_connector(apply, kind, step, "install");
    call.body = jsonx_own(apply->run.cli->mem, jsonx_deep_copy(json_object_get(step, "object")));
    return call.body != NULL ? write_object(apply, kind, step, &call)
                             : output_no_memory(apply->run.cli);
}

/* Read the object that a step changes. If it is not the one of the plan, nothing is written. */
static int
read_planned(struct applying *apply, const struct instance_kind *kind, const json_t *step,
             json_t **ret)
{
    struct answer answer;
    struct cli *cli = apply->run.cli;
    const char *planned = step_text(step, "etag");
    const struct call call = {.method = "GET",
                              .path = instance_path(cli, kind, step_text(step, "key"))};
    int status = send_step(apply, step, &call, &answer);
    const char *tag = status == CLI_OK ? call_header(cli, &answer, "ETag") : NULL;
    if (status != CLI_OK)
        return status;
    if (planned != NULL && (tag == NULL || strcmp(tag, planned) != 0)) {
        output_error("%s: %s %s: another administrator changed it after the plan was made; it was "
                     "not changed",
                     cli->path, kind->name, step_text(step, "key"));
        return CLI_FAILED;
    }
    *ret = instance_normal(cli->mem, kind, answer.json);
    return *ret != NULL ? CLI_OK : output_no_memory(cli);
}

int
apply_change(struct applying *apply, const struct instance_kind *kind, const json_t *step)
{
    struct cli *cli = apply->run.cli;
    struct call call = {.method = "PUT", .if_match = step_text(step, "etag")};
    json_t *file = jsonx_own(cli->mem, jsonx_deep_copy(json_object_get(step, "object")));
    if (strcmp(kind->name, "connector") == 0)
        return write_connector(apply, kind, step, "sync");
    int status = file != NULL ? read_planned(apply, kind, step, &call.body) : output_no_memory(cli);
    if (status == CLI_OK && json_object_update(call.body, file) != 0)
        status = output_no_memory(cli);
    call.path = instance_path(cli, kind, step_text(step, "key"));
    return status == CLI_OK ? write_object(apply, kind, step, &call) : status;
}

int
apply_approve(struct applying *apply, const struct instance_kind *kind, const json_t *step)
{
    struct cli *cli = apply->run.cli;
    const char *tool = step_text(step, "tool"), *hash = step_text(step, "sha256");
    struct answer answer;
    const struct call call = {
        .method = "POST",
        .path = talloc_asprintf(cli->mem, "%s/tools/%s/approve",
                                instance_path(cli, kind, step_text(step, "key")),
                                call_escape(cli->mem, tool != NULL ? tool : "")),
        .body = jsonx_own(cli->mem, json_pack("{s:s}", "sha256", hash != NULL ? hash : ""))};
    return call.body != NULL ? send_step(apply, step, &call, &answer) : output_no_memory(cli);
}

/* ---- deletions */

/* Return a merge patch that deletes an entry (RFC 7396): null in its place. */
static json_t *
entry_patch(struct applying *apply, const char *key)
{
    json_t *patch = jsonx_own(apply->run.cli->mem, json_object()), *null = json_null();
    return patch != NULL && instance_merge(apply->run.cli->mem, patch, key, null) ? patch : NULL;
}

int
apply_delete(struct applying *apply, const json_t *step)
{
    struct answer answer;
    struct cli *cli = apply->run.cli;
    const char *kind = step_text(step, "kind"), *key = step_text(step, "key");
    struct call call = {
        .method = "DELETE", .path = step_text(step, "path"), .if_match = step_text(step, "etag")};
    if (strcmp(kind, "entry") == 0) {
        call.method = "PATCH";
        call.path = talloc_asprintf(cli->mem, "/admin/api/policy-data/by-key?dataKey=%s",
                                    instance_row_of(cli->mem, key));
        call.body = entry_patch(apply, key);
        call.if_match = NULL;
    }
    if (call.path == NULL)
        return output_no_memory(cli);
    int status = send_step(apply, step, &call, &answer);
    /* The mark of an object goes with it; an entry is a part of its row. */
    return status == CLI_OK && strcmp(kind, "entry") == 0 ? apply_forget(apply, step) : status;
}

int
apply_forget(struct applying *apply, const json_t *step)
{
    struct answer answer;
    const struct query_pair query[] = {
        {"kind", step_text(step, "kind")},
        {"key",  step_text(step, "key") },
    };
    const struct call call = {.method = "DELETE", .path = OWNERS, .query = query, .queries = 2};
    int status = call_send(apply->run.cli, &call, &answer);
    if (status != CLI_OK || answer.status / 100 == 2 || answer.status == 404)
        return status;
    return call_refuse(apply->run.cli, &answer, NULL);
}

/* ---- what was done */

void
apply_tell(struct applying *apply, const json_t *step)
{
    const char *kind = step_text(step, "kind"), *key = step_text(step, "key"),
               *action = step_text(step, "action");
    if (strcmp(action, "same") == 0 || strcmp(action, "forget") == 0)
        return;
    action = strcmp(action, "stray") == 0 ? "delete" : action;
    output_line(apply->run.cli, "done: %s %s %s", action, kind, key);
    json_array_append_new(apply->done,
                          json_pack("{s:s,s:s,s:s}", "action", action, "kind", kind, "key", key));
}
