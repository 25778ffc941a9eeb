/* policy data: list, print, save and delete the data rows that rules read. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "base/json/merge_patch.h"
#include "cli/lib/input.h"
#include "cli/lib/limits.h"
#include "cli/lib/output.h"
#include "cli/policy/bundle.h"
#include "cli/policy/stored.h"
#include "cli/verbs.h"
#include "policy/rows/data_check.h"
#include "policy/rows/data_key.h"
#include "policy/save/deploy/save_data.h"

const struct cli_option policy_data_set_options[] = {
    LIMITS_IMPACT_OPTION,
    LIMITS_OPTIONS,
    CLI_MESSAGE,
    LIMITS_OVERRIDE_OPTION,
    {"patch", 0, NULL, offsetof(struct cli_choices, patch), false,
      "Merge the input into the stored payload: a member replaces, null removes (RFC 7396)"},
    LIMITS_SINCE_OPTION,
    {NULL,       0,     NULL,  0,                     false,                         NULL    },
};

const struct cli_option policy_data_delete_options[] = {
    LIMITS_IMPACT_OPTION,
    LIMITS_OPTIONS,
    CLI_MESSAGE,
    LIMITS_OVERRIDE_OPTION,
    LIMITS_SINCE_OPTION,
    CLI_YES,
    {NULL, 0, NULL, 0, false, NULL},
};

/* Hint for a key that does not exist. */
#define SEE_LIST "see `authzctl policy data list`"

/* One change of a data row. */
struct edit {
    const char *key;       /* key of the row */
    const char *source;    /* name of the input */
    const char *schema;    /* JSON text, or NULL if the row has none */
    struct policy_row row; /* stored row; payload NULL: a new row */
    json_t *value;         /* new payload */
    const char *text;      /* the new payload as text */
};

int
policy_data_list_run(struct cli *cli)
{
    static const struct output_column columns[] = {
        {"dataKey",   "KEY"    },
        {"inBundle",  "BUNDLE" },
        {"version",   "VERSION"},
        {"updatedAt", "UPDATED"},
        {NULL,        NULL     }
    };
    const char *text;
    int status = stored_rows(cli, &text);
    return status == CLI_OK ? input_list_print(cli, text, columns) : status;
}

static int
refuse_unknown_row(const struct cli *cli, const char *hint)
{
    output_error("%s: data row '%s' does not exist; %s", cli->path, cli->args[0], hint);
    return CLI_FAILED;
}

static int
refuse_control(const struct cli *cli)
{
    output_error("%s: %s belongs to a shipped control and cannot be deleted; change its payload "
                 "instead",
                 cli->path, cli->args[0]);
    return CLI_FAILED;
}

/* Print why a save on the database was refused. */
static int
refuse_save(struct cli *cli, enum az_status st, const struct save_outcome *outcome,
            const char *name)
{
    const struct deploy nothing = {.rules = 0};
    const struct refusal_source source = {.deploy = &nothing, .data_file = name};
    const struct deploy_result result = {.save = *outcome};
    return refusal_print(cli, st, &result, &source);
}

/* Send a change of a row over the admin API and print its result. */
static int
change_remote(struct cli *cli, const char *method, json_t *body, const char *name,
              const char *missing_hint)
{
    struct query_pair query[STORED_QUERY_MAX];
    const struct query_pair key = {"dataKey", cli->args[0]};
    const struct call call = {.method = method,
                              .path = "/admin/api/policy-data/by-key",
                              .query = query,
                              .queries = stored_query(cli, key, query),
                              .body = body};
    const struct deploy nothing = {.rules = 0};
    const struct refusal_source source = {.deploy = &nothing, .data_file = name};
    struct answer answer;
    bool missing;
    int status = stored_save(cli, &call, &source, &answer, &missing);
    if (missing)
        return refuse_unknown_row(cli, missing_hint);
    if (status == CLI_OK)
        bundle_print_revision(
            cli, stored_revision(cli, &answer), stored_activation(cli, &answer), false,
            json_pack("{s:s,s:b}", "dataKey", cli->args[0], "created", answer.status == 201));
    return status;
}

