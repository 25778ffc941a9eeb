#include "config.h"

#include "cli/policy/refusal.h"

#include <stdlib.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "base/words.h"
#include "cli/lib/limits.h"
#include "cli/lib/output.h"
#include "cli/policy/bundle_dir.h"
#include "cli/policy/stored.h"
#include "policy/rows/rule.h"

/* True if a path begins at `at` and is not the end of a longer one: `a/b.rego:3` contains
 * `b.rego:3`, which may be another rule. One slash may precede the path. */
static bool
begins_here(const char *message, const char *at)
{
    if (at > message && at[-1] == '/')
        at--;
    return at == message || strchr(" \t\n\"'`(", at[-1]) != NULL;
}

/* Return the row number at the start of a text; 0 if there is none. */
static size_t
refusal_row(const char *digits)
{
    return *digits >= '1' && *digits <= '9' ? strtoul(digits, NULL, 10) : 0;
}

/* Return the first `path:ROW` in a message, or NULL. */
static const char *
refusal_find_path(const char *message, const char *path)
{
    size_t length = strlen(path);
    for (const char *at = message; length > 0 && (at = strstr(at, path)) != NULL; at++)
        if (begins_here(message, at) && at[length] == ':' && refusal_row(at + length + 1) > 0)
            return at;
    return NULL;
}

/* The engine stopped at the first place that it names. If two paths begin there, it means the
 * longer one. */
bool
refusal_find(const char *message, const struct deploy *deploy, size_t *ret_rule, size_t *ret_row)
{
    const char *first = NULL;
    size_t longest = 0;
    for (size_t i = 0; i < deploy->rules; i++) {
        const char *at = refusal_find_path(message, deploy->rule[i].path);
        size_t length = strlen(deploy->rule[i].path);
        if (at == NULL || (first != NULL && (at > first || (at == first && length < longest))))
            continue;
        first = at;
        longest = length;
        *ret_rule = i;
        *ret_row = refusal_row(at + length + 1);
    }
    return first != NULL;
}

char *
refusal_stored(TALLOC_CTX *mem, const char *message, size_t *ret_row)
{
    for (const char *at = message; (at = strchr(at, ':')) != NULL; at++) {
        size_t row = refusal_row(at + 1);
        char *path = row > 0 ? talloc_strndup(mem, message, (size_t) (at - message)) : NULL;
        if (path == NULL || !(words_end(path, ".rego") || words_end(path, ".cedar")))
            continue;
        *ret_row = row;
        return rule_path_fault(path) == NULL ? path : NULL;
    }
    return NULL;
}

const char *
refusal_line(const char *text, size_t *row, size_t *ret_length)
{
    size_t at = 1;
    if (*row == 0 || *text == '\0')
        return NULL;
    for (const char *end; at < *row && (end = strchr(text, '\n')) != NULL && end[1] != '\0'; at++)
        text = end + 1;
    *row = at;
    *ret_length = strcspn(text, "\r\n");
    return text;
}

static const char *
rule_file(const struct cli *cli, const struct refusal_source *source, size_t rule)
{
    const char *path = source->deploy->rule[rule].path;
    if (source->dir != NULL)
        return talloc_asprintf(cli->mem, "%s/%s", source->dir, path);
    return source->file != NULL ? source->file : path;
}

static const char *
data_file(const struct cli *cli, const struct refusal_source *source, const char *key)
{
    if (source->dir == NULL)
        return source->data_file != NULL ? source->data_file : key;
    return talloc_asprintf(cli->mem, "%s/%s", source->dir, bundle_file_of_key(cli->mem, key));
}

/* Return the file of the entry `rules[3]` or `data[0]` that a text begins with; NULL for any other
 * text. */
static const char *
entry_file(const struct cli *cli, const struct refusal_source *source, const char *entry)
{
    bool rule = strncmp(entry, "rules[", 6) == 0, row = strncmp(entry, "data[", 5) == 0;
    size_t i = rule || row ? strtoul(strchr(entry, '[') + 1, NULL, 10) : 0;
    if (rule && i < source->deploy->rules)
        return rule_file(cli, source, i);
    if (row && i < source->deploy->data_rows)
        return data_file(cli, source, source->deploy->data[i].data_key);
    return NULL;
}

/* Return the body of a refused save (specification 7.2, status 422); on cli->mem. */
static json_t *
refusal_body(const struct cli *cli, const struct save_refusal *refusal)
{
    json_t *body = jsonx_own(
        cli->mem, json_pack("{s:s,s:o,s:s*,s:s,s:b}", "error", refusal->error, "error_description",
                            output_string(refusal->description), "expectedRevision",
                            refusal->expected, "activeRevision",
                            refusal->active != NULL ? refusal->active : "", "rolledBack", true));
    if (body != NULL && refusal->members != NULL)
        json_object_update(body, refusal->members);
    return body;
}

