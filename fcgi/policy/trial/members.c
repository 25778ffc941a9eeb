#include "config.h"

#include "policy/trial/members.h"

#include <stdlib.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "base/nearest.h"
#include "policy/catalogue/shipped_files.h"
#include "policy/rows/rule.h"
#include "rego/plan.h"

/* Schemas that a value may have at once: one of each input, and some for anyOf. More: not known. */
#define PLACES_MAX 16
/* References from a schema to a schema that are followed. */
#define REFERENCES_MAX 8
/* The package whose rules the service asks for with its own inputs. */
#define CUSTOM "custom"
/* The local of each function that holds the input. */
#define LOCAL_INPUT 0

/* The schemas of a value. */
struct value_type {
    size_t count; /* 0: not known */
    struct {
        const json_t *schema, *root; /* and the whole that its references are in */
    } place[PLACES_MAX];
    const char *name; /* as in input.client */
};

struct members {
    struct op *op;
    TALLOC_CTX *mem;
    json_t *schemas; /* by the name of the question: issue, register ... */
    const struct rego_plan *plan;
    const char **package;    /* by the number of a file: what is checked; NULL: nothing */
    struct value_type *type; /* of the local variables of the function that is read */
    unsigned *writes;        /* by local: statements of the block that write it */
    bool replaced;           /* the function replaces the input (`with`) */
    bool failed;             /* no memory */
    json_t *faults;
};

/* ---- words */

char *
members_text(TALLOC_CTX *mem, const char *whole, const char *parent, const char *const *names)
{
    const char *key = strrchr(whole, '.') != NULL ? strrchr(whole, '.') + 1 : whole;
    const char *near = nearest_words(mem, names, key);
    char *text = near != NULL ? talloc_asprintf(mem, "there is no %s; did you mean %s? %s has ",
                                                whole, near, parent)
                              : talloc_asprintf(mem, "there is no %s; %s has ", whole, parent);
    for (size_t i = 0; text != NULL && names[i] != NULL; i++)
        text = talloc_asprintf_append_buffer(text, "%s%s", i > 0 ? ", " : "", names[i]);
    return text;
}

/* ---- schemas */

/* Add a place of a value. More than fit: the value is not known. */
static void
add_place(struct value_type *type, const json_t *schema, const json_t *root, bool *open)
{
    for (unsigned i = 0; i < REFERENCES_MAX; i++) {
        const char *name = json_string_value(json_object_get(schema, "$ref"));
        if (name == NULL || strncmp(name, "#/$defs/", 8) != 0)
            break;
        schema = json_object_get(json_object_get(root, "$defs"), name + 8);
    }
    const json_t *any = json_object_get(schema, "anyOf"), *one;
    size_t i;
    json_array_foreach (any, i, one)
        add_place(type, one, root, open);
    if (any != NULL)
        return;
    if (!json_is_object(schema) || type->count == PLACES_MAX) {
        *open = true;
        return;
    }
    type->place[type->count].schema = schema;
    type->place[type->count++].root = root;
}

/* Return the type of the input of a package; without places for one whose inputs are not ours. */
static struct value_type
input_of(const struct members *members, const char *package)
{
    struct value_type type = {.count = 0, .name = "input"};
    const char *name, *rest = package + strlen(CUSTOM);
    bool open = false;
    json_t *schema = json_object_get(members->schemas, *rest == '.' ? rest + 1 : "");
    if (schema != NULL) {
        add_place(&type, schema, schema, &open);
    } else {
        json_object_foreach (members->schemas, name, schema)
            add_place(&type, schema, schema, &open);
    }
    return open ? (struct value_type){.count = 0} : type;
}

/* Return the type of the items of a list; not known if another value may be there. */
static struct value_type
items_of(const struct members *members, const struct value_type *list)
{
    struct value_type items = {.count = 0};
    bool open = false;
    for (size_t i = 0; i < list->count; i++) {
        const json_t *item = json_object_get(list->place[i].schema, "items");
        if (item == NULL)
            return (struct value_type){.count = 0};
        add_place(&items, item, list->place[i].root, &open);
    }
    if (open || items.count == 0)
        return (struct value_type){.count = 0};
    items.name = talloc_asprintf(members->mem, "%s[_]", list->name);
    return items;
}

