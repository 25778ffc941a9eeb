#include "config.h"

#include "managed/import/manifest.h"

#include <string.h>

#include "base/json/field_rules.h"
#include "managed/auth.h"
#include "managed/import/import.h"
#include "managed/import/manifest_private.h"
#include "managed/names.h"
#include "managed/reader.h"

/* Limits of a manifest, each far above what a connector has. */
#define SETTINGS_MAX 32
#define SCOPES_MAX 64
#define EGRESS_MAX 32
#define POLICY_KEY_MAX 64

/* The state of reading one manifest. */
struct manifest_reading {
    TALLOC_CTX *mem;
    field_fault_fn *fault;
    void *fault_arg;
    const json_t *properties; /* of the settings, or NULL */
    bool faulty;              /* a fault was told */
};

struct raw_manifest {
    struct managed_manifest manifest;
    int64_t manifest_version;
    const json_t *resources;
};

static const char *
id_rule(TALLOC_CTX *mem, const json_t *value)
{
    const char *id = json_string_value(value);
    (void) mem;
    if (strcmp(id, "all") == 0)
        return "must not be all, which names every connector to authzctl";
    return managed_name_is_good(id) ? NULL : "must be usable as the name of a resource";
}

static const char *
docs_rule(TALLOC_CTX *mem, const json_t *value)
{
    (void) mem;
    return strncmp(json_string_value(value), "https://", 8) == 0 ? NULL : "must be an https URL";
}

/* clang-format off */
static const struct field scope_fields[] = {
    {"name",        FIELD_TEXT,      .required = true, .max = MANAGED_WORD_MAX,
     .rule = managed_scope_rule},
    {"description", FIELD_TEXT,      .max = MANAGED_TEXT_MAX, .rule = field_rule_visible},
    {"implies",     FIELD_TEXT_LIST, .max = MANAGED_SCOPES_MAX, .item_max = MANAGED_WORD_MAX,
     .rule = managed_scope_rule},
};
static const struct field settings_fields[] = {
    {"type",       FIELD_TEXT,      .required = true,
     .words = (const char *const[]){"object", NULL}},
    {"required",   FIELD_TEXT_LIST, .max = SETTINGS_MAX},
    {"properties", FIELD_OBJECT,    .required = true, .rule = managed_object_rule},
};
static const struct field policy_data_fields[] = {
    {"dataKey", FIELD_TEXT,   .required = true, .max = POLICY_KEY_MAX},
    {"payload", FIELD_OBJECT, .required = true, .rule = managed_object_rule},
};
static const struct field manifest_fields[] = {
    {"manifestVersion", FIELD_INTEGER, .required = true, .min = 1, .max = 1,
     FIELD_INTO(struct raw_manifest, manifest_version)},
    {"id",           FIELD_TEXT,      .required = true, .max = MANAGED_NAME_MAX, .rule = id_rule,
     FIELD_INTO(struct raw_manifest, manifest.id)},
    {"name",         FIELD_TEXT,      .required = true, .max = MANAGED_WORD_MAX,
     .rule = field_rule_visible, FIELD_INTO(struct raw_manifest, manifest.name)},
    {"version",      FIELD_TEXT,      .required = true, .max = MANAGED_WORD_MAX,
     .rule = managed_word_rule, FIELD_INTO(struct raw_manifest, manifest.version)},
    {"category",     FIELD_TEXT,      .required = true, .max = MANAGED_WORD_MAX,
     .rule = managed_word_rule, FIELD_INTO(struct raw_manifest, manifest.category)},
    {"description",  FIELD_TEXT,      .max = MANAGED_TEXT_MAX, .rule = field_rule_visible,
     FIELD_INTO(struct raw_manifest, manifest.description)},
    {"docsUrl",      FIELD_TEXT,      .max = MANAGED_TEXT_MAX, .rule = docs_rule,
     FIELD_INTO(struct raw_manifest, manifest.docs_url)},
    {"resourceType", FIELD_TEXT,      .max = MANAGED_WORD_MAX, .rule = field_rule_visible,
     FIELD_INTO(struct raw_manifest, manifest.resource_type)},
    {"egress",       FIELD_TEXT_LIST, .max = EGRESS_MAX, .item_max = 300,
     .rule = field_rule_visible},
    {"settings",     FIELD_OBJECT,    FIELD_INTO(struct raw_manifest, manifest.settings)},
    {"scopes",       FIELD_ARRAY,     .max = SCOPES_MAX,
     FIELD_INTO(struct raw_manifest, manifest.scopes)},
    {"policyData",   FIELD_ARRAY,     .max = 1},
    {"resources",    FIELD_ARRAY,     .required = true, .min = 1, .max = 1,
     FIELD_INTO(struct raw_manifest, resources)},
};
/* clang-format on */

