#include "config.h"

#include "base/json/fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "base/utf8.h"
#include "base/words.h"

/* Longest path of a field with its index, in octets. Names stand in our tables and are shorter. */
#define FIELD_PATH_SIZE 96

/* Beginning of the text for an unknown field. */
#define FIELDS_UNKNOWN "is not a field of this object"

/* State of one reading. */
struct fields_reading {
    TALLOC_CTX *mem; /* for texts that rules make */
    const struct field_table *table;
    field_fault_fn *fault; /* or NULL */
    void *fault_arg;
    char *target;     /* struct that is read into, or NULL */
    json_t *columns;  /* values by column, or NULL */
    size_t faults;    /* reported so far */
    bool memory_lost; /* a column could not be stored */
};

static void
fields_tell(struct fields_reading *reading, const char *path, const char *why)
{
    reading->faults++;
    if (reading->fault != NULL)
        reading->fault(reading->fault_arg, path, why);
}

/* True if number is from min to max. Otherwise the fault is reported: "must have at most 3
 * items". */
static bool
fields_check_range(struct fields_reading *reading, const char *path, int64_t number, int64_t min,
                   int64_t max, const char *verb, const char *unit)
{
    char why[64];
    bool low = number < min;
    int64_t limit = low ? min : max;
    if (!low && number <= max)
        return true;
    snprintf(why, sizeof(why), "must %s at %s %" PRId64 "%s%s", verb, low ? "least" : "most", limit,
             unit, *unit != '\0' && limit != 1 ? "s" : "");
    fields_tell(reading, path, why);
    return false;
}

static int64_t
fields_limit(int64_t max)
{
    return max > 0 ? max : INT64_MAX;
}

static void
fields_check_rule(struct fields_reading *reading, const struct field *field, const char *path,
                  const json_t *value)
{
    const char *why = field->rule != NULL ? field->rule(reading->mem, value) : NULL;
    if (why != NULL)
        fields_tell(reading, path, why);
}

/* Tell the fault of a text outside the words of its row: "must be confidential or public". */
static bool
fields_check_words(struct fields_reading *reading, const struct field *field, const char *path,
                   const json_t *value)
{
    if (field->words == NULL || words_has(field->words, json_string_value(value)))
        return true;
    char *why = talloc_strdup(reading->mem, "must be ");
    for (const char *const *word = field->words; *word != NULL; word++) {
        const char *before = word == field->words ? "" : word[1] != NULL ? ", " : " or ";
        why = talloc_asprintf_append(why, "%s%s", before, *word);
    }
    fields_tell(reading, path, why != NULL ? why : "is not a known value");
    return false;
}

static void
fields_check_text(struct fields_reading *reading, const struct field *field, const char *path,
                  const json_t *value, int64_t min, int64_t max)
{
    size_t length = utf8_length(json_string_value(value), json_string_length(value));
    if (length == 0 && !field->may_be_empty)
        fields_tell(reading, path, "must not be empty");
    else if (fields_check_range(reading, path, (int64_t) length, min, fields_limit(max), "have",
                                " character")
             && length > 0 && fields_check_words(reading, field, path, value))
        fields_check_rule(reading, field, path, value);
}

static void
fields_check_integer(struct fields_reading *reading, const struct field *field, const json_t *value)
{
    if (field->min != 0 || field->max != 0)
        fields_check_range(reading, field->name, json_integer_value(value), field->min, field->max,
                           "be", "");
}

/* Check an array, then its items. The items of an array that is too long are not checked. */
static void
fields_check_array(struct fields_reading *reading, const struct field *field, const json_t *value)
{
    size_t index;
    const json_t *item;
    if (!fields_check_range(reading, field->name, (int64_t) json_array_size(value), field->min,
                            fields_limit(field->max), "have", " item")
        || field->kind != FIELD_TEXT_LIST)
        return;
    json_array_foreach (value, index, item) {
        char path[FIELD_PATH_SIZE];
        snprintf(path, sizeof(path), "%s[%zu]", field->name, index);
        if (json_is_string(item))
            fields_check_text(reading, field, path, item, 0, (int64_t) field->item_max);
        else
            fields_tell(reading, path, "must be a string");
    }
}

/* Return the fault of a value of another kind; NULL: the kind fits. */
static const char *
fields_kind_fault(enum field_kind kind, const json_t *value)
{
    switch (kind) {
    case FIELD_TEXT:
        return json_is_string(value) ? NULL : "must be a string";
    case FIELD_INTEGER:
        return json_is_integer(value) ? NULL : "must be an integer";
    case FIELD_BOOLEAN:
        return json_is_boolean(value) ? NULL : "must be true or false";
    case FIELD_OBJECT:
        return json_is_object(value) ? NULL : "must be an object";
    case FIELD_ARRAY:
        return json_is_array(value) ? NULL : "must be an array";
    case FIELD_TEXT_LIST:
        return json_is_array(value) ? NULL : "must be an array of strings";
    case FIELD_ANY:
    case FIELD_READ_ONLY:
        return NULL;
    }
    return "has an unknown type";
}

