#include "config.h"

#include "base/fields.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/jsonx.h"
#include "base/utf8.h"

/* What one reading carries along. */
struct reading {
    TALLOC_CTX *mem;       /* for texts that rules make */
    field_fault_fn *fault; /* told of each fault */
    void *fault_arg;       /* for it */
    bool faulty;           /* there was one */
};

static void
tell(struct reading *reading, const char *path, const char *why)
{
    reading->faulty = true;
    reading->fault(reading->fault_arg, path, why);
}

static void
check_text(struct reading *reading, const struct field *field, const char *path,
           const json_t *value)
{
    char text[64];
    size_t length = utf8_length(json_string_value(value), json_string_length(value));
    if (length == 0) {
        tell(reading, path, "must not be empty");
    } else if (field->max > 0 && length > field->max) {
        snprintf(text, sizeof(text), "must have at most %zu characters", field->max);
        tell(reading, path, text);
    } else if (field->rule != NULL) {
        const char *why = field->rule(reading->mem, value);
        if (why != NULL)
            tell(reading, path, why);
    }
}

static void
check_text_list(struct reading *reading, const struct field *field, const json_t *value)
{
    size_t index;
    const json_t *item;
    json_array_foreach (value, index, item) {
        char path[96];
        snprintf(path, sizeof(path), "%s[%zu]", field->name, index);
        if (json_is_string(item))
            check_text(reading, field, path, item);
        else
            tell(reading, path, "must be a string");
    }
}

/* What a value of another kind is told; NULL: the kind fits. */
static const char *
kind_fault(enum field_kind kind, const json_t *value)
{
    switch (kind) {
    case FIELD_TEXT:
        return json_is_string(value) ? NULL : "must be a string";
    case FIELD_BOOLEAN:
        return json_is_boolean(value) ? NULL : "must be true or false";
    case FIELD_TEXT_LIST:
        return json_is_array(value) ? NULL : "must be an array of strings";
    case FIELD_OBJECT:
        return json_is_object(value) ? NULL : "must be an object";
    case FIELD_READ_ONLY:
        return NULL;
    case FIELD_UNSUPPORTED:
        return "is not supported yet";
    }
    return "has an unknown kind";
}

static void
check_value(struct reading *reading, const struct field *field, const json_t *value)
{
    const char *why = kind_fault(field->kind, value);
    if (why == NULL && field->kind == FIELD_OBJECT && field->rule != NULL)
        why = field->rule(reading->mem, value);
    if (why != NULL)
        tell(reading, field->name, why);
    else if (field->kind == FIELD_TEXT
             || (field->kind == FIELD_READ_ONLY && field->max > 0 && json_string_length(value) > 0))
        check_text(reading, field, field->name, value);
    else if (field->kind == FIELD_TEXT_LIST)
        check_text_list(reading, field, value);
}

static bool
is_known(const struct field *table, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(table[i].name, name) == 0)
            return true;
    return false;
}

static void
tell_unknown(struct reading *reading, const struct field *table, size_t count, const json_t *object)
{
    const char *name;
    json_t *value;
    json_object_foreach ((json_t *) (uintptr_t) object, name, value)
        if (!is_known(table, count, name))
            tell(reading, name, "is not a field of this object");
}

enum az_status
fields_read(TALLOC_CTX *mem, const struct field *table, size_t count, const json_t *object,
            field_fault_fn *fault, void *fault_arg, json_t **ret_columns)
{
    struct reading reading = {mem, fault, fault_arg, false};
    json_t *columns = jsonx_own(mem, json_object());
    if (columns == NULL)
        return AZ_SERVER_ERROR;
    for (size_t i = 0; i < count; i++) {
        json_t *value = json_object_get(object, table[i].name);
        if (value == NULL || json_is_null(value)) {
            if (table[i].required)
                tell(&reading, table[i].name, "is required");
            continue;
        }
        check_value(&reading, &table[i], value);
        if (table[i].column != NULL && json_object_set(columns, table[i].column, value) != 0)
            return AZ_SERVER_ERROR;
    }
    tell_unknown(&reading, table, count, object);
    if (reading.faulty)
        return AZ_INVALID;
    *ret_columns = columns;
    return AZ_OK;
}
