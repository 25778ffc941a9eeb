#include "config.h"

#include "gateway/mcp/message/tool_schema.h"

#include <string.h>

#include "base/buf.h"
#include "base/json/jsonx.h"
#include "base/json/schema/json_schema.h"
#include "base/json/schema/schema_keywords.h"
#include "base/json/schema/schema_value.h"

/* Octets of the text of all shown faults: each has a path and quotes a rule of the schema. */
#define WHY_MAX (TOOL_FAULTS_SHOWN * (SCHEMA_PATH_MAX + 4096))

/* ---- limits */

/* Count the objects and arrays of a schema; each sub-schema is one. */
static bool
fits(const json_t *value, size_t depth, size_t *left)
{
    const char *name;
    size_t index;
    json_t *inner;
    if (!json_is_object(value) && !json_is_array(value))
        return true;
    if (depth == 0 || (*left)-- == 0)
        return false;
    json_object_foreach (schema_plain(value), name, inner)
        if (!fits(inner, depth - 1, left))
            return false;
    json_array_foreach (value, index, inner)
        if (!fits(inner, depth - 1, left))
            return false;
    return true;
}

bool
tool_schema_fits(const json_t *schema)
{
    /* A sub-schema is inside an object or array of its keyword, so each level of schemas takes two
     * of nesting. */
    size_t left = 2 * TOOL_SCHEMA_SIZE_MAX;
    return fits(schema, 2 * TOOL_SCHEMA_DEPTH_MAX, &left);
}

/* ---- reduction */

/* A reduction, and the definition being read. */
struct reduction {
    const json_t *definitions; /* of the whole schema, or NULL */
    size_t left;               /* sub-schemas that may still be read */
};

/* A definition whose $ref is being followed. */
struct followed {
    const struct followed *up; /* the definition that refers to this one, or NULL */
    const char *name;
};

static json_t *reduce(struct reduction *it, const json_t *schema, size_t depth,
                      const struct followed *followed);

/* Return the name of the definition that a reference of this document names, or NULL if it is
 * another. */
static const char *
definition_name(const json_t *schema)
{
    static const char *const places[] = {"#/$defs/", "#/definitions/"};
    const char *reference = json_string_value(json_object_get(schema, "$ref"));
    for (size_t i = 0; reference != NULL && i < 2; i++)
        if (strncmp(reference, places[i], strlen(places[i])) == 0)
            return reference + strlen(places[i]);
    return NULL;
}

/* Return the definition in place of its reference. One that contains itself, as trees do, is not
 * checked below its first level. */
static json_t *
reduce_reference(struct reduction *it, const json_t *schema, size_t depth,
                 const struct followed *followed)
{
    const struct followed here = {followed, definition_name(schema)};
    const json_t *definition =
        here.name != NULL ? json_object_get(it->definitions, here.name) : NULL;
    for (; followed != NULL && here.name != NULL; followed = followed->up)
        if (strcmp(followed->name, here.name) == 0)
            return json_true();
    return definition != NULL ? reduce(it, definition, depth, &here) : json_true();
}

/* Return the schemas that a keyword holds, each reduced, in an object or array like the
 * original. */
static json_t *
reduce_inner(struct reduction *it, enum schema_applies applies, const json_t *rule, size_t depth,
             const struct followed *followed)
{
    const char *name;
    size_t index;
    json_t *inner;
    struct jsonx_build build = {NULL, false};
    switch (applies) {
    case APPLIES_ADDITIONAL:
    case APPLIES_ITEMS:
        return reduce(it, rule, depth, followed);
    case APPLIES_PROPERTIES:
        build.value = json_object();
        json_object_foreach (schema_plain(rule), name, inner)
            jsonx_set(&build, name, reduce(it, inner, depth, followed));
        break;
    case APPLIES_BRANCHES:
        build.value = json_array();
        json_array_foreach (rule, index, inner)
            jsonx_append(&build, reduce(it, inner, depth, followed));
        break;
    case APPLIES_NONE:
    case APPLIES_BY_REFERENCE:
    case SCHEMA_APPLIES:
        return jsonx_deep_copy(rule);
    }
    if (build.lost)
        json_decref(build.value);
    return build.lost ? NULL : build.value;
}

/*
 * Keywords that are not checked. With absorbed_by NULL the keyword is never checked: a pattern is
 * an ECMAScript one, which POSIX reads otherwise, and our rule for a format is narrower. Otherwise
 * it is not checked beside an unchecked keyword that takes a part of the value away from it.
 */
static const struct {
    const char *name, *absorbed_by;
} unchecked[] = {
    {"pattern",              NULL               },
    {"format",               NULL               },
    {"items",                "prefixItems"      },
    {"additionalProperties", "patternProperties"},
};

static bool
is_unchecked(const json_t *schema, const char *name)
{
    for (size_t i = 0; i < sizeof(unchecked) / sizeof(unchecked[0]); i++)
        if (strcmp(name, unchecked[i].name) == 0)
            return unchecked[i].absorbed_by == NULL
                   || json_object_get(schema, unchecked[i].absorbed_by) != NULL;
    return false;
}

/* Return the keyword that checks a member, under the name that it is checked by, or NULL if none
 * does. A value that matches one of `oneOf` matches `anyOf` of them. */