static int
delete_row_remote(struct cli *cli)
{
    if (policy_data_key_fault(cli->args[0]) != NULL)
        return refuse_unknown_row(cli, SEE_LIST);
    return change_remote(cli, "DELETE", NULL, cli->args[0], SEE_LIST);
}

int
policy_data_delete_run(struct cli *cli)
{
    struct save_outcome outcome = {.revision = NULL};
    bool created = false;
    const struct data_change change = {
        .data_key = cli->args[0], .message = cli->choice.note, .limits = &limits_on_database};
    if (stored_asks(cli))
        return delete_row_remote(cli);
    enum az_status st = save_data_row(&cli->op, &change, "authzctl", &outcome, &created);
    if (st == AZ_NOT_FOUND)
        return refuse_unknown_row(cli, SEE_LIST);
    if (st == AZ_PROTECTED)
        return refuse_control(cli);
    if (st != AZ_OK)
        return refuse_save(cli, st, &outcome, cli->args[0]);
    bundle_print_save(cli, &outcome, json_pack("{s:s,s:b}", "dataKey", cli->args[0], "created", 0));
    return CLI_OK;
}

int
policy_data_get_run(struct cli *cli)
{
    struct policy_row row = {.payload = NULL};
    int status = stored_row(cli, cli->args[0], &row);
    if (status != CLI_OK)
        return status;
    if (row.payload == NULL)
        return refuse_unknown_row(cli, SEE_LIST);
    if (cli->choice.json)
        return input_row_print(cli, row.dto);
    output_content(row.payload);
    putchar('\n');
    return CLI_OK;
}

/* Read the payload: one JSON value. */
static int
read_edit(struct cli *cli, struct edit *edit)
{
    static const char expected[] = "give one JSON value";
    size_t length = 0;
    const char *why = NULL;
    edit->source = input_name(cli);
    edit->text = input_read(cli, POLICY_DATA_PAYLOAD_MAX, "8 MiB", expected, &length);
    if (edit->text == NULL)
        return CLI_FAILED;
    if (jsonx_parse(cli->mem, edit->text, length, POLICY_DATA_DEPTH_MAX, &edit->value, &why)
        == AZ_OK)
        return CLI_OK;
    output_error("%s: %s: %s; %s", cli->path, edit->source, why != NULL ? why : "cannot be read",
                 expected);
    return CLI_FAILED;
}

/* Fetch the row and its schema, and refuse keys that belong to the engine or to the service. */
static int
fetch_target(struct cli *cli, struct edit *edit)
{
    if (policy_data_fetch(&cli->op, edit->key, &edit->row) != AZ_OK
        || policy_schema_fetch(&cli->op, edit->key, &edit->schema) != AZ_OK)
        return output_fault(cli);
    switch (save_key_owner(edit->key, edit->schema != NULL || edit->row.payload != NULL)) {
    case SAVE_OWNER_ENGINE:
        output_error("%s: %s: keys below system belong to the policy engine; choose another key",
                     cli->path, edit->key);
        return CLI_FAILED;
    case SAVE_OWNER_SERVICE:
        output_error("%s: %s: keys below svc belong to the service; choose another key", cli->path,
                     edit->key);
        return CLI_FAILED;
    case SAVE_OWNER_NONE:
        break;
    }
    return CLI_OK;
}

