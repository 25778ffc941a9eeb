#include "config.h"

#include "base/json/schema/schema_keywords.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/schema/schema_format.h"
#include "base/json/schema/schema_value.h"
#include "base/utf8.h"

static size_t
limit_of(const json_t *rule)
{
    return (size_t) json_integer_value(rule);
}

/* ---- type ---- */

#define BIT(type) (1U << (type))
#define ANY (BIT(JSON_NULL + 1) - 1)
#define NUMBERS (BIT(JSON_INTEGER) | BIT(JSON_REAL))

static const struct schema_type {
    const char *name;    /* in a schema */
    const char *article; /* in a message */
    unsigned bits;       /* json_types */
} types[] = {
    {"object",  "an object",     BIT(JSON_OBJECT)                },
    {"array",   "an array",      BIT(JSON_ARRAY)                 },
    {"string",  "a string",      BIT(JSON_STRING)                },
    {"integer", "an integer",    BIT(JSON_INTEGER)               },
    {"number",  "a number",      NUMBERS                         },
    {"boolean", "true or false", BIT(JSON_TRUE) | BIT(JSON_FALSE)},
    {"null",    "null",          BIT(JSON_NULL)                  },
    {NULL,      "nothing",       0                               }, /* any other name: no value has it */
};

/* Return the row of a type; for an unknown name the last one. */
static const struct schema_type *
find_type(const json_t *name)
{
    const struct schema_type *type = types;
    while (type->name != NULL
           && (!json_is_string(name) || strcmp(type->name, json_string_value(name)) != 0))
        type++;
    return type;
}

/* Return the nth name of a `type`, which is one name or an array of them; NULL after the last. */
static const json_t *
type_name(const json_t *rule, size_t index)
{
    return json_is_array(rule) ? json_array_get(rule, index) : index == 0 ? rule : NULL;
}

bool
schema_type_admits(const json_t *rule, const json_t *value)
{
    const json_t *name;
    for (size_t i = 0; (name = type_name(rule, i)) != NULL; i++)
        if (find_type(name)->bits & BIT(json_typeof(value)))
            return true;
    return false;
}

static const char *
fault_type(const json_t *rule)
{
    const json_t *name;
    for (size_t i = 0; (name = type_name(rule, i)) != NULL; i++)
        if (find_type(name)->name == NULL)
            return "not a type";
    return type_name(rule, 0) != NULL ? NULL : "no type";
}

static void
check_type_keyword(struct schema_failures *failures, const struct schema_site *site,
                   const json_t *rule)
{
    char *message = talloc_strdup(failures->mem, "must be");
    const json_t *name;
    if (schema_type_admits(rule, site->value))
        return;
    for (size_t i = 0; (name = type_name(rule, i)) != NULL; i++)
        message =
            talloc_asprintf_append(message, "%s %s", i > 0 ? " or" : "", find_type(name)->article);
    schema_fail(failures, site->place, message);
}

/* ---- faults of a keyword's own value ---- */

static const char *
fault_map(const json_t *rule)
{
    return json_is_object(rule) ? NULL : "not an object";
}

static const char *
fault_list(const json_t *rule)
{
    return json_array_size(rule) > 0 ? NULL : "not an array with an item";
}

static const char *
fault_names(const json_t *rule)
{
    size_t index;
    const json_t *name;
    json_array_foreach (rule, index, name)
        if (!json_is_string(name))
            return "not an array of strings";
    return json_is_array(rule) ? NULL : "not an array of strings";
}

static const char *
fault_number(const json_t *rule)
{
    return json_is_number(rule) ? NULL : "not a number";
}

static const char *
fault_count(const json_t *rule)
{
    return json_is_integer(rule) && json_integer_value(rule) >= 0 ? NULL : "not a count";
}

static const char *
fault_boolean(const json_t *rule)
{
    return json_is_boolean(rule) ? NULL : "not true or false";
}

static const char *
fault_format(const json_t *rule)
{
    return json_is_string(rule) && schema_format_find(json_string_value(rule)) != NULL
               ? NULL
               : "not a format";
}

/*
 * Patterns are POSIX extended expressions over octets. A backslash, (?, a lazy repetition and a
 * character beyond ASCII mean something else in the dialect of the standard (ECMA 262), so they are
 * refused. Write [.] for an escaped dot.
 */
