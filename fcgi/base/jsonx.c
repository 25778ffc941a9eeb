#include "config.h"

#include "base/jsonx.h"

#include <string.h>

#include "base/utf8.h"

struct owned_json {
    json_t *value;
};

static int
owned_json_free(struct owned_json *owned)
{
    json_decref(owned->value);
    return 0;
}

json_t *
jsonx_own(TALLOC_CTX *mem, json_t *value)
{
    if (value == NULL)
        return NULL;
    struct owned_json *owned = talloc(mem, struct owned_json);
    if (owned == NULL) {
        json_decref(value);
        return NULL;
    }
    owned->value = value;
    talloc_set_destructor(owned, owned_json_free);
    return value;
}

/* The range rule of struct jsonx_field for things that are counted. */
static const char *
count_fault(size_t count, const struct jsonx_field *field, const char *few, const char *many)
{
    if (field->min > 0 && count < (uint64_t) field->min)
        return few;
    if (field->max > 0 && count > (uint64_t) field->max)
        return many;
    return NULL;
}

static const char *
text_fault(const json_t *value, const struct jsonx_field *field)
{
    if (!json_is_string(value))
        return "must be a string";
    size_t length = utf8_length(json_string_value(value), json_string_length(value));
    return count_fault(length, field, length == 0 ? "must not be empty" : "is too short",
                       "is too long");
}

static const char *
integer_fault(const json_t *value, const struct jsonx_field *field)
{
    if (!json_is_integer(value))
        return "must be an integer";
    if (field->min == 0 && field->max == 0)
        return NULL;
    if (json_integer_value(value) < field->min)
        return "is too small";
    if (json_integer_value(value) > field->max)
        return "is too large";
    return NULL;
}

static const char *
array_fault(const json_t *value, const struct jsonx_field *field)
{
    size_t i;
    json_t *item;

    if (!json_is_array(value))
        return field->type == JSONX_ARRAY ? "must be an array" : "must be an array of strings";
    if (field->type == JSONX_TEXT_ARRAY) {
        json_array_foreach (value, i, item) {
            if (!json_is_string(item))
                return "must be an array of strings";
            size_t length = utf8_length(json_string_value(item), json_string_length(item));
            if (field->item_max > 0 && length > field->item_max)
                return "has an item that is too long";
        }
    }
    return count_fault(json_array_size(value), field,
                       json_array_size(value) == 0 ? "must not be empty" : "has too few items",
                       "has too many items");
}

/* Why value does not fit its row, or NULL. */
static const char *
value_fault(const json_t *value, const struct jsonx_field *field)
{
    switch (field->type) {
    case JSONX_TEXT:
        return text_fault(value, field);
    case JSONX_INTEGER:
        return integer_fault(value, field);
    case JSONX_BOOLEAN:
        return json_is_boolean(value) ? NULL : "must be true or false";
    case JSONX_OBJECT:
        return json_is_object(value) ? NULL : "must be an object";
    case JSONX_ARRAY:
    case JSONX_TEXT_ARRAY:
        return array_fault(value, field);
    case JSONX_ANY:
        return NULL;
    }
    return "has an unknown type";
}

/* Puts a value that fits its row where the row says. memcpy: the target's type is the row's word.
 */
static void
store_value(const json_t *value, const struct jsonx_field *field, char *target)
{
    const char *text = json_string_value(value);
    int64_t integer = json_integer_value(value);
    bool boolean = json_is_true(value);

    switch (field->type) {
    case JSONX_TEXT:
        memcpy(target + field->offset, &text, sizeof(text));
        break;
    case JSONX_INTEGER:
        memcpy(target + field->offset, &integer, sizeof(integer));
        break;
    case JSONX_BOOLEAN:
        memcpy(target + field->offset, &boolean, sizeof(boolean));
        break;
    default:
        memcpy(target + field->offset, &value, sizeof(value));
        break;
    }
}

struct reading {
    unsigned flags;
    char *target;
    jsonx_fault_fn *fault;
    void *fault_arg;
    enum az_status status;
};

static void
tell_fault(struct reading *reading, const char *name, const char *why)
{
    reading->status = AZ_INVALID;
    if (reading->fault != NULL)
        reading->fault(reading->fault_arg, name, why);
}

static void
read_field(struct reading *reading, const json_t *object, const struct jsonx_field *field)
{
    const json_t *value = json_object_get(object, field->name);
    bool is_null = json_is_null(value) && field->type != JSONX_ANY;

    if (is_null && reading->flags & JSONX_REFUSE_NULL) {
        tell_fault(reading, field->name, "must not be null");
        return;
    }
    if (value == NULL || is_null) {
        if (field->required)
            tell_fault(reading, field->name, "is required");
        return;
    }
    const char *why = value_fault(value, field);
    if (why != NULL)
        tell_fault(reading, field->name, why);
    else
        store_value(value, field, reading->target);
}

static bool
is_known(const char *name, const struct jsonx_field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, fields[i].name) == 0)
            return true;
    return false;
}

enum az_status
jsonx_read(const json_t *object, const struct jsonx_field *fields, size_t count, unsigned flags,
           void *target, jsonx_fault_fn *fault, void *fault_arg)
{
    struct reading reading = {flags, target, fault, fault_arg, AZ_OK};

    if (!json_is_object(object)) {
        tell_fault(&reading, "", "must be an object");
        return reading.status;
    }
    for (size_t i = 0; i < count; i++)
        read_field(&reading, object, &fields[i]);
    if (flags & JSONX_REFUSE_UNKNOWN) {
        const char *name;
        json_t *value;
        json_object_foreach ((json_t *) (uintptr_t) object, name, value) {
            if (!is_known(name, fields, count))
                tell_fault(&reading, name, "is not known");
        }
    }
    return reading.status;
}