/* Merge the input into the stored payload (RFC 7396). */
static int
apply_patch(struct cli *cli, struct edit *edit)
{
    const char *payload = edit->row.payload;
    json_t *stored = NULL;
    if (payload == NULL)
        return refuse_unknown_row(cli, "omit --patch to create it");
    if (jsonx_parse(cli->mem, payload, strlen(payload), POLICY_DATA_DEPTH_MAX, &stored, NULL)
        != AZ_OK) {
        output_error("%s: --patch: the stored payload is not JSON; omit --patch to replace it",
                     cli->path);
        return CLI_FAILED;
    }
    edit->value = jsonx_own(cli->mem, merge_patch(stored, edit->value));
    edit->text = edit->value != NULL ? jsonx_dump(cli->mem, edit->value) : NULL;
    if (edit->text != NULL && strlen(edit->text) <= POLICY_DATA_PAYLOAD_MAX)
        return CLI_OK;
    if (edit->text == NULL)
        return output_no_memory(cli);
    output_error("%s: the merged payload is larger than 8 MiB; split it into several rows",
                 cli->path);
    return CLI_FAILED;
}

/* Check the payload against the schema of the row; without a schema any JSON is valid. */
static int
check_payload(struct cli *cli, const struct edit *edit)
{
    json_t *failures = NULL;
    enum az_status st = data_check(&cli->op, edit->key, edit->schema, edit->value, &failures);
    if (st == AZ_UNPROCESSABLE && failures != NULL)
        return refusal_failures(cli, edit->source, edit->key, failures);
    if (st != AZ_OK) {
        output_error("%s: the schema of %s is not valid; run `authzctl db migrate`", cli->path,
                     edit->key);
        return CLI_FAILED;
    }
    const char *warning = data_check_warning(edit->schema);
    if (warning != NULL)
        output_error("%s: warning: %s", cli->path, warning);
    return CLI_OK;
}

/* Save the payload. A merge fails if the row changed since it was read, so that no change of
 * another writer is lost. */
static int
save_value(struct cli *cli, const struct edit *edit)
{
    struct save_outcome outcome = {.revision = NULL};
    bool created = false;
    struct data_change change = {.data_key = edit->key,
                                 .payload = edit->text,
                                 .in_bundle = edit->row.payload == NULL || edit->row.in_bundle,
                                 .message = cli->choice.note,
                                 .if_match = cli->choice.patch ? edit->row.digest : NULL,
                                 .limits = &limits_on_database};
    enum az_status st = save_data_row(&cli->op, &change, "authzctl", &outcome, &created);
    if (outcome.failures != NULL)
        return refusal_failures(cli, edit->source, edit->key, outcome.failures);
    if (st != AZ_OK)
        return refuse_save(cli, st, &outcome, edit->source);
    bundle_print_save(cli, &outcome,
                      json_pack("{s:s,s:b}", "dataKey", edit->key, "created", created));
    return CLI_OK;
}

/* Send the payload over the admin API, which checks it. */
static int
set_row_remote(struct cli *cli, const struct edit *edit)
{
    const bool patch = cli->choice.patch;
    json_t *body = patch ? edit->value
                         : jsonx_own(cli->mem, json_pack("{s:s,s:s}", "dataKey", edit->key,
                                                         "payload", edit->text));
    if (body == NULL)
        return output_no_memory(cli);
    return change_remote(cli, patch ? "PATCH" : "PUT", body, edit->source,
                         "omit --patch to create it");
}

int
policy_data_set_run(struct cli *cli)
{
    struct edit edit = {.key = cli->args[0], .row = {.payload = NULL}};
    const char *why = policy_data_key_fault(edit.key);
    if (why != NULL) {
        output_error("%s: '%s': the data key %s; correct it", cli->path, edit.key, why);
        return CLI_USAGE;
    }
    int status = read_edit(cli, &edit);
    if (status == CLI_OK && stored_asks(cli))
        return set_row_remote(cli, &edit);
    if (status == CLI_OK)
        status = fetch_target(cli, &edit);
    if (status == CLI_OK && cli->choice.patch)
        status = apply_patch(cli, &edit);
    if (status == CLI_OK)
        status = check_payload(cli, &edit);
    return status == CLI_OK ? save_value(cli, &edit) : status;
}
