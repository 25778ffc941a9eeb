#include "config.h"

#include "http/api/api_schema.h"

#include <string.h>

#include "base/words.h"

/* Set a limit of a schema, unless it is 0. */
static void
schema_set_limit(struct jsonx_build *schema, const char *name, int64_t limit)
{
    if (limit > 0)
        jsonx_set(schema, name, json_integer((json_int_t) limit));
}

/* Return the schema of a text, or of one item of a list of texts. */
static json_t *
schema_of_text(const struct field *field, int64_t min, int64_t max)
{
    struct jsonx_build schema = {json_pack("{s:s}", "type", "string"), false};
    schema_set_limit(&schema, "minLength", field->may_be_empty ? min : min > 1 ? min : 1);
    schema_set_limit(&schema, "maxLength", max);
    if (field->words != NULL)
        jsonx_set(&schema, "enum", words_array(field->words));
    if (schema.lost)
        json_decref(schema.value);
    return jsonx_built(&schema);
}

static json_t *
schema_of_integer(const struct field *field)
{
    struct jsonx_build schema = {json_pack("{s:s,s:s}", "type", "integer", "format", "int64"),
                                 false};
    if (field->min != 0 || field->max != 0)
        jsonx_set(&schema, "minimum", json_integer((json_int_t) field->min));
    if (field->max != 0 && field->max != INT64_MAX)
        jsonx_set(&schema, "maximum", json_integer((json_int_t) field->max));
    if (schema.lost)
        json_decref(schema.value);
    return jsonx_built(&schema);
}

/* Return the schema of an array whose items have the schema `items`, whose reference is taken. */
static json_t *
schema_of_array(const struct field *field, json_t *items)
{
    struct jsonx_build schema = {json_pack("{s:s}", "type", "array"), false};
    jsonx_set(&schema, "items", items);
    schema_set_limit(&schema, "minItems", field->min);
    schema_set_limit(&schema, "maxItems", field->max);
    if (schema.lost)
        json_decref(schema.value);
    return jsonx_built(&schema);
}

/* Return the schema of a value of this kind. */
static json_t *
schema_of_kind(struct jsonx_build *schemas, const struct field *field, enum field_kind kind)
{
    switch (kind) {
    case FIELD_TEXT:
        return schema_of_text(field, field->min, field->max);
    case FIELD_INTEGER:
        return schema_of_integer(field);
    case FIELD_BOOLEAN:
        return json_pack("{s:s}", "type", "boolean");
    case FIELD_OBJECT:
        return field->shape != NULL ? schema_of_table(schemas, field->shape)
                                    : json_pack("{s:s}", "type", "object");
    case FIELD_ARRAY:
        return schema_of_array(field, field->shape != NULL ? schema_of_table(schemas, field->shape)
                                                           : json_object());
    case FIELD_TEXT_LIST:
        return schema_of_array(field, schema_of_text(field, 0, (int64_t) field->item_max));
    default:
        return json_object();
    }
}

/* A member that may be left out may be null too: the reader takes null for absent. */
static void
schema_allow_null(struct jsonx_build *schema)
{
    const json_t *type = json_object_get(schema->value, "type");
    json_t *words = json_object_get(schema->value, "enum");
    json_t *ref = json_object_get(schema->value, "$ref");
    if (ref != NULL) {
        jsonx_set(schema, "anyOf", json_pack("[{s:O},{s:s}]", "$ref", ref, "type", "null"));
        json_object_del(schema->value, "$ref");
    }
    if (type != NULL)
        jsonx_set(schema, "type", json_pack("[s,s]", json_string_value(type), "null"));
    if (words != NULL && json_array_append_new(words, json_null()) != 0)
        schema->lost = true;
}

static json_t *
schema_of_field(struct jsonx_build *schemas, const struct field_table *table,
                const struct field *field)
{
    bool read_only = field->kind == FIELD_READ_ONLY;
    struct jsonx_build schema = {
        schema_of_kind(schemas, field, read_only ? field->shown : field->kind), false};
    if (read_only)
        jsonx_set(&schema, "readOnly", json_true());
    else if (!field->required && (table->flags & FIELDS_ANSWER) == 0)
        schema_allow_null(&schema);
    if (field->secret && field->kind == FIELD_ANY) /* an answer has {set, updatedAt} in its place */
        jsonx_set(&schema, "format", json_string("password"));
    else if (field->secret)
        jsonx_set(&schema, "writeOnly", json_true());
    if (field->absent_is_true)
        jsonx_set(&schema, "default", json_true());
    if (field->help != NULL)
        jsonx_set(&schema, "description", json_string(field->help));
    if (field->example != NULL)
        jsonx_set(&schema, "examples",
                  json_pack("[o]", json_loads(field->example, JSON_DECODE_ANY, NULL)));
    if (schema.lost)
        json_decref(schema.value);
    return jsonx_built(&schema);
}

/* Return the schema of the object, in place. */
static json_t *
schema_of_object(struct jsonx_build *schemas, const struct field_table *table)
{
    bool open = (table->flags & FIELDS_IGNORE_UNKNOWN) != 0;
    struct jsonx_build members = {json_object(), false}, required = {json_array(), false};
    for (size_t i = 0; i < table->count; i++) {
        const struct field *field = &table->row[i];
        jsonx_set(&members, field->name, schema_of_field(schemas, table, field));
        if (field->required)
            jsonx_append(&required, json_string(field->name));
    }
    bool lost = members.lost || required.lost, any = json_array_size(required.value) > 0;
    json_t *schema =
        json_pack("{s:s,s:o,s:o*,s:b}", "type", "object", "properties", members.value, "required",
                  any ? required.value : NULL, "additionalProperties", open);
    if (!any)
        json_decref(required.value);
    if (lost) {
        json_decref(schema);
        return NULL;
    }
    return schema;
}

json_t *
schema_of_table(struct jsonx_build *schemas, const struct field_table *table)
{
    if (table->name == NULL)
        return schema_of_object(schemas, table);
    if (json_object_get(schemas->value, table->name) == NULL) {
        jsonx_set(schemas, table->name, json_object()); /* a table may contain itself */
        jsonx_set(schemas, table->name, schema_of_object(schemas, table));
    }
    return json_pack("{s:o}", "$ref", json_sprintf("#/components/schemas/%s", table->name));
}

/* Return the example of a row: its own, or that of its members, or NULL. */
static json_t *
example_of_field(const struct field *field)
{
    if (field->kind == FIELD_READ_ONLY)
        return NULL;
    if (field->example != NULL)
        return json_loads(field->example, JSON_DECODE_ANY, NULL);
    json_t *inner = field->shape != NULL ? schema_example(field->shape) : NULL;
    return inner != NULL && field->kind == FIELD_ARRAY ? json_pack("[o]", inner) : inner;
}

json_t *
schema_example(const struct field_table *table)
{
    struct jsonx_build example = {json_object(), false};
    for (size_t i = 0; i < table->count; i++) {
        json_t *value = example_of_field(&table->row[i]);
        if (value != NULL)
            jsonx_set(&example, table->row[i].name, value);
        else if (table->row[i].example != NULL && table->row[i].kind != FIELD_READ_ONLY)
            example.lost = true;
    }
    if (example.lost || json_object_size(example.value) == 0) {
        json_decref(example.value);
        return NULL;
    }
    return example.value;
}