static void
fields_check_value(struct fields_reading *reading, const struct field *field, const json_t *value)
{
    const char *why = fields_kind_fault(field->kind, value);
    if (why != NULL) {
        fields_tell(reading, field->name, why);
        return;
    }
    switch (field->kind) {
    case FIELD_TEXT:
        fields_check_text(reading, field, field->name, value, field->min, field->max);
        break;
    case FIELD_READ_ONLY:
        if (json_string_length(value) > 0)
            fields_check_text(reading, field, field->name, value, 0, field->max);
        break;
    case FIELD_INTEGER:
        fields_check_integer(reading, field, value);
        break;
    case FIELD_ARRAY:
    case FIELD_TEXT_LIST:
        fields_check_array(reading, field, value);
        break;
    case FIELD_OBJECT:
        fields_check_rule(reading, field, field->name, value);
        break;
    default:
        break;
    }
}

/* Put a value that fits its row into the struct. */
static void
fields_store(struct fields_reading *reading, const struct field *field, json_t *value)
{
    void *at = reading->target + field->offset;
    switch (field->target) {
    case FIELD_TO_TEXT:
        *(const char **) at = json_string_value(value);
        break;
    case FIELD_TO_NUMBER:
        *(int64_t *) at = json_integer_value(value);
        break;
    case FIELD_TO_TRUTH:
        *(bool *) at = json_is_true(value);
        break;
    case FIELD_TO_JSON:
        *(json_t **) at = value;
        break;
    case FIELD_NOWHERE:
        break;
    }
}

static bool
fields_is_absent(const struct fields_reading *reading, const struct field *field,
                 const json_t *value)
{
    return value == NULL || (json_is_null(value) && field->kind != FIELD_ANY)
           || (reading->table->flags & FIELDS_EMPTY_IS_ABSENT && field->kind == FIELD_TEXT
               && json_is_string(value) && json_string_length(value) == 0);
}

static void
fields_read_one(struct fields_reading *reading, const struct field *field, json_t *value)
{
    size_t faults = reading->faults;
    if (fields_is_absent(reading, field, value)) {
        if (field->required)
            fields_tell(reading, field->name, "is required");
        return;
    }
    fields_check_value(reading, field, value);
    if (reading->faults > faults)
        return;
    if (reading->target != NULL)
        fields_store(reading, field, value);
    if (reading->columns != NULL && field->column != NULL
        && json_object_set(reading->columns, field->column, value) != 0)
        reading->memory_lost = true;
}

static bool
fields_is_known(const struct field_table *table, const char *name)
{
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->row[i].name, name) == 0)
            return true;
    return false;
}

/* Return the text for the first unknown field, with the fields that can be set. The others are told
 * without: an answer that repeats the list for each of thousands would be too large. */
static const char *
fields_unknown_text(const struct fields_reading *reading)
{
    const char *before = "; the fields are ";
    char *text = talloc_strdup(reading->mem, FIELDS_UNKNOWN);
    for (size_t i = 0; i < reading->table->count; i++) {
        const struct field *field = &reading->table->row[i];
        if (text == NULL || field->kind == FIELD_READ_ONLY)
            continue;
        text = talloc_asprintf_append_buffer(text, "%s%s", before, field->name);
        before = ", ";
    }
    return text != NULL ? text : FIELDS_UNKNOWN;
}

static void
fields_refuse_unknown(struct fields_reading *reading, const json_t *object)
{
    const char *name;
    json_t *value;
    bool listed = false;
    json_object_foreach ((json_t *) (uintptr_t) object, name, value) {
        if (fields_is_known(reading->table, name))
            continue;
        fields_tell(reading, name, listed ? FIELDS_UNKNOWN : fields_unknown_text(reading));
        listed = true;
    }
}

enum az_status
fields_read(TALLOC_CTX *mem, const struct field_table *table, const json_t *object,
            field_fault_fn *fault, void *fault_arg, void *target, json_t **ret_columns)
{
    struct fields_reading reading = {
        .mem = mem, .table = table, .fault = fault, .fault_arg = fault_arg, .target = target};
    if (!json_is_object(object)) {
        fields_tell(&reading, "", "must be an object");
        return AZ_INVALID;
    }
    if (ret_columns != NULL && (reading.columns = jsonx_own(mem, json_object())) == NULL)
        return AZ_SERVER_ERROR;
    for (size_t i = 0; i < table->count; i++)
        fields_read_one(&reading, &table->row[i], json_object_get(object, table->row[i].name));
    if (!(table->flags & FIELDS_IGNORE_UNKNOWN))
        fields_refuse_unknown(&reading, object);
    if (reading.memory_lost)
        return AZ_SERVER_ERROR;
    if (reading.faults > 0)
        return AZ_INVALID;
    if (ret_columns != NULL)
        *ret_columns = reading.columns;
    return AZ_OK;
}