static const char *
fault_pattern(const json_t *rule)
{
    regex_t regex;
    const char *text = json_string_value(rule);
    if (text == NULL || *text == '\0')
        return "not a pattern";
    for (const char *c = text; *c != '\0'; c++)
        if (*c == '\\' || (unsigned char) *c >= 0x7f
            || (*c == '?' && c > text && strchr("(*+?}", c[-1]) != NULL))
            return "a pattern that POSIX and ECMA 262 read differently";
    if (regcomp(&regex, text, REG_EXTENDED | REG_NOSUB) != 0)
        return "not a pattern";
    regfree(&regex);
    return NULL;
}

/* ---- checks of a value ---- */

static void
check_required(struct schema_failures *failures, const struct schema_site *site, const json_t *rule)
{
    size_t index;
    const json_t *name;
    json_array_foreach (rule, index, name) {
        const struct schema_place place = {site->place, json_string_value(name), 0};
        if (json_object_get(site->value, place.name) == NULL)
            schema_fail(failures, &place, "is required");
    }
}

static void
check_enum(struct schema_failures *failures, const struct schema_site *site, const json_t *rule)
{
    size_t index;
    const json_t *allowed;
    json_array_foreach (rule, index, allowed)
        if (schema_value_same(allowed, site->value, &failures->out_of_memory))
            return;
    schema_fail_rule(failures, site->place, "must be one of", rule, "");
}

static void
check_const(struct schema_failures *failures, const struct schema_site *site, const json_t *rule)
{
    if (!schema_value_same(rule, site->value, &failures->out_of_memory))
        schema_fail_rule(failures, site->place, "must be", rule, "");
}

static void
check_pattern(struct schema_failures *failures, const struct schema_site *site, const json_t *rule)
{
    regex_t regex;
    if (regcomp(&regex, json_string_value(rule), REG_EXTENDED | REG_NOSUB) != 0) {
        failures->out_of_memory = true; /* the pattern compiled when the schema was checked */
        return;
    }
    if (regexec(&regex, json_string_value(site->value), 0, NULL, 0) != 0)
        schema_fail_rule(failures, site->place, "must match", rule, "");
    regfree(&regex);
}

static void
check_minimum(struct schema_failures *failures, const struct schema_site *site, const json_t *rule)
{
    if (schema_value_less(site->value, rule))
        schema_fail_rule(failures, site->place, "must be at least", rule, "");
}

static void
check_maximum(struct schema_failures *failures, const struct schema_site *site, const json_t *rule)
{
    if (schema_value_less(rule, site->value))
        schema_fail_rule(failures, site->place, "must be at most", rule, "");
}

static size_t
text_length(const json_t *value)
{
    return utf8_length(json_string_value(value), json_string_length(value));
}

/* Record that there are fewer characters or items than `rule`. */
static void
fail_few(struct schema_failures *failures, const struct schema_site *site, const json_t *rule,
         const char *unit)
{
    if (limit_of(rule) == 1)
        schema_fail(failures, site->place, "must not be empty");
    else
        schema_fail_rule(failures, site->place, "must have at least", rule, unit);
}

static void
check_min_length(struct schema_failures *failures, const struct schema_site *site,
                 const json_t *rule)
{
    if (text_length(site->value) < limit_of(rule))
        fail_few(failures, site, rule, " characters");
}

static void
check_max_length(struct schema_failures *failures, const struct schema_site *site,
                 const json_t *rule)
{
    if (text_length(site->value) > limit_of(rule))
        schema_fail_rule(failures, site->place, "must have at most", rule, " characters");
}

static void
check_min_items(struct schema_failures *failures, const struct schema_site *site,
                const json_t *rule)
{
    if (json_array_size(site->value) < limit_of(rule))
        fail_few(failures, site, rule, " items");
}

static void
check_max_items(struct schema_failures *failures, const struct schema_site *site,
                const json_t *rule)
{
    if (json_array_size(site->value) > limit_of(rule))
        schema_fail_rule(failures, site->place, "must have at most", rule, " items");
}

/* An item of an array, as text that can be sorted. */
struct sortable_item {
    char *text;   /* canonical */
    size_t index; /* in the array */
};

static int
compare_items(const void *a, const void *b)
{
    const struct sortable_item *left = a, *right = b;
    int order = strcmp(left->text, right->text);
    return order != 0 ? order : left->index < right->index ? -1 : 1;
}

