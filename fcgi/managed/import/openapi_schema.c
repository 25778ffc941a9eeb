#include "config.h"

#include "managed/import/openapi_schema.h"

#include <string.h>

#include "base/json/json_pointer.h"
#include "base/json/jsonx.h"

/* Kinds of values that a keyword may have. */
enum keyword_kind {
    KEYWORD_VALUE,  /* a scalar, or an array of scalars */
    KEYWORD_NUMBER, /* a number; exclusiveMinimum was a boolean in OpenAPI 3.0 */
    KEYWORD_SCHEMA, /* a schema */
    KEYWORD_LIST,   /* an array of schemas */
    KEYWORD_MAP,    /* an object of schemas */
};

static const struct {
    const char *name;
    enum keyword_kind kind;
} keywords[] = {
    {"type",                 KEYWORD_VALUE },
    {"title",                KEYWORD_VALUE },
    {"description",          KEYWORD_VALUE },
    {"enum",                 KEYWORD_VALUE },
    {"const",                KEYWORD_VALUE },
    {"default",              KEYWORD_VALUE },
    {"format",               KEYWORD_VALUE },
    {"pattern",              KEYWORD_VALUE },
    {"required",             KEYWORD_VALUE },
    {"uniqueItems",          KEYWORD_VALUE },
    {"minimum",              KEYWORD_NUMBER},
    {"maximum",              KEYWORD_NUMBER},
    {"exclusiveMinimum",     KEYWORD_NUMBER},
    {"exclusiveMaximum",     KEYWORD_NUMBER},
    {"multipleOf",           KEYWORD_NUMBER},
    {"minLength",            KEYWORD_NUMBER},
    {"maxLength",            KEYWORD_NUMBER},
    {"minItems",             KEYWORD_NUMBER},
    {"maxItems",             KEYWORD_NUMBER},
    {"minProperties",        KEYWORD_NUMBER},
    {"maxProperties",        KEYWORD_NUMBER},
    {"items",                KEYWORD_SCHEMA},
    {"additionalProperties", KEYWORD_SCHEMA},
    {"not",                  KEYWORD_SCHEMA},
    {"allOf",                KEYWORD_LIST  },
    {"anyOf",                KEYWORD_LIST  },
    {"oneOf",                KEYWORD_LIST  },
    {"properties",           KEYWORD_MAP   },
};

static json_t *copy_schema(struct openapi_schemas *schemas, const json_t *schema, unsigned depth);

/* ---- references */

/* Return the value that a reference names, or NULL with the reason in schemas->why. */
static const json_t *
target_of(struct openapi_schemas *schemas, const char *ref)
{
    if (strncmp(ref, "#/", 2) != 0)
        schemas->why = "refers to another document; only references that begin with #/ are read";
    else if (strlen(ref) > OPENAPI_REF_MAX)
        schemas->why = "has a reference of more than 512 octets";
    else if (strchr(ref, '%') != NULL)
        schemas->why = "has a reference with a percent sign";
    if (schemas->why != NULL)
        return NULL;
    const json_t *at = json_pointer_get(schemas->document, ref + 1);
    if (at == NULL)
        schemas->why = "refers to what the document does not have";
    return at;
}

/* Return the value behind a chain of references, all of which are open afterwards. */
static const json_t *
open_reference(struct openapi_schemas *schemas, const json_t *value)
{
    const json_t *ref;
    while (schemas->why == NULL && (ref = json_object_get(value, "$ref")) != NULL) {
        if (!json_is_string(ref)) {
            schemas->why = "has a $ref that is not a text";
            return NULL;
        }
        value = target_of(schemas, json_string_value(ref));
        schemas->octets += json_string_length(ref);
        for (size_t i = 0; value != NULL && i < schemas->hops; i++)
            if (schemas->open[i] == value)
                schemas->why = "refers to itself";
        if (schemas->why == NULL && schemas->hops == OPENAPI_HOPS_MAX)
            schemas->why = "has more than 16 references one inside the other";
        if (schemas->why == NULL)
            schemas->open[schemas->hops++] = value;
    }
    return schemas->why == NULL ? value : NULL;
}

const json_t *
openapi_follow(struct openapi_schemas *schemas, const json_t *value)
{
    schemas->hops = 0;
    schemas->why = NULL;
    return open_reference(schemas, value);
}

/* ---- schemas */

