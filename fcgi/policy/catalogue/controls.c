#include "config.h"

#include "policy/catalogue/controls.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "policy/catalogue/control_settings.h"
#include "policy/catalogue/control_sites.h"
#include "policy/catalogue/shipped_files.h"

#define CATALOGUE "controls.json"

/* ---- the catalogue ---- */

/* The members that every control has. */
static const struct {
    const char *name;
    json_type type;
} members[] = {
    {"id",          JSON_STRING},
    {"title",       JSON_STRING},
    {"decides",     JSON_STRING},
    {"entrypoints", JSON_ARRAY },
    {"endpoints",   JSON_ARRAY },
    {"rows",        JSON_ARRAY },
    {"inputs",      JSON_ARRAY },
    {"outputs",     JSON_ARRAY },
    {"reasons",     JSON_ARRAY },
};

/* Return the name of a member that a control lacks, or NULL. */
static const char *
find_lack(const json_t *control)
{
    size_t index;
    const json_t *row;
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        const json_t *value = json_object_get(control, members[i].name);
        if (value == NULL || json_typeof(value) != members[i].type)
            return members[i].name;
    }
    json_array_foreach (json_object_get(control, "rows"), index, row)
        if (!json_is_string(json_object_get(row, "key")))
            return "rows[].key";
    return json_is_boolean(json_object_get(control, "configurable")) ? NULL : "configurable";
}

static enum az_status
load_catalogue(struct op *op, json_t **ret)
{
    json_t *catalogue;
    const char *lack = NULL;
    size_t index;
    const json_t *control;
    enum az_status st = shipped_json(op, CATALOGUE, &catalogue);
    if (st != AZ_OK)
        return st;
    json_array_foreach (catalogue, index, control)
        if (lack == NULL)
            lack = find_lack(control);
    if (!json_is_array(catalogue) || lack != NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL,
                       "SVC_DATA_DIR: policy/" CATALOGUE " is not an array of controls: %s",
                       lack != NULL ? lack : "not an array");
    *ret = catalogue;
    return AZ_OK;
}

static const char *
id_of(const json_t *control)
{
    return json_string_value(json_object_get(control, "id"));
}

static enum az_status
load_schema(struct op *op, const char *key, json_t **ret)
{
    const char *name = talloc_asprintf(op->mem, "schemas/%s.json", key);
    return name != NULL ? shipped_json(op, name, ret) : op_no_memory(op);
}

/* ---- settings ---- */

/* Add the settings of all rows of a control. */
static enum az_status
add_settings(struct op *op, const json_t *control, json_t *settings)
{
    size_t index;
    const json_t *row;
    enum az_status st = AZ_OK;
    json_array_foreach (json_object_get(control, "rows"), index, row) {
        struct control_row found = {.key = json_string_value(json_object_get(row, "key")),
                                    .control = id_of(control)};
        json_t *schema = NULL;
        if (st == AZ_OK)
            st = load_schema(op, found.key, &schema);
        found.schema = schema;
        if (st == AZ_OK)
            st = control_settings_add(op, &found, settings);
    }
    return st;
}

/* List the names of a control's settings. */
static enum az_status
list_settings(struct op *op, const json_t *control, json_t **ret)
{
    json_t *settings = jsonx_own(op->mem, json_object()), *names = jsonx_own(op->mem, json_array()),
           *setting;
    const char *name;
    if (settings == NULL || names == NULL)
        return op_no_memory(op);
    enum az_status st = add_settings(op, control, settings);
    json_object_foreach (settings, name, setting)
        if (st == AZ_OK && json_array_append_new(names, json_string(name)) != 0)
            st = op_no_memory(op);
    if (st == AZ_OK)
        *ret = names;
    return st;
}