/* Sort the items instead of comparing each with each: a row of a megabyte has room for 300,000. */
static void
check_unique(struct schema_failures *failures, const struct schema_site *site, const json_t *rule)
{
    size_t count = json_array_size(site->value), made = 0;
    if (json_is_false(rule) || count < 2)
        return;
    struct sortable_item *items =
        talloc_array(failures->mem, struct sortable_item, (unsigned) count);
    for (; items != NULL && made < count; made++) {
        items[made] =
            (struct sortable_item){schema_value_text(json_array_get(site->value, made)), made};
        if (items[made].text == NULL)
            break;
    }
    failures->out_of_memory |= made < count;
    if (made == count)
        qsort(items, count, sizeof(items[0]), compare_items);
    for (size_t i = 1; made == count && i < count; i++) {
        const struct schema_place place = {site->place, NULL, items[i].index};
        if (strcmp(items[i - 1].text, items[i].text) == 0)
            schema_fail(failures, &place, "repeats another item");
    }
    for (size_t i = 0; i < made; i++)
        free(items[i].text);
    talloc_free(items);
}

static void
check_format(struct schema_failures *failures, const struct schema_site *site, const json_t *rule)
{
    const struct schema_format *format = schema_format_find(json_string_value(rule));
    const json_t *value = site->value;
    bool matches = json_is_string(value)
                       ? format->matches == NULL || format->matches(json_string_value(value))
                       : format->matches_object == NULL || format->matches_object(value);
    if (!matches)
        schema_fail(failures, site->place, format->message);
}

/* clang-format off */
static const struct schema_keyword keywords[] = {
    {"type",                 APPLIES_NONE,          fault_type,    ANY,              check_type_keyword},
    {"properties",           APPLIES_PROPERTIES,    fault_map,     BIT(JSON_OBJECT), NULL},
    {"required",             APPLIES_NONE,          fault_names,   BIT(JSON_OBJECT), check_required},
    {"additionalProperties", APPLIES_ADDITIONAL,    NULL,          BIT(JSON_OBJECT), NULL},
    {"items",                APPLIES_ITEMS,         NULL,          BIT(JSON_ARRAY),  NULL},
    {"minItems",             APPLIES_NONE,          fault_count,   BIT(JSON_ARRAY),  check_min_items},
    {"maxItems",             APPLIES_NONE,          fault_count,   BIT(JSON_ARRAY),  check_max_items},
    {"uniqueItems",          APPLIES_NONE,          fault_boolean, BIT(JSON_ARRAY),  check_unique},
    {"minLength",            APPLIES_NONE,          fault_count,   BIT(JSON_STRING), check_min_length},
    {"maxLength",            APPLIES_NONE,          fault_count,   BIT(JSON_STRING), check_max_length},
    {"pattern",              APPLIES_NONE,          fault_pattern, BIT(JSON_STRING), check_pattern},
    {"format",               APPLIES_NONE,          fault_format,  BIT(JSON_STRING) | BIT(JSON_OBJECT), check_format},
    {"minimum",              APPLIES_NONE,          fault_number,  NUMBERS,          check_minimum},
    {"maximum",              APPLIES_NONE,          fault_number,  NUMBERS,          check_maximum},
    {"enum",                 APPLIES_NONE,          fault_list,    ANY,              check_enum},
    {"const",                APPLIES_NONE,          NULL,          ANY,              check_const},
    {"anyOf",                APPLIES_BRANCHES,      fault_list,    ANY,              NULL},
    {"$defs",                APPLIES_BY_REFERENCE,  fault_map,     0,                NULL},
    {"title",                APPLIES_NONE,          NULL,          0,                NULL},
    {"description",          APPLIES_NONE,          NULL,          0,                NULL},
    {"default",              APPLIES_NONE,          NULL,          0,                NULL},
    {"examples",             APPLIES_NONE,          NULL,          0,                NULL},
    {"$schema",              APPLIES_NONE,          NULL,          0,                NULL},
};
/* clang-format on */

const struct schema_keyword *
schema_keyword_find(const char *name)
{
    static const struct schema_keyword extension = {"x-", APPLIES_NONE, NULL, 0, NULL};
    for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++)
        if (strcmp(keywords[i].name, name) == 0)
            return &keywords[i];
    return strncmp(name, "x-", 2) == 0 ? &extension : NULL;
}
