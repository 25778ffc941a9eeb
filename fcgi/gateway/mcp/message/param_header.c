#include "config.h"

#include "gateway/mcp/message/param_header.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "base/json/schema/schema_value.h"
#include "gateway/mcp/message/json_rpc.h"
#include "gateway/mcp/message/version.h"

#define PARAM_KEYWORD "x-mcp-header"

/* The largest integer that a JSON reader with doubles understands (RFC 8259 6). */
#define PARAM_INTEGER_MAX ((1LL << 53) - 1)

/* True if a text is a token of RFC 9110 5.6.2, so that it can be part of a field name. */
static bool
is_field_token(const char *text)
{
    return *text != '\0' && strlen(text) <= PARAM_HEADER_NAME_MAX
           && text[strspn(text, "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "abcdefghijklmnopqrstuvwxyz")]
                  == '\0';
}

/* ---- the rules for a schema */

/* True if CGI makes one variable of two names: it ignores case and replaces every character other
 * than letters and digits by one sign (RFC 3875 4.1.18). */
static bool
is_one_variable(const char *a, const char *b)
{
    while (*a != '\0'
           && (isalnum((unsigned char) *a)
                   ? tolower((unsigned char) *a) == tolower((unsigned char) *b)
                   : *b != '\0' && !isalnum((unsigned char) *b)))
        a++, b++;
    return *a == *b;
}

/* The findings so far. */
struct param_scan {
    const char *name[PARAM_HEADERS_MAX];
    size_t names;
};

/* A schema in the schema that is read. */
struct param_site {
    const json_t *schema;
    size_t depth;
    bool reached; /* by a chain of `properties` that is not empty */
    bool broken;  /* another keyword is in the chain */
};

static bool scan_schema(struct param_scan *scan, const struct param_site *site);

/* Check the annotation of one property and note its name. */
static bool
take_annotation(struct param_scan *scan, const struct param_site *site, const json_t *annotation)
{
    static const char *const types[] = {"string", "integer", "boolean"};
    const char *type = json_string_value(json_object_get(site->schema, "type"));
    const char *name = json_string_value(annotation);
    bool plain = false;
    for (size_t i = 0; type != NULL && i < sizeof(types) / sizeof(types[0]); i++)
        plain = plain || strcmp(type, types[i]) == 0;
    if (!plain || !site->reached || site->broken || name == NULL || !is_field_token(name)
        || scan->names == PARAM_HEADERS_MAX)
        return false;
    for (size_t i = 0; i < scan->names; i++)
        if (is_one_variable(scan->name[i], name))
            return false;
    scan->name[scan->names++] = name;
    return true;
}

/* Scan the schemas that a keyword holds: one, a list of them, or an object of them. */
static bool
scan_inner(struct param_scan *scan, const struct param_site *site, const json_t *held, bool by_name)
{
    const char *name;
    size_t index;
    const json_t *inner;
    struct param_site below = *site;
    below.depth++;
    if (!by_name && json_is_object(held)) {
        below.schema = held;
        return scan_schema(scan, &below);
    }
    json_object_foreach (schema_plain(held), name, inner) {
        below.schema = inner;
        if (!scan_schema(scan, &below))
            return false;
    }
    json_array_foreach (held, index, inner) {
        below.schema = inner;
        if (!scan_schema(scan, &below))
            return false;
    }
    return true;
}

/* Keywords whose schemas apply to other values than named properties, or only under a condition
 * (JSON Schema 2020-12, and `definitions` of older versions). */
static const struct {
    const char *name;
    bool by_name; /* an object of schemas */
} other_keywords[] = {
    {"items",                 false},
    {"prefixItems",           false},
    {"contains",              false},
    {"additionalProperties",  false},
    {"unevaluatedProperties", false},
    {"unevaluatedItems",      false},
    {"propertyNames",         false},
    {"oneOf",                 false},
    {"anyOf",                 false},
    {"allOf",                 false},
    {"not",                   false},
    {"if",                    false},
    {"then",                  false},
    {"else",                  false},
    {"patternProperties",     true },
    {"dependentSchemas",      true },
    {"$defs",                 true },
    {"definitions",           true },
};

static bool
scan_schema(struct param_scan *scan, const struct param_site *site)
{
    const json_t *annotation = json_object_get(site->schema, PARAM_KEYWORD);
    struct param_site below = *site;
    if (!json_is_object(site->schema))
        return true;
    if (site->depth == JSON_RPC_DEPTH_MAX
        || (annotation != NULL && !take_annotation(scan, site, annotation)))
        return false;
    below.reached = true;
    if (!scan_inner(scan, &below, json_object_get(site->schema, "properties"), true))
        return false;
    below.broken = true;
    for (size_t i = 0; i < sizeof(other_keywords) / sizeof(other_keywords[0]); i++)
        if (!scan_inner(scan, &below, json_object_get(site->schema, other_keywords[i].name),
                        other_keywords[i].by_name))
            return false;
    return true;
}

bool
param_headers_sound(const json_t *schema)
{
    struct param_scan scan = {.names = 0};
    const struct param_site root = {.schema = schema};
    return scan_schema(&scan, &root);
}

/* ---- the arguments */

static bool
each_below(const json_t *schema, const json_t *arguments, size_t depth, param_header_fn *each,
           void *arg)
{
    const char *name;
    const json_t *property;
    if (depth == JSON_RPC_DEPTH_MAX)
        return true;
    json_object_foreach (json_object_get(schema, "properties"), name, property) {
        const char *header = json_string_value(json_object_get(property, PARAM_KEYWORD));
        const json_t *given = json_object_get(arguments, name);
        const json_t *value = json_is_null(given) ? NULL : given;
        if (header != NULL && is_field_token(header) && !each(arg, header, value))
            return false;
        if (!each_below(property, value, depth + 1, each, arg))
            return false;
    }
    return true;
}

bool
param_headers_each(const json_t *schema, const json_t *arguments, param_header_fn *each, void *arg)
{
    return each_below(schema, arguments, 0, each, arg);
}

bool
param_header_carries(const json_t *value)
{
    json_int_t number = json_integer_value(value);
    return json_is_string(value) || json_is_boolean(value)
           || (json_is_integer(value) && number >= -PARAM_INTEGER_MAX
               && number <= PARAM_INTEGER_MAX);
}

/* Return the text of an argument: a text as it is, true, false, or decimal digits. */
static const char *
argument_text(TALLOC_CTX *mem, const json_t *argument)
{
    return json_is_string(argument) ? json_string_value(argument) : jsonx_dump(mem, argument);
}

const char *
param_header_value(TALLOC_CTX *mem, const json_t *argument)
{
    const char *text = argument_text(mem, argument);
    return text != NULL ? mcp_header_value(mem, text) : NULL;
}

/* True if a text is the number, which may be written with a fraction of zeros. */
static bool
is_number(const char *text, json_int_t number)
{
    char *end;
    size_t digits = strspn(text + (*text == '-'), "0123456789");
    if (digits == 0)
        return false;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno != 0 || value != number)
        return false;
    return *end == '\0' || (*end == '.' && end[1] == '0' && end[1 + strspn(end + 1, "0")] == '\0');
}

bool
param_header_says(TALLOC_CTX *mem, const char *field, const json_t *argument)
{
    const char *said = field != NULL ? mcp_header_text(mem, field) : NULL;
    const char *text = argument_text(mem, argument);
    if (said == NULL || text == NULL)
        return false;
    if (json_is_real(argument) && fabs(json_real_value(argument)) <= (double) PARAM_INTEGER_MAX
        && trunc(json_real_value(argument)) == json_real_value(argument))
        return is_number(said, (json_int_t) json_real_value(argument));
    return json_is_integer(argument) ? is_number(said, json_integer_value(argument))
                                     : strcmp(said, text) == 0;
}
