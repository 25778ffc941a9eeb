#include "config.h"

#include "policy/catalogue/control_settings.h"

#include "base/buf.h"
#include "base/json/schema/json_schema.h"
#include "base/json/schema/schema_failures.h"
#include "base/words.h"

/* Octets of a path. The longest that is shipped has 60. */
#define PATH_MAX_OCTETS 1024

/* The walk over one schema. */
struct settings_walk {
    struct op *op;
    const struct control_row *row;
    json_t *settings; /* found so far */
};

static enum az_status add_inner(struct settings_walk *walk, const char *path, const json_t *schema);

static enum az_status
settings_fail(const struct settings_walk *walk, const char *path, const char *why)
{
    return op_fail(walk->op, AZ_SERVER_ERROR, NULL, "SVC_DATA_DIR: the schema of %s: %s: %s",
                   walk->row->key, path, why);
}

/* Return the path with one more reference token (RFC 6901 section 3). NULL: too long. */
static const char *
join_path(const struct settings_walk *walk, const char *path, const char *name)
{
    struct buf joined;
    buf_init(&joined, walk->op->mem, PATH_MAX_OCTETS);
    buf_append_text(&joined, path);
    schema_append_token(&joined, name);
    return buf_take(&joined, NULL);
}

static json_t *
borrowed(json_t *value)
{
    return value != NULL ? json_incref(value) : json_null();
}

/* Add one setting and the settings inside it. */
static enum az_status
add_setting(struct settings_walk *walk, const char *path, const json_t *reference, bool required)
{
    const json_t *schema = schema_follow(walk->row->schema, reference);
    json_t *type = json_object_get(schema, "type"), *text = json_object_get(schema, "description");
    if (path == NULL)
        return settings_fail(walk, "", "a path is too long");
    if (type == NULL || json_string_length(text) == 0)
        return settings_fail(walk, path, "has no type or no description");
    const char *name = talloc_asprintf(walk->op->mem, "%s#%s", walk->row->key, path);
    json_t *setting = json_pack("{s:O,s:o,s:O,s:s,s:b}", "type", type, "default",
                                borrowed(json_object_get(schema, "default")), "description", text,
                                "control", walk->row->control, "required", required);
    if (name == NULL || json_object_set_new(walk->settings, name, setting) != 0)
        return settings_fail(walk, path, "out of memory");
    return add_inner(walk, path, schema);
}

static enum az_status
add_members(struct settings_walk *walk, const char *path, const json_t *schema)
{
    enum az_status st = AZ_OK;
    const char *name;
    const json_t *required = json_object_get(schema, "required");
    json_t *member;
    json_object_foreach (json_object_get(schema, "properties"), name, member)
        if (st == AZ_OK)
            st = add_setting(walk, join_path(walk, path, name), member,
                             words_array_has(required, name));
    return st;
}

/* Add the entries of a map: they share one schema, and the operator chooses their keys. */
static enum az_status
add_entries(struct settings_walk *walk, const char *path, const json_t *schema)
{
    const json_t *entry = json_object_get(schema, "additionalProperties");
    const char *key = json_string_value(json_object_get(schema, "x-key"));
    if (!json_is_object(entry))
        return AZ_OK;
    if (key == NULL)
        return settings_fail(walk, path, "has no x-key");
    const char *word = talloc_asprintf(walk->op->mem, "{%s}", key);
    return add_setting(walk, word != NULL ? join_path(walk, path, word) : NULL, entry, false);
}

static enum az_status
add_items(struct settings_walk *walk, const char *path, const json_t *schema)
{
    const json_t *items = json_object_get(schema, "items");
    const char *inner = items != NULL ? join_path(walk, path, "{index}") : NULL;
    if (items == NULL)
        return AZ_OK;
    return inner != NULL ? add_inner(walk, inner, items)
                         : settings_fail(walk, path, "a path in it is too long");
}

/* Add the settings inside a value. */
static enum az_status
add_inner(struct settings_walk *walk, const char *path, const json_t *reference)
{
    const json_t *schema = schema_follow(walk->row->schema, reference), *branch;
    size_t index;
    enum az_status st = add_members(walk, path, schema);
    if (st == AZ_OK)
        st = add_entries(walk, path, schema);
    if (st == AZ_OK)
        st = add_items(walk, path, schema);
    json_array_foreach (json_object_get(schema, "anyOf"), index, branch)
        if (st == AZ_OK)
            st = add_inner(walk, path, branch);
    return st;
}

enum az_status
control_settings_add(struct op *op, const struct control_row *row, json_t *settings)
{
    struct settings_walk walk = {op, row, settings};
    const char *why = schema_fault(op->mem, row->schema);
    if (why != NULL)
        return settings_fail(&walk, "", why);
    return add_inner(&walk, "", row->schema);
}