/* Add the types that a member has. True: it is there, or may be. */
static bool
add_member(const struct value_type *value, const char *key, struct value_type *ret, bool *open)
{
    bool there = false;
    for (size_t i = 0; i < value->count; i++) {
        const json_t *schema = value->place[i].schema,
                     *properties = json_object_get(schema, "properties"),
                     *others = json_object_get(schema, "additionalProperties"),
                     *member = json_object_get(properties, key);
        if (member == NULL && !json_is_false(others)) {
            *open = true; /* a list, a value of any type, or an object of any members */
            return true;
        }
        if (member != NULL)
            add_place(ret, member, value->place[i].root, open);
        there = there || member != NULL;
    }
    return there;
}

static int
by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *) a, *(const char *const *) b);
}

/* Return the names of the members of a value, sorted and ended by NULL; NULL: no memory. */
static const char *const *
names_of(TALLOC_CTX *mem, const struct value_type *value)
{
    json_t *names = jsonx_own(mem, json_object()), *member;
    const char *name;
    size_t count = 0;
    for (size_t i = 0; names != NULL && i < value->count; i++)
        json_object_foreach (json_object_get(value->place[i].schema, "properties"), name, member)
            json_object_set_new(names, name, json_null());
    const char **ret = talloc_zero_array(mem, const char *, (unsigned) json_object_size(names) + 1);
    if (names == NULL || ret == NULL)
        return NULL;
    json_object_foreach (names, name, member)
        ret[count++] = name;
    qsort(ret, count, sizeof(*ret), by_name);
    return ret;
}

/* ---- statements */

static void
add_fault(struct members *members, const struct rego_statement *statement,
          const struct value_type *value, const char *whole)
{
    const char *const *names = names_of(members->mem, value);
    const char *text = whole != NULL && names != NULL
                           ? members_text(members->mem, whole, value->name, names)
                           : NULL;
    json_t *fault = json_pack("{s:s,s:I,s:s}", "path", members->plan->file[statement->file], "row",
                              (json_int_t) statement->row, "message", text != NULL ? text : ""),
           *other;
    size_t i;
    bool known = json_array_size(members->faults) >= MEMBERS_FAULTS_MAX;
    json_array_foreach (members->faults, i, other)
        known = known || json_equal(fault, other) != 0;
    members->failed = members->failed || text == NULL || fault == NULL
                      || (!known && json_array_append(members->faults, fault) != 0);
    json_decref(fault);
}

/* Return the type of what a statement reads by its key; a fault is added. */
static struct value_type
read_member(struct members *members, const struct rego_statement *statement,
            const struct value_type *value)
{
    const struct rego_value *key = statement->b.constant;
    struct value_type member = {.count = 0};
    bool open = false;
    if (key == NULL)
        return items_of(members, value);
    if (value->count == 0 || key->type != REGO_STRING || strlen(key->text) != key->count)
        return member;
    member.name = talloc_asprintf(members->mem, "%s.%s", value->name, key->text);
    if (!add_member(value, key->text, &member, &open))
        add_fault(members, statement, value, member.name);
    return open || member.name == NULL ? (struct value_type){.count = 0} : member;
}

/* Count what is written: a local that is written twice holds values of several types. */
static void
count_writes(struct members *members, const struct rego_block *block, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < block[i].count; k++) {
            const struct rego_statement *statement = &block[i].statement[k];
            if (statement->kind == REGO_WITH && statement->target == LOCAL_INPUT)
                members->replaced = true;
            if (statement->kind != REGO_BREAK)
                members->writes[statement->target]++;
            if (statement->kind == REGO_SCAN)
                members->writes[statement->b.local]++;
            if (rego_has_blocks(statement))
                count_writes(members, statement->block, statement->count);
        }
}

static void
read_blocks(struct members *members, const struct rego_block *block, uint32_t count)
{
    static const struct value_type unknown = {.count = 0};
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < block[i].count; k++) {
            const struct rego_statement *statement = &block[i].statement[k];
            const struct value_type *value =
                statement->a.constant == NULL ? &members->type[statement->a.local] : &unknown;
            struct value_type type = unknown;
            if (members->package[statement->file] == NULL)
                ; /* of another rule */
            else if (statement->kind == REGO_DOT)
                type = read_member(members, statement, value);
            else if (statement->kind == REGO_SCAN)
                type = items_of(members, value);
            else if (statement->kind == REGO_ASSIGN_VAR)
                type = *value;
            if (type.count > 0 && members->writes[statement->target] == 1)
                members->type[statement->target] = type;
            if (rego_has_blocks(statement))
                read_blocks(members, statement->block, statement->count);
        }
}

/* Return the package of a function, in which rules of several files may be; NULL: no rule of it is
 * checked. */
static const char *
package_of(const struct members *members, const struct rego_function *function)
{
    const char *package = NULL;
    for (uint32_t i = 0; i < function->blocks; i++)
        for (uint32_t k = 0; k < function->block[i].count && package == NULL; k++)
            package = members->package[function->block[i].statement[k].file];
    return package;
}