enum az_status
controls_settings(struct op *op, json_t **ret)
{
    size_t index;
    const json_t *control;
    json_t *catalogue = NULL, *settings = jsonx_own(op->mem, json_object());
    enum az_status st = settings != NULL ? load_catalogue(op, &catalogue) : op_no_memory(op);
    json_array_foreach (catalogue, index, control)
        if (st == AZ_OK)
            st = add_settings(op, control, settings);
    if (st == AZ_OK)
        *ret = settings;
    return st;
}

/* ---- controls ---- */

static enum az_status
make_compact(struct op *op, const json_t *control, json_t **ret)
{
    json_t *settings = NULL;
    enum az_status st = list_settings(op, control, &settings);
    if (st != AZ_OK)
        return st;
    json_t *made = jsonx_own(
        op->mem,
        json_pack("{s:O,s:O,s:O,s:O,s:O,s:O,s:O*}", "id", json_object_get(control, "id"), "title",
                  json_object_get(control, "title"), "decides", json_object_get(control, "decides"),
                  "entrypoints", json_object_get(control, "entrypoints"), "configurable",
                  json_object_get(control, "configurable"), "settings", settings, "reasons",
                  json_object_get(control, "reasons")));
    if (made == NULL)
        return op_no_memory(op);
    *ret = made;
    return AZ_OK;
}

enum az_status
controls_list(struct op *op, json_t **ret)
{
    size_t index;
    const json_t *control;
    json_t *catalogue = NULL, *list = jsonx_own(op->mem, json_array()), *made;
    enum az_status st = list != NULL ? load_catalogue(op, &catalogue) : op_no_memory(op);
    json_array_foreach (catalogue, index, control) {
        if (st == AZ_OK)
            st = make_compact(op, control, &made);
        if (st == AZ_OK && json_array_append(list, made) != 0)
            st = op_no_memory(op);
    }
    if (st == AZ_OK)
        *ret = list;
    return st;
}

/* List the rows of a control with their schemas. */
static enum az_status
make_rows(struct op *op, const json_t *control, json_t **ret)
{
    size_t index;
    const json_t *row;
    json_t *rows = jsonx_own(op->mem, json_array()), *schema;
    enum az_status st = rows != NULL ? AZ_OK : op_no_memory(op);
    json_array_foreach (json_object_get(control, "rows"), index, row) {
        if (st == AZ_OK)
            st = load_schema(op, json_string_value(json_object_get(row, "key")), &schema);
        if (st != AZ_OK)
            return st;
        json_t *whole = jsonx_copy(row);
        if (json_object_set(whole, "schema", schema) != 0 || json_array_append(rows, whole) != 0)
            st = op_no_memory(op);
        json_decref(whole);
    }
    *ret = rows;
    return st;
}

/* Describe a control: its members of the catalogue, its schemas and its sites. */
static enum az_status
describe_control(struct op *op, const json_t *control, json_t **ret)
{
    static const char *const own[] = {"endpoints", "inputs", "outputs", "reasons"};
    json_t *made = NULL, *rows = NULL, *sites = NULL;
    enum az_status st = make_compact(op, control, &made);
    if (st == AZ_OK)
        st = make_rows(op, control, &rows);
    if (st == AZ_OK)
        st = control_sites(op, id_of(control), &sites);
    if (st != AZ_OK)
        return st;
    bool good =
        json_object_set(made, "sites", sites) == 0 && json_object_set(made, "rows", rows) == 0;
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        good = good && json_object_set(made, own[i], json_object_get(control, own[i])) == 0;
    if (!good)
        return op_no_memory(op);
    *ret = made;
    return AZ_OK;
}

enum az_status
controls_describe(struct op *op, const char *id, json_t **ret)
{
    size_t index;
    const json_t *control;
    json_t *catalogue = NULL;
    enum az_status st = load_catalogue(op, &catalogue);
    if (st != AZ_OK)
        return st;
    json_array_foreach (catalogue, index, control)
        if (strcmp(id_of(control), id) == 0)
            return describe_control(op, control, ret);
    *ret = NULL;
    return AZ_OK;
}
