#include "config.h"

#include "base/json/schema/json_schema.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/json/schema/schema_keywords.h"
#include "base/json/schema/schema_value.h"

/* ---- references ---- */

#define REFERENCE "#/$defs/"

/* Return the name of the definition that a `$ref` refers to, or NULL. Names that a JSON Pointer or
 * a URI fragment would escape are refused instead of decoded. */
static const char *
reference_name(const json_t *reference)
{
    const char *text = json_string_value(reference);
    if (text == NULL || strncmp(text, REFERENCE, strlen(REFERENCE)) != 0
        || strpbrk(text + strlen(REFERENCE), "/~%") != NULL)
        return NULL;
    return text + strlen(REFERENCE);
}

static const json_t *
find_definition(const json_t *root, const char *name)
{
    return name != NULL ? json_object_get(json_object_get(root, "$defs"), name) : NULL;
}

const json_t *
schema_follow(const json_t *root, const json_t *schema)
{
    const json_t *reference;
    while ((reference = json_object_get(schema, "$ref")) != NULL)
        schema = find_definition(root, reference_name(reference));
    return schema;
}

/* ---- validation ---- */

static void check_site(struct schema_failures *failures, const struct schema_site *site);

/* Check the value at `place`, which is part of the site's value. */
static void
check_part(struct schema_failures *failures, const struct schema_site *site, const json_t *schema,
           const json_t *value, const struct schema_place *place)
{
    check_site(failures, &(struct schema_site){site->root, schema, value, place});
}

static void
apply_properties(struct schema_failures *failures, const struct schema_site *site,
                 const json_t *rule)
{
    const char *name;
    json_t *schema;
    json_object_foreach (schema_plain(rule), name, schema) {
        const json_t *value = json_object_get(site->value, name);
        const struct schema_place place = {site->place, name, 0};
        if (value != NULL)
            check_part(failures, site, schema, value, &place);
    }
}

static void
apply_additional(struct schema_failures *failures, const struct schema_site *site,
                 const json_t *rule)
{
    const json_t *named = json_object_get(site->schema, "properties");
    const char *name;
    json_t *value;
    json_object_foreach (schema_plain(site->value), name, value) {
        const struct schema_place place = {site->place, name, 0};
        if (json_object_get(named, name) == NULL)
            check_part(failures, site, rule, value, &place);
    }
}

static void
apply_items(struct schema_failures *failures, const struct schema_site *site, const json_t *rule)
{
    size_t index;
    const json_t *item;
    json_array_foreach (site->value, index, item) {
        const struct schema_place place = {site->place, NULL, index};
        check_part(failures, site, rule, item, &place);
    }
}

/*
 * One branch must match. If only one branch is for values of this type, its writer meant that one,
 * and its failures are reported. Each branch is walked once, so that nested ones do not multiply.
 */
static void
apply_branches(struct schema_failures *failures, const struct schema_site *site, const json_t *rule)
{
    size_t index, meant = 0;
    const json_t *branch;
    json_auto_t *reported = NULL; /* failures of the first branch for this type */
    json_array_foreach (rule, index, branch) {
        const json_t *type = json_object_get(schema_follow(site->root, branch), "type");
        struct schema_failures inner = {failures->mem, json_array(), false};
        check_part(&inner, site, branch, site->value, site->place);
        failures->out_of_memory |= inner.out_of_memory || inner.list == NULL;
        bool matches = json_array_size(inner.list) == 0;
        if (!matches && (type == NULL || schema_type_admits(type, site->value)) && meant++ == 0)
            reported = json_incref(inner.list);
        json_decref(inner.list);
        if (matches)
            return;
    }
    if (meant != 1)
        schema_fail(failures, site->place, "matches none of the allowed forms");
    else
        schema_failures_append(failures, reported);
}

static void
check_keyword(struct schema_failures *failures, const struct schema_site *site,
              const struct schema_keyword *keyword, const json_t *rule)
{
    static void (*const apply[SCHEMA_APPLIES])(struct schema_failures *, const struct schema_site *,
                                               const json_t *) = {
        [APPLIES_PROPERTIES] = apply_properties,
        [APPLIES_ADDITIONAL] = apply_additional,
        [APPLIES_ITEMS] = apply_items,
        [APPLIES_BRANCHES] = apply_branches,
    };
    if ((keyword->types & 1U << json_typeof(site->value)) == 0)
        return;
    if (keyword->check != NULL)
        keyword->check(failures, site, rule);
    if (apply[keyword->applies] != NULL)
        apply[keyword->applies](failures, site, rule);
}

static void
check_site(struct schema_failures *failures, const struct schema_site *outer)
{
    struct schema_site site = *outer;
    const char *name;
    json_t *rule;
    if (schema_failures_full(failures))
        return;
    site.schema = schema_follow(site.root, site.schema);
    if (json_is_false(site.schema))
        schema_fail(failures, site.place, "is not allowed here");
    /* A value of the wrong type would break other rules too; reporting those adds nothing. */
    const json_t *type = json_object_get(site.schema, "type");
    if (type != NULL && !schema_type_admits(type, site.value)) {
        check_keyword(failures, &site, schema_keyword_find("type"), type);
        return;
    }
    json_object_foreach (schema_plain(site.schema), name, rule) {
        const struct schema_keyword *keyword = schema_keyword_find(name);
        if (keyword != NULL)
            check_keyword(failures, &site, keyword, rule);
    }
}

/* ---- faults of a schema ---- */

