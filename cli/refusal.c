#include "config.h"

#include "refusal.h"

#include <stdlib.h>
#include <string.h>

#include "base/jsonx.h"
#include "bundle_dir.h"
#include "output.h"

/* Whether a path that stands in a message begins there, and is no longer one's end. */
static bool
begins_here(const char *message, const char *at)
{
    return at == message || strchr(" \t\n\"'`(/", at[-1]) != NULL;
}

/* The row behind `path:` in a message, 0 when it is not there. */
static size_t
row_behind(const char *message, const char *path)
{
    size_t length = strlen(path);
    for (const char *at = message; length > 0 && (at = strstr(at, path)) != NULL; at++) {
        const char *digits = at + length + 1;
        if (begins_here(message, at) && at[length] == ':' && *digits >= '1' && *digits <= '9')
            return strtoul(digits, NULL, 10);
    }
    return 0;
}

/* `b.rego:3` stands in `a/b.rego:3` too: the longest path is the one that is meant. */
bool
refusal_find(const char *message, const struct deploy *deploy, size_t *ret_rule, size_t *ret_row)
{
    size_t longest = 0;
    for (size_t i = 0; i < deploy->rules; i++) {
        size_t length = strlen(deploy->rule[i].path);
        size_t row = length > longest ? row_behind(message, deploy->rule[i].path) : 0;
        if (row > 0) {
            longest = length;
            *ret_rule = i;
            *ret_row = row;
        }
    }
    return longest > 0;
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
        return key;
    return talloc_asprintf(cli->mem, "%s/%s", source->dir, bundle_file_of_key(cli->mem, key));
}

/* The file that `rules[3]`, `data[0]` or a field of them stands for; NULL for any other text. */
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

json_t *
refusal_body(const struct cli *cli, const struct save_refusal *refusal)
{
    return jsonx_own(cli->mem,
                     json_pack("{s:s,s:o,s:s*,s:s,s:b}", "error", refusal->error,
                               "error_description", output_string(refusal->description),
                               "expectedRevision", refusal->expected, "activeRevision",
                               refusal->active != NULL ? refusal->active : "", "rolledBack", true));
}

/* The policy engine did not take it. */
static int
print_engine(const struct cli *cli, const struct save_refusal *refusal,
             const struct refusal_source *source)
{
    bool away = strcmp(refusal->error, "opa_unreachable") == 0;
    const char *file = entry_file(cli, source, cli->op.fault.public_text);
    const char *text;
    size_t rule, row, length;
    if (cli->choice.json)
        output_json(refusal_body(cli, refusal));
    output_error("%s: %s: %s%s%s; nothing was changed, %s", cli->path, refusal->error,
                 file != NULL ? file : "", file != NULL ? ": " : "", refusal->description,
                 away ? "see that the policy engine runs and that SVC_OPA_URL is right"
                      : "correct it and run this again");
    if (!away && refusal_find(refusal->description, source->deploy, &rule, &row)
        && (text = refusal_line(source->deploy->rule[rule].content, &row, &length)) != NULL)
        output_source(row, text, length, rule_file(cli, source, rule));
    return away ? CLI_UNAVAILABLE : CLI_FAILED;
}

/* A data row breaks its control's schema: one line for each failing path. */
static int
print_failures(const struct cli *cli, const struct deploy_result *result,
               const struct refusal_source *source)
{
    const char *file = data_file(cli, source, result->data_key);
    json_t *failure;
    size_t i;
    if (cli->choice.json)
        output_json(jsonx_own(cli->mem, json_pack("{s:s,s:O}", "dataKey", result->data_key,
                                                  "failures", result->failures)));
    json_array_foreach (result->failures, i, failure) {
        const char *path = json_string_value(json_object_get(failure, "path"));
        output_error("%s: %s: %s", file, path != NULL && *path != '\0' ? path : "(whole payload)",
                     json_string_value(json_object_get(failure, "message")));
    }
    output_error("%s: %s does not fit the schema of %s; nothing was changed", cli->path, file,
                 result->data_key);
    return CLI_FAILED;
}

static int
print_faults(const struct cli *cli, json_t *faults, const struct refusal_source *source)
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
    output_error("%s: nothing was changed; correct these and run this again", cli->path);
    return CLI_FAILED;
}

/* One entry that may not be: `rules[3]: why`. */
static int
print_entry(const struct cli *cli, const char *file)
{
    const char *text = cli->op.fault.public_text, *why = strstr(text, ": ");
    output_error("%s: %s: %s; nothing was changed", cli->path, file, why != NULL ? why + 2 : text);
    return output_exit(cli->op.fault.status);
}

int
refusal_print(const struct cli *cli, enum az_status st, const struct deploy_result *result,
              const struct refusal_source *source)
{
    if (st == AZ_UNPROCESSABLE && result->failures != NULL && result->data_key != NULL)
        return print_failures(cli, result, source);
    if (st == AZ_UNPROCESSABLE && result->save.refusal.error != NULL)
        return print_engine(cli, &result->save.refusal, source);
    if (st == AZ_INVALID_FIELDS && json_object_size(result->faults) > 0)
        return print_faults(cli, result->faults, source);
    const char *file = entry_file(cli, source, cli->op.fault.public_text);
    return file != NULL ? print_entry(cli, file) : output_fault(cli);
}
