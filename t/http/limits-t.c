/* Field limits everywhere: each text, list and object of a JSON body has a limit of its own, or is
 * named here with what limits it. */
#include "config.h"

#include <string.h>
#include <talloc.h>

#include "base/json/jsonx.h"
#include "http/route.h"
#include "tap.h"

/* clang-format off */
/* Members that their table does not limit. All are within the body of the request, whose octets and
 * nesting are limited (HTTP_ADMIN_BODY_MAX, HTTP_ACCESS_BODY_MAX, HTTP_JSON_DEPTH_MAX). */
static const struct {
    const char *table, *member, *reason;
} exceptions[] = {
    {"ClientDto", "softwareStatement", "its text has at most SOFTWARE_STATEMENT_CLAIMS_MAX octets"},
    {"PolicyDataDto", "payload", "the body is smaller than the largest row"},
    {"PolicyEvaluationRequest", "input", "policy reads any members, and the engine's time is limited"},
    {"PolicyChanges", "rules", "its items are read as those of a deploy"},
    {"PolicyChanges", "data", "so are its items"},
    {"ToolTrial", "arguments", "the schema of the tool says which there may be"},
    {"PolicyImpactRequest", "rules", "its items are read as those of a deploy"},
    {"PolicyImpactRequest", "data", "so are its items"},
    {"PolicyImpactRequest", "rule", "it is read as an item of rules"},
    {"PolicyImpactRequest", "row", "it is read as an item of data"},
    {"PolicyImpactRequest", "limits", "each of its names is one of seven (impact_limits.c)"},
    {"ImpactLimits", "limits", "each of its names is one of seven (impact_limits.c)"},
    {"PolicyImpactPatch", "merge", "the body is smaller than the largest row"},
    {"PolicyShadowRequest", "rules", "its items are read as those of a deploy"},
    {"PolicyShadowRequest", "data", "so are its items"},
    {"AccessEntity", "properties", "rules of the operator read any members"},
    {"AccessAction", "properties", "rules of the operator read any members"},
    {"AccessRequest", "context", "rules of the operator read any members"},
    {"AccessRequests", "context", "rules of the operator read any members"},
    {"AccessEvaluation", "context", "rules of the operator read any members"},
};
/* clang-format on */

#define EXCEPTIONS (sizeof(exceptions) / sizeof(exceptions[0]))
#define TABLES_MAX 64

static bool used[EXCEPTIONS];
static const struct field_table *seen[TABLES_MAX];
static size_t tables;

static const char *
name_of(const struct field_table *table)
{
    return table->name != NULL ? table->name : "(a table without a name)";
}

static bool
is_exception(const struct field_table *table, const struct field *field)
{
    for (size_t i = 0; i < EXCEPTIONS; i++)
        if (strcmp(exceptions[i].table, name_of(table)) == 0
            && strcmp(exceptions[i].member, field->name) == 0)
            return used[i] = true;
    return false;
}

/* True if the reader of the table limits the value. The members of an object with a shape are
 * limited there; the rules of jwks and authorizeParams count members. */
static bool
is_limited(const struct field *field)
{
    switch (field->kind) {
    case FIELD_TEXT:
        return field->max > 0 || field->words != NULL;
    case FIELD_TEXT_LIST:
        return field->max > 0 && (field->item_max > 0 || field->words != NULL);
    case FIELD_ARRAY:
        return field->max > 0 && field->shape != NULL;
    case FIELD_OBJECT:
        return field->shape != NULL || field->rule != NULL;
    default:
        return true;
    }
}

/* ---- at the limit, and one past it */

/* The path of a member or item, the limit that its fault names, and if that fault was told. */
struct past {
    const char *path, *why;
    bool told;
};

static void
note_fault(void *arg, const char *path, const char *why)
{
    struct past *past = arg;
    past->told = past->told || (strcmp(path, past->path) == 0 && strcmp(why, past->why) == 0);
}

/* True if the reader says that the value, whose reference is taken, is past the limit. */
static bool
is_past(TALLOC_CTX *mem, const struct field_table *table, const struct field *field, bool item,
        json_t *value, int64_t limit, const char *unit)
{
    struct past past = {talloc_asprintf(mem, item ? "%s[0]" : "%s", field->name),
                        talloc_asprintf(mem, "must have at most %d %s", (int) limit, unit), false};
    json_t *object = jsonx_own(mem, json_pack("{s:o}", field->name, value));
    fields_read(mem, table, object, note_fault, &past, NULL, NULL);
    return past.told;
}

static json_t *
text_of(TALLOC_CTX *mem, int64_t length)
{
    char *text = talloc_size(mem, (size_t) length);
    memset(text, 'x', (size_t) length);
    return json_stringn(text, (size_t) length);
}

static json_t *
list_of(int64_t length)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < length; i++)
        json_array_append_new(list, json_string("x"));
    return list;
}

static void
check_limits(const struct field_table *table, const struct field *field)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    int64_t max = field->max, each = (int64_t) field->item_max;
    bool list = field->kind == FIELD_TEXT_LIST || field->kind == FIELD_ARRAY;
    if (field->kind == FIELD_TEXT && max > 0)
        ok(!is_past(mem, table, field, false, text_of(mem, max), max, "characters")
               && is_past(mem, table, field, false, text_of(mem, max + 1), max, "characters"),
           "%s: %s may have %d characters, and not one more", name_of(table), field->name,
           (int) max);
    if (list && max > 0)
        ok(!is_past(mem, table, field, false, list_of(max), max, "items")
               && is_past(mem, table, field, false, list_of(max + 1), max, "items"),
           "%s: %s may have %d items, and not one more", name_of(table), field->name, (int) max);
    if (list && each > 0)
        ok(!is_past(mem, table, field, true, json_pack("[o]", text_of(mem, each)), each,
                    "characters")
               && is_past(mem, table, field, true, json_pack("[o]", text_of(mem, each + 1)), each,
                          "characters"),
           "%s: an item of %s may have %d characters, and not one more", name_of(table),
           field->name, (int) each);
    talloc_free(mem);
}

static void
check_table(const struct field_table *table)
{
    for (size_t i = 0; i < tables; i++)
        if (seen[i] == table)
            return;
    if (!ok(tables < TABLES_MAX, "%s: the test has room for the table", name_of(table)))
        return;
    seen[tables++] = table;
    for (size_t i = 0; i < table->count; i++) {
        const struct field *field = &table->row[i];
        ok(is_limited(field) || is_exception(table, field), "%s: %s has a limit (specification 8)",
           name_of(table), field->name);
        ok(field->help != NULL || field->words != NULL || field->shape != NULL,
           "%s: %s has a meaning in the description of the interface", name_of(table), field->name);
        ok(!field->required || field->example != NULL || field->shape != NULL,
           "%s: %s is required and has an example", name_of(table), field->name);
        check_limits(table, field);
        if (field->shape != NULL)
            check_table(field->shape);
    }
}

int
main(void)
{
    plan(0);
    for (size_t i = 0; i < routes_count; i++)
        if (routes[i].fields != NULL)
            check_table(routes[i].fields);
    ok(tables > 10, "the tables of the bodies were found");
    for (size_t i = 0; i < EXCEPTIONS; i++)
        ok(used[i], "%s: %s is an exception: %s", exceptions[i].table, exceptions[i].member,
           exceptions[i].reason);
    return done();
}
