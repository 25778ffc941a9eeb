/* policy data: rows that rules read, listed, printed, saved and deleted. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/jsonx.h"
#include "base/merge_patch.h"
#include "output.h"
#include "policy/rows/data_check.h"
#include "policy/rows/data_key.h"
#include "policy/save/save.h"
#include "store/policy/policy_rows.h"
#include "verbs.h"

const struct cli_option policy_data_set_options[] = {
    {"patch", 0, NULL, offsetof(struct cli_choices, patch), false,
     "Merge into the stored payload: members given replace, null removes (RFC 7396)"},
    {NULL,       0,     NULL,  0,                     false,                         NULL    },
};

/* Nesting of a list of rows. */
#define LIST_DEPTH_MAX 4

/* What is about to be saved. */
struct edit {
    const char *key;       /* of the row */
    const char *source;    /* file name, or "standard input" */
    const char *schema;    /* text, NULL when the row has none */
    struct policy_row row; /* as stored; payload NULL when new */
    json_t *value;         /* new payload */
    const char *text;      /* the same as text */
};

int
policy_data_list_run(struct cli *cli)
{
    static const struct output_column columns[] = {
        {"dataKey",            "KEY"    },
        {"inBundle",           "BUNDLE" },
        {"version",            "VERSION"},
        {"updatedAtFormatted", "UPDATED"},
        {NULL,                 NULL     }
    };
    const char *text;
    json_t *rows;
    if (policy_data_list(&cli->op, NULL, &text) != AZ_OK)
        return output_fault(cli);
    if (jsonx_parse(cli->mem, text, strlen(text), LIST_DEPTH_MAX, &rows, NULL) != AZ_OK) {
        output_error("%s: the list cannot be read; run `authzctl db status`", cli->path);
        return CLI_FAILED;
    }
    output_rows(cli, rows, columns);
    return CLI_OK;
}

static void
print_saved(const struct cli *cli, const struct save_outcome *outcome, bool created)
{
    const char *activation = save_activation_word(outcome->activation);
    if (cli->choice.json)
        output_json(jsonx_own(cli->mem, json_pack("{s:s,s:s,s:s,s:b}", "dataKey", cli->args[0],
                                                  "revision", outcome->revision, "activation",
                                                  activation, "created", created)));
    else
        printf("%s %s\n", outcome->revision, activation);
}

/* A row that is shipped stays: its control reads it. */
int
policy_data_delete_run(struct cli *cli)
{
    struct save_outcome outcome = {.revision = NULL};
    bool created = false;
    const struct data_change change = {.data_key = cli->args[0]};
    enum az_status st = save_data_row(&cli->op, &change, "authzctl", &outcome, &created);
    if (st == AZ_NOT_FOUND)
        output_error("policy data delete: there is no row %s; see `authzctl policy data list`",
                     cli->args[0]);
    else if (st == AZ_PROTECTED)
        output_error("policy data delete: %s is shipped with a control and cannot be deleted; set "
                     "its payload instead",
                     cli->args[0]);
    else if (st != AZ_OK)
        return output_fault(cli);
    if (st != AZ_OK)
        return CLI_FAILED;
    print_saved(cli, &outcome, false);
    return CLI_OK;
}

int
policy_data_get_run(struct cli *cli)
{
    struct policy_row row = {.payload = NULL};
    if (policy_data_fetch(&cli->op, cli->args[0], &row) != AZ_OK)
        return output_fault(cli);
    if (row.payload == NULL) {
        output_error("policy data get: there is no row %s; see `authzctl policy data list`",
                     cli->args[0]);
        return CLI_FAILED;
    }
    puts(cli->choice.json ? row.dto : row.payload);
    return CLI_OK;
}

/* The whole of FILE, or of standard input, as one JSON value. */
static int
read_value(struct cli *cli, struct edit *edit)
{
    bool standard = cli->argc < 2 || strcmp(cli->args[1], "-") == 0;
    FILE *file = standard ? stdin : fopen(cli->args[1], "re");
    const char *why = NULL;
    char octets[8192];
    struct buf buf;
    edit->source = standard ? "standard input" : cli->args[1];
    if (file == NULL) {
        output_error("policy data set: %s: %s; name a file that can be read, or -", edit->source,
                     strerror(errno));
        return CLI_FAILED;
    }
    buf_init(&buf, cli->mem, POLICY_DATA_PAYLOAD_MAX);
    for (size_t got; (got = fread(octets, 1, sizeof(octets), file)) > 0;)
        if (buf_append(&buf, octets, got) != AZ_OK)
            break;
    if (ferror(file))
        why = strerror(errno);
    if (!standard)
        fclose(file);
    if (buf.status != AZ_OK)
        why = "is larger than 8 MiB";
    size_t length = 0;
    char *text = why == NULL && buf.len > 0 ? buf_take(&buf, &length) : NULL;
    if (why == NULL && text == NULL)
        why = "is empty";
    if (why == NULL
        && jsonx_parse(cli->mem, text, length, POLICY_DATA_DEPTH_MAX, &edit->value, &why)
               == AZ_OK) {
        edit->text = text;
        return CLI_OK;
    }
    output_error("policy data set: %s: %s; give one JSON value", edit->source,
                 why != NULL ? why : "cannot be read");
    return CLI_FAILED;
}