/* Read one block of a function, the body of one rule. The plan numbers the locals of each body
 * anew, so writes are counted for each. */
static void
read_rule(struct members *members, const struct rego_function *function, const char *package,
          uint32_t block)
{
    memset(members->type, 0, (function->locals + 1) * sizeof(*members->type));
    memset(members->writes, 0, (function->locals + 1) * sizeof(*members->writes));
    count_writes(members, &function->block[block], 1);
    members->type[LOCAL_INPUT] = input_of(members, package);
    read_blocks(members, &function->block[block], 1);
}

static void
read_function(struct members *members, const struct rego_function *function)
{
    const char *package = package_of(members, function);
    if (package == NULL || function->params == 0)
        return;
    members->type = talloc_zero_array(members->mem, struct value_type, function->locals + 1);
    members->writes = talloc_zero_array(members->mem, unsigned, function->locals + 1);
    members->failed = members->type == NULL || members->writes == NULL;
    if (members->failed)
        return;
    members->replaced = false;
    count_writes(members, function->block, function->blocks);
    for (uint32_t i = 0; i < function->blocks && !members->replaced; i++)
        read_rule(members, function, package, i);
    talloc_free(members->type);
    talloc_free(members->writes);
}

/* ---- rules */

/* Return the package of a rule that is marked, if its inputs are ours; NULL otherwise. */
static const char *
package_at(struct members *members, const struct bundle_rows *rows, const bool *marked,
           const char *file)
{
    const size_t length = strlen(CUSTOM);
    const char *package = NULL;
    for (size_t i = 0; i < rows->rules; i++)
        if (marked[i] && strcmp(rows->rule_path[i], file) == 0
            && strcmp(rule_kind(file), "rego") == 0
            && rule_package(members->mem, rows->rule_content[i], &package) == RULE_PACKAGE_NAMED
            && strncmp(package, CUSTOM, length) == 0
            && (package[length] == '\0' || package[length] == '.'))
            return package;
    return NULL;
}

/* Find the files to check. True: there is one, and there is memory. */
static bool
find_files(struct members *members, const struct bundle_rows *rows, const bool *marked)
{
    bool some = false;
    members->package = talloc_zero_array(members->mem, const char *, members->plan->files + 1);
    members->failed = members->package == NULL;
    for (uint32_t i = 0; !members->failed && i < members->plan->files; i++) {
        members->package[i] = package_at(members, rows, marked, members->plan->file[i]);
        some = some || members->package[i] != NULL;
    }
    return some;
}

static enum az_status
take_schema(struct op *op, void *arg, const char *name, const char *text)
{
    struct members *members = arg;
    const char *base = strrchr(name, '/') != NULL ? strrchr(name, '/') + 1 : name, *why = NULL;
    char *key = talloc_strndup(members->mem, base, strlen(base) - strlen(".json"));
    json_t *schema = NULL;
    if (jsonx_parse(members->mem, text, strlen(text), SHIPPED_DEPTH_MAX, &schema, &why) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "%s: %s; check SVC_DATA_DIR", name, why);
    members->failed =
        members->failed || key == NULL || json_object_set(members->schemas, key, schema) != 0;
    return AZ_OK;
}

static enum az_status
find(struct members *members, const struct bundle_rows *rows, const bool *marked)
{
    enum az_status st = AZ_OK;
    if (find_files(members, rows, marked))
        st = shipped_each(members->op, "inputs", ".json", take_schema, members);
    else
        return members->failed ? AZ_SERVER_ERROR : AZ_OK;
    for (uint32_t i = 0; st == AZ_OK && !members->failed && i < members->plan->functions; i++)
        read_function(members, &members->plan->function[i]);
    return st;
}

enum az_status
members_find(struct op *op, const struct bundle_rows *rows, const bool *marked,
             const struct rego_plan *plan, json_t **ret)
{
    TALLOC_CTX *mem = talloc_new(op->mem);
    struct members members = {.op = op,
                              .mem = mem,
                              .plan = plan,
                              .schemas = jsonx_own(mem, json_object()),
                              .faults = jsonx_own(op->mem, json_array())};
    enum az_status st = AZ_OK;
    *ret = NULL;
    members.failed = mem == NULL || members.schemas == NULL || members.faults == NULL;
    if (!members.failed)
        st = find(&members, rows, marked);
    if (st == AZ_OK && json_array_size(members.faults) > 0)
        *ret = members.faults;
    talloc_free(mem);
    return members.failed ? op_no_memory(op) : st;
}