/* Count octets of what is made. Return true if there is room for them. */
static bool
count_octets(struct openapi_schemas *schemas, size_t octets)
{
    schemas->octets += octets;
    if (schemas->octets > OPENAPI_SCHEMAS_MAX && schemas->why == NULL)
        schemas->why = "makes the schemas of the document larger than 1048576 octets";
    return schemas->why == NULL;
}

/* Return a plain value with its octets counted, a new reference, or NULL if it is left out. */
static json_t *
copy_plain(struct openapi_schemas *schemas, const json_t *value)
{
    json_t *item;
    size_t index;
    if (json_is_object(value))
        return NULL;
    json_array_foreach (value, index, item)
        if (json_is_object(item) || json_is_array(item))
            return NULL;
    size_t octets = json_dumpb(value, NULL, 0, JSON_ENCODE_ANY | JSON_COMPACT);
    return count_octets(schemas, octets) ? json_incref((json_t *) (uintptr_t) value) : NULL;
}

/* Return an array or object of schemas, a new reference. */
static json_t *
copy_group(struct openapi_schemas *schemas, const json_t *group, unsigned depth)
{
    struct jsonx_build copy = {json_is_array(group) ? json_array() : json_object(), false};
    const char *name;
    json_t *member;
    size_t index;
    json_array_foreach (group, index, member)
        if (schemas->why == NULL)
            jsonx_append(&copy, copy_schema(schemas, member, depth));
    json_object_foreach ((json_t *) (uintptr_t) group, name, member)
        if (count_octets(schemas, strlen(name)))
            jsonx_set(&copy, name, copy_schema(schemas, member, depth));
    schemas->lost = schemas->lost || ((copy.lost || copy.value == NULL) && schemas->why == NULL);
    return copy.value;
}

/* Return the value of a keyword, a new reference, or NULL if it is left out. */
static json_t *
copy_keyword(struct openapi_schemas *schemas, enum keyword_kind kind, const json_t *value,
             unsigned depth)
{
    switch (kind) {
    case KEYWORD_VALUE:
        return copy_plain(schemas, value);
    case KEYWORD_NUMBER:
        return json_is_number(value) ? copy_plain(schemas, value) : NULL;
    case KEYWORD_SCHEMA:
        return copy_schema(schemas, value, depth + 1);
    case KEYWORD_LIST:
        return json_is_array(value) ? copy_group(schemas, value, depth + 2) : NULL;
    default:
        return json_is_object(value) ? copy_group(schemas, value, depth + 2) : NULL;
    }
}

/* Let a type of OpenAPI 3.0 that is nullable take null. */
static void
make_nullable(struct jsonx_build *copy, const json_t *schema)
{
    const char *type = json_string_value(json_object_get(schema, "type"));
    if (type != NULL && json_is_true(json_object_get(schema, "nullable")))
        jsonx_set(copy, "type", json_pack("[s,s]", type, "null"));
}

/* Return a copy of a schema, a new reference, or NULL with the reason in schemas->why. */
static json_t *
copy_schema(struct openapi_schemas *schemas, const json_t *schema, unsigned depth)
{
    size_t hops = schemas->hops;
    if (json_is_boolean(schema))
        return count_octets(schemas, 5) ? json_incref((json_t *) (uintptr_t) schema) : NULL;
    if (depth > OPENAPI_NESTING_MAX)
        schemas->why = "has a schema that is nested more deeply than 24 levels";
    else if ((schema = open_reference(schemas, schema)) != NULL && !json_is_object(schema))
        schemas->why = "has a schema that is not an object";
    if (!count_octets(schemas, 2))
        return NULL;
    struct jsonx_build copy = {json_object(), false};
    for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]) && schemas->why == NULL; i++) {
        const json_t *value = json_object_get(schema, keywords[i].name);
        if (value == NULL || !count_octets(schemas, strlen(keywords[i].name)))
            continue;
        json_t *made = copy_keyword(schemas, keywords[i].kind, value, depth);
        if (made != NULL)
            jsonx_set(&copy, keywords[i].name, made);
    }
    make_nullable(&copy, schema);
    schemas->hops = hops;
    schemas->lost = schemas->lost || copy.lost || copy.value == NULL;
    if (schemas->why == NULL)
        return copy.value;
    json_decref(copy.value);
    return NULL;
}

json_t *
openapi_schema(struct openapi_schemas *schemas, const json_t *schema)
{
    schemas->hops = 0;
    schemas->why = NULL;
    return copy_schema(schemas, schema, 1);
}
