/*
 * JSON Schema, the keywords whose meaning is certain. OPA reads a schema as a mixture of drafts 4,
 * 6 and 7, and refuses it for a fault in any part, also in one that does not apply to the document.
 * So each keyword and its value are checked first; a schema with any other is left to the engine. A
 * document that does not match is left to the engine too, because the answer then has OPA's own
 * messages.
 */
#include "config.h"

#include <string.h>

#include "rego/builtin/schema_private.h"
#include "rego/pattern.h"

/* Nesting of a schema and of a document that are read: each level is a call. */
#define SCHEMA_DEPTH_MAX 32

/* A keyword of a schema. */
struct keyword_use {
    const struct rego_value *value;
    const struct rego_value *schema; /* the value may depend on the keywords beside it */
};

struct keyword {
    const char *name;
    enum schema_shape shape;
    /* True if a document matches the keyword; certain unless reading->unsure is set. NULL: every
     * document matches. */
    bool (*matches)(struct schema_reading *reading, struct keyword_use use,
                    const struct rego_value *document);
};

static bool schema_matches(struct schema_reading *reading, const struct rego_value *schema,
                           const struct rego_value *document);

/* ---- documents */

static bool
be_unsure(struct schema_reading *reading)
{
    reading->unsure = true;
    return false;
}

static bool
type_has(const struct rego_value *types, const char *name)
{
    for (uint32_t i = 0; types->type == REGO_ARRAY && i < types->count; i++)
        if (schema_text_is(types->item[i], name))
            return true;
    return schema_text_is(types, name);
}

static bool
match_type(struct schema_reading *reading, struct keyword_use use,
           const struct rego_value *document)
{
    bool any = use.value->type == REGO_ARRAY && use.value->count == 0;
    if (any || type_has(use.value, schema_types[document->type]))
        return true;
    if (document->type != REGO_NUMBER || !type_has(use.value, "integer"))
        return false;
    return document->decimal ? be_unsure(reading) : true;
}

static bool
match_properties(struct schema_reading *reading, struct keyword_use use,
                 const struct rego_value *document)
{
    bool matches = true;
    for (uint32_t i = 0; document->type == REGO_OBJECT && i < use.value->count; i++) {
        const struct rego_value *value = rego_get(document, use.value->member[i].key);
        if (value != NULL)
            matches &= schema_matches(reading, use.value->member[i].value, value);
    }
    return matches;
}

static bool
match_additional(struct schema_reading *reading, struct keyword_use use,
                 const struct rego_value *document)
{
    const struct rego_value *named = rego_get_text(use.schema, "properties");
    bool matches = true;
    for (uint32_t i = 0; document->type == REGO_OBJECT && i < document->count; i++)
        if (named == NULL || rego_get(named, document->member[i].key) == NULL)
            matches &= schema_matches(reading, use.value, document->member[i].value);
    return matches;
}

static bool
match_required(struct schema_reading *reading, struct keyword_use use,
               const struct rego_value *document)
{
    (void) reading;
    for (uint32_t i = 0; document->type == REGO_OBJECT && i < use.value->count; i++)
        if (rego_get(document, use.value->item[i]) == NULL)
            return false;
    return true;
}

static bool
match_items(struct schema_reading *reading, struct keyword_use use,
            const struct rego_value *document)
{
    bool matches = true;
    for (uint32_t i = 0; document->type == REGO_ARRAY && i < document->count; i++)
        matches &= schema_matches(reading, use.value, document->item[i]);
    return matches;
}

static bool
match_const(struct schema_reading *reading, struct keyword_use use,
            const struct rego_value *document)
{
    return schema_is_plain(document) ? rego_compare(document, use.value) == 0 : be_unsure(reading);
}

static bool
match_enum(struct schema_reading *reading, struct keyword_use use,
           const struct rego_value *document)
{
    if (!schema_is_plain(document))
        return be_unsure(reading);
    for (uint32_t i = 0; i < use.value->count; i++)
        if (rego_compare(document, use.value->item[i]) == 0)
            return true;
    return false;
}

/* True if a document is not a number, or is one that OPA compares as an integer. */
static bool
is_comparable(struct schema_reading *reading, const struct rego_value *document)
{
    if (document->type == REGO_NUMBER && document->decimal)
        reading->unsure = true;
    return document->type == REGO_NUMBER && !document->decimal;
}

#define MATCH_BOUND(NAME, OPERATOR)                                                                \
    static bool match_##NAME(struct schema_reading *reading, struct keyword_use use,               \
                             const struct rego_value *document)                                    \
    {                                                                                              \
        return !is_comparable(reading, document) || document->integer OPERATOR use.value->integer; \
    }