static const struct schema_keyword *
checking_keyword(const json_t *schema, const char **name, const json_t *rule)
{
    if (is_unchecked(schema, *name))
        return NULL;
    if (strcmp(*name, "oneOf") == 0)
        *name = "anyOf";
    const struct schema_keyword *keyword = schema_keyword_find(*name);
    bool checks = keyword != NULL && keyword->applies != APPLIES_BY_REFERENCE
                  && (keyword->check != NULL || keyword->applies != APPLIES_NONE)
                  && (keyword->fault == NULL || keyword->fault(rule) == NULL);
    return checks ? keyword : NULL;
}

/* Return the part of a schema that is checked: a new reference, or NULL if out of memory. */
static json_t *
reduce(struct reduction *it, const json_t *schema, size_t depth, const struct followed *followed)
{
    struct jsonx_build build = {NULL, false};
    const char *member;
    json_t *rule;
    if (json_is_false(schema))
        return json_false();
    if (!json_is_object(schema) || depth == TOOL_SCHEMA_DEPTH_MAX || it->left == 0)
        return json_true();
    it->left--;
    if (json_object_get(schema, "$ref") != NULL)
        return reduce_reference(it, schema, depth + 1, followed);
    build.value = json_object();
    json_object_foreach (schema_plain(schema), member, rule) {
        const char *name = member;
        const struct schema_keyword *keyword = checking_keyword(schema, &name, rule);
        if (keyword != NULL && json_object_get(build.value, name) == NULL)
            jsonx_set(&build, name, reduce_inner(it, keyword->applies, rule, depth + 1, followed));
    }
    if (build.lost)
        json_decref(build.value);
    return build.lost ? NULL : build.value;
}

static struct reduction
reduction_of(const json_t *schema)
{
    const json_t *definitions = json_object_get(schema, "$defs");
    return (struct reduction){
        .definitions = definitions != NULL ? definitions : json_object_get(schema, "definitions"),
        .left = TOOL_SCHEMA_SIZE_MAX,
    };
}

json_t *
tool_schema_reduce(TALLOC_CTX *mem, const json_t *schema)
{
    struct reduction it = reduction_of(schema);
    return jsonx_own(mem, reduce(&it, schema, 0, NULL));
}

/* ---- null for what is optional */

static bool
is_required(const json_t *schema, const char *name)
{
    size_t index;
    const json_t *required;
    json_array_foreach (json_object_get(schema, "required"), index, required)
        if (json_is_string(required) && strcmp(json_string_value(required), name) == 0)
            return true;
    return false;
}

/* True if a property of the schema admits null. *lost: out of memory. */
static bool
admits_null(TALLOC_CTX *mem, const json_t *schema, const json_t *property, bool *lost)
{
    struct reduction it = reduction_of(schema);
    json_t *reduced = jsonx_own(mem, reduce(&it, property, 0, NULL)), *failures = NULL;
    enum az_status st =
        reduced != NULL ? schema_validate(mem, reduced, json_null(), &failures) : AZ_SERVER_ERROR;
    *lost = *lost || st == AZ_SERVER_ERROR;
    return st != AZ_INVALID;
}

json_t *
tool_schema_drop_nulls(TALLOC_CTX *mem, const json_t *schema, json_t *arguments)
{
    const json_t *properties = json_object_get(schema, "properties");
    json_t *kept = NULL;
    const char *name;
    const json_t *value;
    bool lost = false;
    json_object_foreach (arguments, name, value) {
        const json_t *property = json_object_get(properties, name);
        if (!json_is_null(value) || property == NULL || is_required(schema, name)
            || admits_null(mem, schema, property, &lost))
            continue;
        if (kept == NULL && (kept = jsonx_own(mem, jsonx_copy(arguments))) == NULL)
            return NULL;
        json_object_del(kept, name);
    }
    return lost ? NULL : kept != NULL ? kept : arguments;
}

/* ---- the check */

static const char *
faults_text(TALLOC_CTX *mem, const char *heading, const json_t *failures)
{
    size_t index;
    const json_t *failure;
    BUF_AUTO text;
    buf_init(&text, mem, WHY_MAX);
    buf_append_text(&text, heading);
    json_array_foreach (failures, index, failure) {
        const char *path = json_string_value(json_object_get(failure, "path"));
        if (index == TOOL_FAULTS_SHOWN)
            break;
        buf_append_format(&text, "%s %s %s", index > 0 ? ";" : "",
                          path != NULL && *path != '\0' ? path : "the whole",
                          json_string_value(json_object_get(failure, "message")));
    }
    return buf_take(&text, NULL);
}

static enum az_status
check_value(TALLOC_CTX *mem, const char *heading, const json_t *schema, const json_t *value,
            const char **ret_why)
{
    json_t *failures = NULL, *reduced = tool_schema_reduce(mem, schema);
    enum az_status st =
        reduced != NULL ? schema_validate(mem, reduced, value, &failures) : AZ_SERVER_ERROR;
    if (st == AZ_INVALID && (*ret_why = faults_text(mem, heading, failures)) == NULL)
        st = AZ_SERVER_ERROR;
    return st;
}

enum az_status
tool_schema_check(TALLOC_CTX *mem, const json_t *schema, const json_t *arguments,
                  const char **ret_why)
{
    return check_value(mem, "The arguments do not match the tool's inputSchema:", schema, arguments,
                       ret_why);
}

enum az_status
tool_schema_check_result(TALLOC_CTX *mem, const json_t *schema, const json_t *content,
                         const char **ret_why)
{
    return check_value(mem,
                       "The answer of the upstream does not match the tool's outputSchema:", schema,
                       content, ret_why);
}