static void
managed_tell(struct manifest_reading *reading, const char *path, const char *why)
{
    reading->faulty = true;
    if (reading->fault != NULL)
        reading->fault(reading->fault_arg, path, why);
}

bool
manifest_is_write_only(const json_t *property)
{
    return json_is_true(json_object_get(property, "writeOnly"));
}

/* ---- variables */

const char *
manifest_setting_name(TALLOC_CTX *mem, const char *text)
{
    size_t length = strlen(text), begin = sizeof(MANIFEST_SETTINGS) - 1;
    if (strncmp(text, MANIFEST_SETTINGS, begin) != 0 || length < begin + 2
        || text[length - 1] != '}')
        return NULL;
    return talloc_strndup(mem, text + begin, length - begin - 1);
}

/* True if the path of a template is that of a secret. */
static bool
is_secret_place(TALLOC_CTX *mem, const char *path)
{
    for (size_t i = 0; i < MANAGED_SECRETS_MAX; i++) {
        const struct managed_secret_row *row = &managed_secret_rows[i];
        const char *place =
            talloc_asprintf(mem, "resources[0].upstreamAuth.%s%s%s", row->member,
                            row->inner != NULL ? "." : "", row->inner != NULL ? row->inner : "");
        if (place != NULL && strcmp(path, place) == 0)
            return true;
    }
    return false;
}

static void
check_text(struct manifest_reading *reading, const char *path, const char *text)
{
    const char *name = manifest_setting_name(reading->mem, text);
    const json_t *property = name != NULL ? json_object_get(reading->properties, name) : NULL;
    bool secret = is_secret_place(reading->mem, path);
    if (strstr(text, "${") != NULL && property == NULL && strcmp(text, MANIFEST_INPUT_NAME) != 0)
        managed_tell(reading, path, "has an unknown variable, or one that is not the whole text");
    else if (secret && !manifest_is_write_only(property))
        managed_tell(reading, path, "must be a setting with writeOnly");
    else if (!secret && manifest_is_write_only(property))
        managed_tell(reading, path, "shows a setting with writeOnly");
}

/* Check the texts of a value. Depth is that of the parser. */
static void
check_texts(struct manifest_reading *reading, const char *path, const json_t *value)
{
    const char *name;
    json_t *member;
    size_t index;
    if (path == NULL || strlen(path) > MANIFEST_PATH_SHOWN) {
        managed_tell(reading, "resources[0]",
                     "is nested too deeply, or has names that are too long");
        return;
    }
    if (json_is_string(value))
        check_text(reading, path, json_string_value(value));
    json_object_foreach ((json_t *) (uintptr_t) value, name, member)
        check_texts(reading, talloc_asprintf(reading->mem, "%s.%s", path, name), member);
    json_array_foreach (value, index, member)
        check_texts(reading, talloc_asprintf(reading->mem, "%s[%zu]", path, index), member);
}

/* ---- reading */

/* Faults of an object below a path. */
struct fault_below {
    struct manifest_reading *reading;
    const char *path;
};

static void
tell_below(void *arg, const char *path, const char *why)
{
    struct fault_below *below = arg;
    managed_tell(below->reading,
                 field_fault_text(below->reading->mem, "%s%s%s", below->path,
                                  *path != '\0' ? "." : "", path),
                 why);
}

static bool
read_below(struct manifest_reading *reading, const char *path, const struct field_table *table,
           const json_t *object)
{
    struct fault_below below = {reading, path};
    return fields_read(reading->mem, table, object, tell_below, &below, NULL, NULL) == AZ_OK;
}