/* A reference being followed. */
struct reference {
    const struct reference *up; /* the one that led to it, or NULL */
    const char *name;           /* of its definition */
};

/* The search for a fault. */
struct search {
    TALLOC_CTX *mem;
    const json_t *root; /* the whole schema */
    size_t left;        /* sub-schemas that may still be visited */
};

/* A sub-schema of the search. */
struct spot {
    const json_t *schema;
    const char *where;                  /* its place, as a JSON Pointer */
    size_t depth;                       /* 0: the whole schema */
    const struct reference *references; /* being followed */
};

static const char *find_schema_fault(struct search *search, const struct spot *spot);

static const char *
find_part_fault(struct search *search, const struct spot *spot, const json_t *part,
                const char *where)
{
    return find_schema_fault(search,
                             &(struct spot){part, where, spot->depth + 1, spot->references});
}

/* Return the first fault in the schemas that a keyword holds. */
static const char *
find_inner_fault(struct search *search, const struct spot *spot, enum schema_applies applies,
                 const json_t *rule, const char *where)
{
    const char *name, *why = NULL;
    json_t *inner;
    size_t index;
    switch (applies) {
    case APPLIES_ADDITIONAL:
    case APPLIES_ITEMS:
        return find_part_fault(search, spot, rule, where);
    case APPLIES_BRANCHES:
        json_array_foreach (rule, index, inner)
            if (why == NULL)
                why = find_part_fault(search, spot, inner,
                                      talloc_asprintf(search->mem, "%s/%zu", where, index));
        return why;
    case APPLIES_PROPERTIES:
    case APPLIES_BY_REFERENCE:
        json_object_foreach (schema_plain(rule), name, inner)
            if (why == NULL)
                why = find_part_fault(search, spot, inner,
                                      talloc_asprintf(search->mem, "%s/%s", where, name));
        return why;
    case APPLIES_NONE:
    case SCHEMA_APPLIES:
        break;
    }
    return NULL;
}

/* Follow a reference: the definition counts as nested in each schema that refers to it. */
static const char *
find_reference_fault(struct search *search, const struct spot *spot, const json_t *reference)
{
    const struct reference here = {spot->references, reference_name(reference)};
    const char *why = NULL;
    if (json_object_size(spot->schema) > 1)
        why = "has members beside it";
    else if (here.name == NULL)
        why = "not a reference to " REFERENCE "name";
    else if (find_definition(search->root, here.name) == NULL)
        why = "refers to no definition";
    for (const struct reference *outer = here.up; why == NULL && outer != NULL; outer = outer->up)
        if (strcmp(outer->name, here.name) == 0)
            why = "refers to a definition that contains it";
    if (why != NULL)
        return talloc_asprintf(search->mem, "%s/$ref: %s", spot->where, why);
    return find_schema_fault(
        search, &(struct spot){find_definition(search->root, here.name),
                               talloc_strdup(search->mem, json_string_value(reference)),
                               spot->depth + 1, &here});
}

static const char *
find_keyword_fault(struct search *search, const struct spot *spot, const char *name,
                   const json_t *rule)
{
    const struct schema_keyword *keyword = schema_keyword_find(name);
    const char *where = talloc_asprintf(search->mem, "%s/%s", spot->where, name), *why = NULL;
    if (keyword == NULL)
        why = "unknown keyword";
    else if (keyword->applies == APPLIES_BY_REFERENCE && spot->depth > 0)
        why = "only the top of a schema has definitions";
    else if (keyword->fault != NULL)
        why = keyword->fault(rule);
    return why != NULL ? talloc_asprintf(search->mem, "%s: %s", where, why)
                       : find_inner_fault(search, spot, keyword->applies, rule, where);
}

static const char *
find_schema_fault(struct search *search, const struct spot *spot)
{
    const char *name, *why = NULL;
    json_t *rule;
    if (json_is_boolean(spot->schema))
        return NULL;
    if (!json_is_object(spot->schema))
        why = "not a schema";
    else if (spot->depth > SCHEMA_DEPTH_MAX)
        why = "nested too deeply";
    else if (search->left-- == 0)
        why = "too many schemas";
    if (why != NULL)
        return talloc_asprintf(search->mem, "%s: %s", spot->where, why);
    if ((rule = json_object_get(spot->schema, "$ref")) != NULL)
        return find_reference_fault(search, spot, rule);
    json_object_foreach (schema_plain(spot->schema), name, rule)
        if (why == NULL)
            why = find_keyword_fault(search, spot, name, rule);
    return why;
}

const char *
schema_fault(TALLOC_CTX *mem, const json_t *schema)
{
    struct search search = {mem, schema, SCHEMA_SIZE_MAX};
    return find_schema_fault(&search, &(struct spot){.schema = schema, .where = "#"});
}

enum az_status
schema_validate(TALLOC_CTX *mem, const json_t *schema, const json_t *value, json_t **ret_failures)
{
    TALLOC_CTX *scratch = talloc_new(mem);
    struct schema_failures failures = {scratch, jsonx_own(mem, json_array()), false};
    bool sound = scratch != NULL && failures.list != NULL && schema_fault(scratch, schema) == NULL;
    if (sound)
        check_site(&failures, &(struct schema_site){schema, schema, value, NULL});
    talloc_free(scratch);
    if (!sound || failures.out_of_memory)
        return AZ_SERVER_ERROR;
    if (json_array_size(failures.list) == 0)
        return AZ_OK;
    *ret_failures = failures.list;
    return AZ_INVALID;
}
