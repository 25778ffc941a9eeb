#include "config.h"

#include "policy/rows/schema.h"

#include <string.h>

#include "base/buf.h"
#include "base/jsonx.h"
#include "policy/rows/schema_private.h"

/* One name as a reference token of RFC 6901 section 3. */
static void
append_token(struct buf *pointer, const struct schema_place *place)
{
    buf_append_char(pointer, '/');
    if (place->name == NULL)
        buf_append_format(pointer, "%zu", place->index);
    for (const char *c = place->name; c != NULL && *c != '\0' && pointer->status == AZ_OK; c++)
        if (*c == '~' || *c == '/')
            buf_append_text(pointer, *c == '~' ? "~0" : "~1");
        else
            buf_append_char(pointer, *c);
}

static void
append_pointer(struct buf *pointer, const struct schema_place *place)
{
    if (place == NULL)
        return;
    append_pointer(pointer, place->up);
    append_token(pointer, place);
}

/* The pointer to a place, or to the nearest ancestor whose pointer is short enough. */
static json_t *
make_pointer(struct schema_walk *walk, const struct schema_place *place)
{
    for (; place != NULL; place = place->up) {
        BUF_AUTO pointer;
        buf_init(&pointer, walk->mem, SCHEMA_PATH_MAX);
        append_pointer(&pointer, place);
        if (pointer.status == AZ_OK)
            return json_stringn(pointer.data, pointer.len);
        walk->out_of_memory |= pointer.status == AZ_SERVER_ERROR;
    }
    return json_string("");
}

static bool
walk_is_over(const struct schema_walk *walk)
{
    return walk->out_of_memory || json_array_size(walk->failures) >= SCHEMA_FAILURES_MAX;
}

void
schema_walk_fail(struct schema_walk *walk, const struct schema_place *place, const char *message)
{
    if (walk_is_over(walk))
        return;
    json_t *failure = message != NULL ? json_pack("{s:o,s:s}", "path", make_pointer(walk, place),
                                                  "message", message)
                                      : NULL;
    if (json_array_append_new(walk->failures, failure) != 0)
        walk->out_of_memory = true;
}

void
schema_walk_fail_rule(struct schema_walk *walk, const struct schema_place *place, const char *what,
                      const json_t *rule, const char *unit)
{
    const char *text = json_is_string(rule) ? json_string_value(rule) : jsonx_dump(walk->mem, rule);
    schema_walk_fail(walk, place,
                     text != NULL ? talloc_asprintf(walk->mem, "%s %s%s", what, text, unit) : NULL);
}

void
schema_walk_append(struct schema_walk *walk, const json_t *failures)
{
    size_t index;
    const json_t *failure;
    json_array_foreach (failures, index, failure)
        if (!walk_is_over(walk) && json_array_append(walk->failures, schema_plain(failure)) != 0)
            walk->out_of_memory = true;
}

void
schema_walk_value(struct schema_walk *walk, const json_t *schema, const json_t *value,
                  const struct schema_place *place)
{
    const struct schema_site site = {schema, value, place};
    const json_t *type = json_object_get(schema, "type");
    const char *name;
    json_t *rule;
    if (walk_is_over(walk))
        return;
    if (json_is_false(schema))
        schema_walk_fail(walk, place, "is not allowed here");
    /* A value of the wrong type would break the other rules too, which says nothing new. */
    if (type != NULL && !schema_type_admits(type, value)) {
        schema_keyword_find("type")->check(walk, &site, type);
        return;
    }
    json_object_foreach (schema_plain(schema), name, rule) {
        const struct schema_keyword *keyword = schema_keyword_find(name);
        if (keyword != NULL && keyword->check != NULL && keyword->types & 1U << json_typeof(value))
            keyword->check(walk, &site, rule);
    }
}

static const char *find_fault(TALLOC_CTX *mem, const json_t *schema, const char *where,
                              size_t depth);

/* The schemas that a keyword's value holds. */
static const char *
find_inner_fault(TALLOC_CTX *mem, enum schema_holds holds, const json_t *rule, const char *where,
                 size_t depth)
{
    const char *name, *why = NULL;
    json_t *inner;
    size_t index;
    if (holds == HOLDS_SCHEMA)
        return find_fault(mem, rule, where, depth + 1);
    if (holds == HOLDS_SCHEMA_LIST)
        json_array_foreach (rule, index, inner)
            if (why == NULL)
                why =
                    find_fault(mem, inner, talloc_asprintf(mem, "%s/%zu", where, index), depth + 1);
    if (holds == HOLDS_SCHEMA_MAP)
        json_object_foreach (schema_plain(rule), name, inner)
            if (why == NULL)
                why = find_fault(mem, inner, talloc_asprintf(mem, "%s/%s", where, name), depth + 1);
    return why;
}

static const char *
find_fault(TALLOC_CTX *mem, const json_t *schema, const char *where, size_t depth)
{
    const char *name, *why = NULL;
    json_t *rule;
    if (json_is_boolean(schema))
        return NULL;
    if (!json_is_object(schema) || depth > SCHEMA_DEPTH_MAX)
        return talloc_asprintf(mem, "%s: %s", where,
                               depth > SCHEMA_DEPTH_MAX ? "nested too deeply" : "not a schema");
    json_object_foreach (schema_plain(schema), name, rule) {
        const struct schema_keyword *keyword = schema_keyword_find(name);
        const char *place = talloc_asprintf(mem, "%s/%s", where, name);
        if (keyword == NULL)
            return talloc_asprintf(mem, "%s: unknown keyword", place);
        if (keyword->fault != NULL && (why = keyword->fault(rule)) != NULL)
            return talloc_asprintf(mem, "%s: %s", place, why);
        if ((why = find_inner_fault(mem, keyword->holds, rule, place, depth)) != NULL)
            return why;
    }
    return NULL;
}

const char *
schema_fault(TALLOC_CTX *mem, const json_t *schema)
{
    return find_fault(mem, schema, "#", 0);
}

enum az_status
schema_validate(TALLOC_CTX *mem, const json_t *schema, const json_t *value, json_t **ret_failures)
{
    struct schema_walk walk = {mem, jsonx_own(mem, json_array()), false};
    TALLOC_CTX *scratch = talloc_new(mem);
    bool sound = scratch != NULL && walk.failures != NULL && schema_fault(scratch, schema) == NULL;
    walk.mem = scratch;
    if (sound)
        schema_walk_value(&walk, schema, value, NULL);
    talloc_free(scratch);
    if (!sound || walk.out_of_memory)
        return AZ_SERVER_ERROR;
    if (json_array_size(walk.failures) == 0)
        return AZ_OK;
    *ret_failures = walk.failures;
    return AZ_INVALID;
}