static void
managed_check_settings(struct manifest_reading *reading, const json_t *settings)
{
    const json_t *name, *property;
    size_t index;
    if (settings == NULL || !read_below(reading, "settings", FIELDS(settings_fields, 0), settings))
        return;
    reading->properties = json_object_get(settings, "properties");
    json_array_foreach (json_object_get(settings, "required"), index, name)
        if (json_object_get(reading->properties, json_string_value(name)) == NULL)
            managed_tell(reading, "settings.required", "names a setting that does not exist");
    void *at = json_object_iter((json_t *) (uintptr_t) reading->properties);
    for (; at != NULL; at = json_object_iter_next((json_t *) (uintptr_t) reading->properties, at)) {
        property = json_object_iter_value(at);
        const json_t *flag = json_object_get(property, "writeOnly");
        if (!json_is_object(property) || (flag != NULL && !json_is_boolean(flag)))
            managed_tell(reading, "settings.properties",
                         "must have objects, whose writeOnly is a boolean");
        else if (manifest_is_write_only(property) && json_object_get(property, "default") != NULL)
            managed_tell(reading, "settings.properties", "must not have a default for a secret");
    }
}

static void
check_scopes(struct manifest_reading *reading, const json_t *scopes)
{
    json_t *scope;
    size_t index;
    json_array_foreach (scopes, index, scope)
        read_below(reading, field_fault_text(reading->mem, "scopes[%zu]", index),
                   FIELDS(scope_fields, 0), scope);
}

/* Check the policy data. A connector has one row, under its own key, so it can never write data
 * about anything else. */
static void
check_policy(struct manifest_reading *reading, const json_t *document, const char *id)
{
    const json_t *row = json_array_get(json_object_get(document, "policyData"), 0);
    const char *key = managed_manifest_key(reading->mem, id);
    if (row == NULL || !read_below(reading, "policyData[0]", FIELDS(policy_data_fields, 0), row))
        return;
    if (key == NULL || strcmp(json_string_value(json_object_get(row, "dataKey")), key) != 0)
        managed_tell(reading, "policyData[0].dataKey", "must be svc.connectors. and the id");
}

/* Check where routes and tools come from, if that is not the template. */
static void
check_import(struct manifest_reading *reading, const json_t *resource)
{
    const json_t *import = json_object_get(resource, "import");
    if (import == NULL)
        return;
    read_below(reading, "resources[0].import", &managed_import_table, import);
    if (json_object_get(resource, "routes") != NULL || json_object_get(resource, "tools") != NULL)
        managed_tell(reading, "resources[0].import", "cannot be combined with routes or tools");
}

static void
tell_plain(void *arg, const char *path, const char *why)
{
    managed_tell(arg, path, why);
}

enum az_status
managed_manifest_read(TALLOC_CTX *mem, const json_t *document, field_fault_fn *fault,
                      void *fault_arg, struct managed_manifest *ret)
{
    struct raw_manifest raw = {.manifest = {.document = document}};
    struct manifest_reading reading = {.mem = mem, .fault = fault, .fault_arg = fault_arg};
    enum az_status st =
        fields_read(mem, FIELDS(manifest_fields, 0), document, tell_plain, &reading, &raw, NULL);
    if (st != AZ_OK)
        return st;
    raw.manifest.resource = json_array_get(raw.resources, 0);
    managed_check_settings(&reading, raw.manifest.settings);
    check_scopes(&reading, raw.manifest.scopes);
    check_policy(&reading, document, raw.manifest.id);
    if (!json_is_object(raw.manifest.resource))
        managed_tell(&reading, "resources[0]", "must be an object");
    check_import(&reading, raw.manifest.resource);
    if (!reading.faulty)
        check_texts(&reading, "resources[0]", raw.manifest.resource);
    if (reading.faulty)
        return AZ_INVALID;
    *ret = raw.manifest;
    return AZ_OK;
}

const char *
managed_manifest_key(TALLOC_CTX *mem, const char *id)
{
    return talloc_asprintf(mem, "svc.connectors.%s", id);
}

const json_t *
managed_manifest_policy(const json_t *document)
{
    return json_object_get(json_array_get(json_object_get(document, "policyData"), 0), "payload");
}