/* Print the line that the engine names: of a rule in the save, or of a stored rule that no longer
 * fits it. */
static void
print_line(struct cli *cli, const char *message, const struct refusal_source *source)
{
    size_t rule, row, length;
    const char *text, *path, *file = NULL;
    struct policy_rule stored = {.content = NULL};
    if (refusal_find(message, source->deploy, &rule, &row)) {
        stored.content = source->deploy->rule[rule].content;
        file = rule_file(cli, source, rule);
    } else if ((path = refusal_stored(cli->mem, message, &row)) != NULL
               && stored_rule(cli, path, &stored) == CLI_OK) {
        file = talloc_asprintf(cli->mem, "%s (stored)", path);
    }
    if (file != NULL && stored.content != NULL
        && (text = refusal_line(stored.content, &row, &length)) != NULL)
        output_source(row, text, length, file);
}

/* Print what a save would change, and may not. */
static int
print_limits(const struct cli *cli, const struct save_refusal *refusal)
{
    const json_t *body = refusal_body(cli, refusal);
    if (cli->choice.json)
        output_json(body);
    limits_print_refusal(cli, body);
    return CLI_NOTABLE;
}

/* Print the refusal of the policy engine. */
static int
print_engine(struct cli *cli, const struct save_refusal *refusal,
             const struct refusal_source *source)
{
    bool away = strcmp(refusal->error, "opa_unreachable") == 0;
    if (cli->choice.json)
        output_json(refusal_body(cli, refusal));
    output_error("%s: %s: %s; nothing was changed; %s", cli->path, refusal->error,
                 refusal->description,
                 away ? "check that the policy engine is running and that SVC_OPA_URL is right"
                      : "correct it and run this again");
    if (!away)
        print_line(cli, refusal->description, source);
    return away ? CLI_UNAVAILABLE : CLI_FAILED;
}

int
refusal_failures(const struct cli *cli, const char *file, const char *key, json_t *failures)
{
    json_t *failure;
    size_t i;
    if (cli->choice.json)
        output_json(
            jsonx_own(cli->mem, json_pack("{s:s,s:O}", "dataKey", key, "failures", failures)));
    json_array_foreach (failures, i, failure)
        output_error("%s: %s", file, output_failure(cli->mem, failure));
    output_error("%s: %s does not match the schema of %s; nothing was changed", cli->path, file,
                 key);
    return CLI_FAILED;
}

static int
refusal_faults(const struct cli *cli, json_t *faults, const struct refusal_source *source)
{
    const char *field;
    json_t *why;
    if (cli->choice.json)
        output_json(jsonx_own(
            cli->mem, json_pack("{s:s,s:O}", "error", "invalid_request", "fieldErrors", faults)));
    json_object_foreach (faults, field, why) {
        const char *file = entry_file(cli, source, field);
        output_error("%s: %s", file != NULL ? file : field, json_string_value(why));
    }
    output_error("%s: nothing was changed; correct these errors and run this again", cli->path);
    return CLI_FAILED;
}

/* Print the refusal of one entry, `rules[3]: why`, under the name of its file. */
static int
print_entry(const struct cli *cli, const char *file)
{
    const char *text = cli->op.fault.public_text, *why = strstr(text, ": ");
    output_error("%s: %s: %s; nothing was changed", cli->path, file, why != NULL ? why + 2 : text);
    return output_exit(cli->op.fault.status);
}

int
refusal_print(struct cli *cli, enum az_status st, const struct deploy_result *result,
              const struct refusal_source *source)
{
    if (st == AZ_UNPROCESSABLE && result->failures != NULL && result->data_key != NULL)
        return refusal_failures(cli, data_file(cli, source, result->data_key), result->data_key,
                                result->failures);
    if (st == AZ_UNPROCESSABLE && result->save.refusal.error != NULL)
        return strcmp(result->save.refusal.error, LIMITS_REFUSED) == 0
                   ? print_limits(cli, &result->save.refusal)
                   : print_engine(cli, &result->save.refusal, source);
    if (st == AZ_INVALID_FIELDS && json_object_size(result->faults) > 0)
        return refusal_faults(cli, result->faults, source);
    const char *file = entry_file(cli, source, cli->op.fault.public_text);
    return file != NULL ? print_entry(cli, file) : output_fault(cli);
}
