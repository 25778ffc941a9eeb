/* audit show and audit replay as a person reads them: the facts as a table, then the decision with
 * its reasons, and the question. With --json they print the answer of the API. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "cli/admin/admin.h"
#include "cli/verbs.h"

static const struct output_column reason_columns[] = {
    {"code",    "REASON" },
    {"denies",  "DENIES" },
    {"place",   "RULE"   },
    {"message", "MESSAGE"},
    {NULL,      NULL     }
};
static const struct output_column difference_columns[] = {
    {"member", "MEMBER"},
    {"before", "BEFORE"},
    {"after",  "AFTER" },
    {NULL,     NULL    }
};

/* Return the place of the rule that gave a reason, or the control of the service. */
static const char *
place_of(const struct cli *cli, const json_t *reason)
{
    const json_t *detail = json_object_get(reason, "detail"),
                 *line = json_object_get(detail, "line");
    const char *path = json_string_value(json_object_get(detail, "path")),
               *policy = json_string_value(json_object_get(detail, "policy")),
               *control = json_string_value(json_object_get(reason, "control"));
    if (path == NULL)
        return control != NULL ? control : "";
    if (json_is_integer(line))
        return talloc_asprintf(cli->mem, "%s:%lld", path, (long long) json_integer_value(line));
    return policy != NULL ? talloc_asprintf(cli->mem, "%s (%s)", path, policy) : path;
}

static void
print_reasons(const struct cli *cli, const json_t *reasons)
{
    struct jsonx_build rows = {jsonx_own(cli->mem, json_array()), false};
    size_t i;
    json_t *reason;
    json_array_foreach (reasons, i, reason)
        jsonx_append(
            &rows,
            json_pack("{s:O*,s:s,s:s,s:O*}", "code", json_object_get(reason, "code"), "denies",
                      json_is_false(json_object_get(reason, "denies")) ? "no" : "yes", "place",
                      place_of(cli, reason), "message", json_object_get(reason, "message")));
    if (json_array_size(reasons) > 0)
        output_rows(cli, jsonx_built(&rows), reason_columns);
}

/* Print a decision under a heading. */
static void
print_decision(const struct cli *cli, const char *heading, const json_t *decision)
{
    const json_t *allow = json_object_get(decision, "allow");
    const char *error = json_string_value(json_object_get(decision, "error"));
    if (decision == NULL || json_is_null(decision))
        return;
    output_heading(cli, talloc_asprintf(cli->mem, "%s: %s%s%s", heading,
                                        json_is_true(allow)    ? "allowed"
                                        : json_is_false(allow) ? "denied"
                                                               : "no decision",
                                        error != NULL ? ": " : "", error != NULL ? error : ""));
    print_reasons(cli, json_object_get(decision, "deny_reasons"));
}

static void
print_document(const struct cli *cli, const char *heading, const json_t *document)
{
    if (document == NULL || json_is_null(document))
        return;
    output_heading(cli, talloc_asprintf(cli->mem, "%s:", heading));
    output_json(document);
}

int
audit_show_run(struct cli *cli)
{
    struct answer answer;
    int status = admin_ask(cli, &answer);
    if (status != CLI_OK || cli->choice.json || !json_is_object(answer.json))
        return status == CLI_OK ? admin_show(cli, &answer) : status;
    const json_t *decision = admin_take(cli, answer.json, "policyDecision"),
                 *question = admin_take(cli, answer.json, "policyInput");
    admin_print_object(cli, answer.json);
    print_decision(cli, "decision", decision);
    print_document(cli, "decision in full", decision);
    print_document(cli, "question", question);
    return CLI_OK;
}

/* Print the members in which two decisions differ; the reasons are printed beside them. */
static void
print_differences(const struct cli *cli, const json_t *changes, const json_t *before,
                  const json_t *after)
{
    struct jsonx_build rows = {jsonx_own(cli->mem, json_array()), false};
    size_t i;
    json_t *name;
    json_array_foreach (changes, i, name) {
        const char *member = json_string_value(name);
        if (member != NULL && *member != '\0' && strcmp(member, "deny_reasons") != 0)
            jsonx_append(&rows, json_pack("{s:s,s:O*,s:O*}", "member", member, "before",
                                          json_object_get(before, member), "after",
                                          json_object_get(after, member)));
    }
    if (json_array_size(rows.value) == 0)
        return;
    output_heading(cli, "differences:");
    output_rows(cli, jsonx_built(&rows), difference_columns);
}

int
audit_replay_run(struct cli *cli)
{
    struct answer answer;
    size_t i;
    json_t *pointer;
    int status = admin_ask(cli, &answer);
    if (status != CLI_OK || cli->choice.json || !json_is_object(answer.json))
        return status == CLI_OK ? admin_show(cli, &answer) : status;
    const json_t *before = admin_take(cli, answer.json, "before"),
                 *after = admin_take(cli, answer.json, "after"),
                 *changes = admin_take(cli, answer.json, "changes"),
                 *lacks = admin_take(cli, answer.json, "notStored");
    admin_take(cli, answer.json, "metrics");
    admin_print_object(cli, answer.json);
    print_decision(cli, "before", before);
    json_array_foreach (lacks, i, pointer)
        if (json_is_string(pointer))
            output_line(cli, "not stored: %s", json_string_value(pointer));
    print_decision(cli, "now", after);
    print_differences(cli, changes, before, after);
    return CLI_OK;
}