MATCH_BOUND(minimum, >=)
MATCH_BOUND(maximum, <=)
MATCH_BOUND(exclusive_minimum, >)
MATCH_BOUND(exclusive_maximum, <)

/* Return the number of code points of a string. */
static int64_t
length_of(const struct rego_value *text)
{
    int64_t length = 0;
    for (uint32_t i = 0; i < text->count; i++)
        length += (text->text[i] & 0xc0) != 0x80;
    return length;
}

#define MATCH_COUNT(NAME, TYPE, COUNT, OPERATOR)                                                   \
    static bool match_##NAME(struct schema_reading *reading, struct keyword_use use,               \
                             const struct rego_value *document)                                    \
    {                                                                                              \
        (void) reading;                                                                            \
        return document->type != (TYPE) || (COUNT) OPERATOR use.value->integer;                    \
    }

MATCH_COUNT(min_length, REGO_STRING, length_of(document), >=)
MATCH_COUNT(max_length, REGO_STRING, length_of(document), <=)
MATCH_COUNT(min_items, REGO_ARRAY, document->count, >=)
MATCH_COUNT(max_items, REGO_ARRAY, document->count, <=)
MATCH_COUNT(min_properties, REGO_OBJECT, document->count, >=)
MATCH_COUNT(max_properties, REGO_OBJECT, document->count, <=)

static bool
match_pattern(struct schema_reading *reading, struct keyword_use use,
              const struct rego_value *document)
{
    struct rego_arena *arena = reading->machine->arena;
    struct pattern_match match;
    if (document->type != REGO_STRING)
        return true;
    const struct pattern *pattern = pattern_read(arena, use.value->text, use.value->count);
    struct pattern_search *search =
        pattern != NULL ? pattern_search_new(arena->mem, pattern, document) : NULL;
    if (search == NULL)
        return be_unsure(reading);
    enum pattern_outcome outcome = pattern_find(search, 0, &match);
    rego_spend(reading->machine, (uint64_t) pattern_steps(search));
    talloc_free(search);
    return outcome == PATTERN_DOUBTFUL ? be_unsure(reading) : outcome == PATTERN_FOUND;
}

static bool
match_unique(struct schema_reading *reading, struct keyword_use use,
             const struct rego_value *document)
{
    if (document->type != REGO_ARRAY || !use.value->boolean)
        return true;
    for (uint32_t i = 0; i < document->count; i++)
        if (!schema_is_plain(document->item[i]))
            return be_unsure(reading);
    return schema_is_unique(reading, document);
}

/* Return how many of some schemas a document matches. */
static uint32_t
count_matches(struct schema_reading *reading, const struct rego_value *schemas,
              const struct rego_value *document)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < schemas->count; i++)
        count += schema_matches(reading, schemas->item[i], document);
    return count;
}

static bool
match_all(struct schema_reading *reading, struct keyword_use use, const struct rego_value *document)
{
    return count_matches(reading, use.value, document) == use.value->count;
}

static bool
match_some(struct schema_reading *reading, struct keyword_use use,
           const struct rego_value *document)
{
    return use.value->count == 0 || count_matches(reading, use.value, document) > 0;
}

static bool
match_one(struct schema_reading *reading, struct keyword_use use, const struct rego_value *document)
{
    return use.value->count == 0 || count_matches(reading, use.value, document) == 1;
}

static bool
match_not(struct schema_reading *reading, struct keyword_use use, const struct rego_value *document)
{
    return !schema_matches(reading, use.value, document);
}

static const struct keyword keywords[] = {
    {"$comment",             SCHEMA_WORD,       NULL                   },
    {"$schema",              SCHEMA_DRAFT,      NULL                   },
    {"additionalProperties", SCHEMA_SCHEMA,     match_additional       },
    {"allOf",                SCHEMA_SCHEMAS,    match_all              },
    {"anyOf",                SCHEMA_SCHEMAS,    match_some             },
    {"const",                SCHEMA_PLAIN,      match_const            },
    {"default",              SCHEMA_PLAIN,      NULL                   },
    {"description",          SCHEMA_WORD,       NULL                   },
    {"enum",                 SCHEMA_PLAINS,     match_enum             },
    {"exclusiveMaximum",     SCHEMA_BOUND,      match_exclusive_maximum},
    {"exclusiveMinimum",     SCHEMA_BOUND,      match_exclusive_minimum},
    {"items",                SCHEMA_SCHEMA,     match_items            },
    {"maximum",              SCHEMA_BOUND,      match_maximum          },
    {"maxItems",             SCHEMA_COUNT,      match_max_items        },
    {"maxLength",            SCHEMA_COUNT,      match_max_length       },
    {"maxProperties",        SCHEMA_COUNT,      match_max_properties   },
    {"minimum",              SCHEMA_BOUND,      match_minimum          },
    {"minItems",             SCHEMA_COUNT,      match_min_items        },
    {"minLength",            SCHEMA_COUNT,      match_min_length       },
    {"minProperties",        SCHEMA_COUNT,      match_min_properties   },
    {"not",                  SCHEMA_SCHEMA,     match_not              },
    {"oneOf",                SCHEMA_SCHEMAS,    match_one              },
    {"pattern",              SCHEMA_PATTERN,    match_pattern          },
    {"properties",           SCHEMA_PROPERTIES, match_properties       },
    {"required",             SCHEMA_NAMES,      match_required         },
    {"title",                SCHEMA_WORD,       NULL                   },
    {"type",                 SCHEMA_TYPE,       match_type             },
    {"uniqueItems",          SCHEMA_SWITCH,     match_unique           },
};