/* Row and schema; refused are keys that the engine or the service keeps for itself (policy.md 2.1).
 */
static int
fetch_target(struct cli *cli, struct edit *edit)
{
    if (policy_data_fetch(&cli->op, edit->key, &edit->row) != AZ_OK
        || policy_schema_fetch(&cli->op, edit->key, &edit->schema) != AZ_OK)
        return output_fault(cli);
    switch (save_key_owner(edit->key, edit->schema != NULL || edit->row.payload != NULL)) {
    case SAVE_OWNER_ENGINE:
        output_error("policy data set: %s: keys below system belong to the policy engine; choose "
                     "another one",
                     edit->key);
        return CLI_FAILED;
    case SAVE_OWNER_SERVICE:
        output_error("policy data set: %s: keys below svc belong to the service; choose another "
                     "one",
                     edit->key);
        return CLI_FAILED;
    case SAVE_OWNER_NONE:
        break;
    }
    return CLI_OK;
}

/* With --patch the stored payload is what the input changes (RFC 7396), so there must be one. */
static int
apply_patch(struct cli *cli, struct edit *edit)
{
    const char *payload = edit->row.payload;
    json_t *stored = NULL;
    if (payload == NULL) {
        output_error("policy data set: --patch: there is no row %s; leave --patch out to create it",
                     edit->key);
        return CLI_FAILED;
    }
    if (jsonx_parse(cli->mem, payload, strlen(payload), POLICY_DATA_DEPTH_MAX, &stored, NULL)
        != AZ_OK) {
        output_error("policy data set: --patch: the stored payload is not JSON; leave --patch out "
                     "to replace it");
        return CLI_FAILED;
    }
    edit->value = jsonx_own(cli->mem, merge_patch(stored, edit->value));
    edit->text = edit->value != NULL ? jsonx_dump(cli->mem, edit->value) : NULL;
    if (edit->text != NULL && strlen(edit->text) <= POLICY_DATA_PAYLOAD_MAX)
        return CLI_OK;
    output_error("policy data set: the patched payload %s",
                 edit->text != NULL ? "is larger than 8 MiB; use several rows" : "needs memory");
    return CLI_FAILED;
}

/* One line for each failing path. */
static int
refuse_value(const struct cli *cli, const struct edit *edit, json_t *failures)
{
    json_t *failure;
    size_t i;
    if (cli->choice.json)
        output_json(jsonx_own(cli->mem,
                              json_pack("{s:s,s:O}", "dataKey", edit->key, "failures", failures)));
    json_array_foreach (failures, i, failure) {
        const char *path = json_string_value(json_object_get(failure, "path"));
        output_error("%s: %s: %s", edit->key, *path != '\0' ? path : "(whole payload)",
                     json_string_value(json_object_get(failure, "message")));
    }
    output_error("policy data set: %s does not fit the schema of %s; nothing is saved",
                 edit->source, edit->key);
    return CLI_FAILED;
}

/* A row without a schema takes any JSON. */
static int
check_value(struct cli *cli, const struct edit *edit)
{
    json_t *failures = NULL;
    enum az_status st = data_check(&cli->op, edit->key, edit->schema, edit->value, &failures);
    if (st == AZ_UNPROCESSABLE && failures != NULL)
        return refuse_value(cli, edit, failures);
    if (st != AZ_OK) {
        output_error("policy data set: the schema of %s cannot be used; run `authzctl db migrate`",
                     edit->key);
        return CLI_FAILED;
    }
    const char *warning = data_check_warning(edit->schema);
    if (warning != NULL)
        output_error("policy data set: %s; install the tz database", warning);
    return CLI_OK;
}

/* Nothing that another writer saved between our reading and writing is overwritten unseen. */
static int
save_value(struct cli *cli, const struct edit *edit)
{
    struct save_outcome outcome = {.revision = NULL};
    bool created = false;
    struct data_change change = {.data_key = edit->key,
                                 .payload = edit->text,
                                 .in_bundle = edit->row.payload == NULL || edit->row.in_bundle,
                                 .if_match = cli->choice.patch ? edit->row.digest : NULL};
    if (save_data_row(&cli->op, &change, "authzctl", &outcome, &created) != AZ_OK)
        return output_fault(cli);
    print_saved(cli, &outcome, created);
    return CLI_OK;
}

int
policy_data_set_run(struct cli *cli)
{
    struct edit edit = {.key = cli->args[0], .row = {.payload = NULL}};
    const char *why = policy_data_key_fault(edit.key);
    if (why != NULL) {
        output_error("policy data set: data key `%s`: %s; correct it", edit.key, why);
        return CLI_USAGE;
    }
    int status = read_value(cli, &edit);
    if (status == CLI_OK)
        status = fetch_target(cli, &edit);
    if (status == CLI_OK && cli->choice.patch)
        status = apply_patch(cli, &edit);
    if (status == CLI_OK)
        status = check_value(cli, &edit);
    return status == CLI_OK ? save_value(cli, &edit) : status;
}
