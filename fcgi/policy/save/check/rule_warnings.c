#include "config.h"

#include "policy/save/check/rule_warnings.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/log.h"
#include "policy/catalogue/shipped_files.h"
#include "policy/rows/cedar_unknown.h"
#include "policy/rows/data_key.h"
#include "policy/rows/rule.h"
#include "policy/rows/rule_unread.h"

/* The row with the mode of Cedar rules. */
#define CEDAR_MODE_KEY "svc.operator.controls.authzen"

/* Warnings in the one line of a header: more are counted. */
#define WARNINGS_SHOWN 3

static bool
is_kind(const char *path, const char *kind)
{
    return !rule_path_is_ours(path) && strcmp(rule_kind(path), kind) == 0;
}

/* Add the warnings about rules in Rego. */
static bool
warn_of_rego(struct op *op, const struct bundle_rows *rows, json_t *warnings)
{
    size_t count = 0;
    struct rule_text *text = talloc_array(op->mem, struct rule_text, (unsigned) rows->rules + 1);
    for (size_t i = 0; text != NULL && i < rows->rules; i++)
        if (is_kind(rows->rule_path[i], "rego"))
            text[count++] = (struct rule_text){rows->rule_path[i], rows->rule_content[i]};
    return text != NULL && rule_unread_find(op->mem, text, count, warnings, warnings);
}

/* Return the mode of Cedar rules that a row says; NULL: no memory, or a row that cannot be read. */
static const char *
mode_of(struct op *op, const char *payload)
{
    json_t *row = NULL;
    if (jsonx_parse(op->mem, payload, strlen(payload), POLICY_DATA_DEPTH_MAX, &row, NULL) != AZ_OK)
        return NULL;
    const char *mode = json_string_value(json_object_get(row, "cedar_mode"));
    return mode != NULL ? mode : "guard";
}

/* Add the warnings about rules in Cedar. */
static bool
warn_of_cedar(struct op *op, const struct bundle_rows *rows, json_t *warnings)
{
    json_t *schema = NULL;
    struct cedar_known known = {.schema = NULL, .mode = "guard"};
    const char **row = talloc_array(op->mem, const char *, (unsigned) rows->data + 1);
    bool good = row != NULL;
    for (size_t i = 0; good && i < rows->data; i++)
        if (policy_name_lies_in(rows->data_key[i], "svc.cedar_data"))
            row[known.rows++] = rows->data_payload[i];
        else if (strcmp(rows->data_key[i], CEDAR_MODE_KEY) == 0)
            known.mode = mode_of(op, rows->data_payload[i]);
    known.row = row;
    for (size_t i = 0; good && i < rows->rules; i++) {
        if (!is_kind(rows->rule_path[i], "cedar"))
            continue;
        if (schema == NULL && shipped_json(op, CEDAR_SCHEMA_FILE, &schema) != AZ_OK)
            return false;
        known.schema = schema;
        good = cedar_unknown_find(op->mem, &known, rows->rule_path[i], rows->rule_content[i],
                                  warnings, warnings);
    }
    return good;
}

json_t *
rule_warnings(struct op *op, const struct bundle_rows *rows)
{
    struct op look = op_beside(op, op->mem);
    json_t *warnings = jsonx_own(op->mem, json_array());
    if (warnings == NULL || !warn_of_rego(&look, rows, warnings)
        || !warn_of_cedar(&look, rows, warnings))
        log_text(AZ_SEV_WARN, "rules not judged", "%s",
                 look.fault.detail[0] != '\0' ? look.fault.detail : "out of memory");
    return warnings;
}

const char *
rule_warnings_text(TALLOC_CTX *mem, const json_t *warnings)
{
    size_t count = json_array_size(warnings);
    char *text = count > 0 ? talloc_strdup(mem, "") : NULL;
    for (size_t i = 0; text != NULL && i < count && i < WARNINGS_SHOWN; i++)
        text = talloc_asprintf_append_buffer(text, "%s%s", i > 0 ? "; " : "",
                                             json_string_value(json_array_get(warnings, i)));
    return text != NULL && count > WARNINGS_SHOWN
               ? talloc_asprintf_append_buffer(text, "; and %zu more", count - WARNINGS_SHOWN)
               : text;
}