#define KEYWORDS (sizeof(keywords) / sizeof(keywords[0]))

/* ---- schemas */

static const struct keyword *
find_keyword(const struct rego_value *name)
{
    for (size_t i = 0; i < KEYWORDS; i++)
        if (schema_text_is(name, keywords[i].name))
            return &keywords[i];
    return NULL;
}

/* False if a minimum of the schema exceeds its maximum, which OPA refuses. */
static bool
has_order(const struct rego_value *schema, const char *least, const char *most)
{
    const struct rego_value *low = rego_get_text(schema, least),
                            *high = rego_get_text(schema, most);
    return low == NULL || high == NULL || low->integer <= high->integer;
}

bool
schema_is_known(struct schema_reading *reading, const struct rego_value *schema)
{
    bool known = schema->type == REGO_OBJECT && reading->depth < SCHEMA_DEPTH_MAX
                 && rego_spend(reading->machine, schema->count * KEYWORDS);
    if (schema->type == REGO_BOOLEAN)
        return true;
    reading->depth++;
    for (uint32_t i = 0; known && i < schema->count; i++) {
        const struct keyword *keyword = find_keyword(schema->member[i].key);
        known =
            keyword != NULL && schema_shape_fits(reading, keyword->shape, schema->member[i].value);
    }
    reading->depth--;
    return known && has_order(schema, "minLength", "maxLength")
           && has_order(schema, "minProperties", "maxProperties");
}

/* True if OPA takes a value of the document for the same value of JSON. */
static bool
is_json(const struct rego_value *value)
{
    for (uint32_t i = 0; value->type == REGO_OBJECT && i < value->count; i++)
        if (value->member[i].key->type != REGO_STRING)
            return false;
    return value->type != REGO_SET;
}

static bool
schema_matches(struct schema_reading *reading, const struct rego_value *schema,
               const struct rego_value *document)
{
    bool matches = true;
    if (schema->type == REGO_BOOLEAN)
        return schema->boolean;
    if (!is_json(document) || reading->depth >= SCHEMA_DEPTH_MAX
        || !rego_spend(reading->machine, schema->count * KEYWORDS + document->count))
        return be_unsure(reading);
    reading->depth++;
    for (uint32_t i = 0; i < schema->count; i++) {
        const struct keyword *keyword = find_keyword(schema->member[i].key);
        struct keyword_use use = {.value = schema->member[i].value, .schema = schema};
        if (keyword != NULL && keyword->matches != NULL)
            matches &= keyword->matches(reading, use, document);
    }
    reading->depth--;
    return matches;
}

static const struct rego_value *
run_match_schema(struct rego_machine *machine, const struct rego_value *const *arg)
{
    struct schema_reading reading = {.machine = machine};
    bool document = arg[0]->type == REGO_OBJECT || arg[0]->type == REGO_ARRAY;
    if (!document || arg[1]->type != REGO_OBJECT || !schema_is_known(&reading, arg[1]))
        return rego_give_up(machine, "json.match_schema() beyond the common keywords");
    if (!schema_matches(&reading, arg[1], arg[0]) || reading.unsure)
        return rego_give_up(machine, "json.match_schema() of a document that breaks the schema");
    if (machine->outcome != REGO_DONE)
        return NULL;
    struct rego_value *result = rego_array(machine->arena, 2);
    const struct rego_value *errors = rego_array(machine->arena, 0);
    if (result == NULL || errors == NULL || !rego_append(machine->arena, result, &rego_true)
        || !rego_append(machine->arena, result, errors))
        return NULL;
    return result;
}

const struct rego_builtin rego_schema_builtins[] = {
    {"json.match_schema", 2, run_match_schema},
    {NULL,                0, NULL            },
};
