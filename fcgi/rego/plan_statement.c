/* Statements of plans. */
#include "config.h"

#include "rego/plan_private.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "rego/builtins.h"

/* Ways in which a member of a statement is read. */
enum plan_way {
    WAY_NONE,
    WAY_OPERAND, /* {"type", "value"}: a local, a string or a boolean */
    WAY_LOCAL,   /* the number of a local */
};

/* The statements that have nothing but operands, a target and a block. */
struct plan_row {
    const char *name; /* member `type` */
    enum rego_kind kind;
    const char *target; /* member with the local that is written, or NULL */
    enum plan_way way_a;
    const char *a;
    enum plan_way way_b;
    const char *b;
    bool block; /* member `block` */
};

static const struct plan_row plan_rows[] = {
    {"ReturnLocalStmt",      REGO_RETURN,             NULL,     WAY_LOCAL,   "source", WAY_NONE,    NULL,    false},
    {"DotStmt",              REGO_DOT,                "target", WAY_OPERAND, "source", WAY_OPERAND, "key",   false},
    {"LenStmt",              REGO_LEN,                "target", WAY_OPERAND, "source", WAY_NONE,    NULL,    false},
    {"ScanStmt",             REGO_SCAN,               "value",  WAY_LOCAL,   "source", WAY_LOCAL,   "key",   true },
    {"NotStmt",              REGO_NOT,                NULL,     WAY_NONE,    NULL,     WAY_NONE,    NULL,    true },
    {"AssignVarStmt",        REGO_ASSIGN_VAR,         "target", WAY_OPERAND, "source", WAY_NONE,    NULL,    false},
    {"AssignVarOnceStmt",    REGO_ASSIGN_VAR_ONCE,    "target", WAY_OPERAND, "source", WAY_NONE,    NULL,
     false                                                                                                        },
    {"ResetLocalStmt",       REGO_RESET_LOCAL,        "target", WAY_NONE,    NULL,     WAY_NONE,    NULL,    false},
    {"MakeArrayStmt",        REGO_MAKE_ARRAY,         "target", WAY_NONE,    NULL,     WAY_NONE,    NULL,    false},
    {"MakeObjectStmt",       REGO_MAKE_OBJECT,        "target", WAY_NONE,    NULL,     WAY_NONE,    NULL,    false},
    {"MakeSetStmt",          REGO_MAKE_SET,           "target", WAY_NONE,    NULL,     WAY_NONE,    NULL,    false},
    {"EqualStmt",            REGO_EQUAL,              NULL,     WAY_OPERAND, "a",      WAY_OPERAND, "b",     false},
    {"NotEqualStmt",         REGO_NOT_EQUAL,          NULL,     WAY_OPERAND, "a",      WAY_OPERAND, "b",     false},
    {"IsArrayStmt",          REGO_IS_ARRAY,           NULL,     WAY_OPERAND, "source", WAY_NONE,    NULL,    false},
    {"IsObjectStmt",         REGO_IS_OBJECT,          NULL,     WAY_OPERAND, "source", WAY_NONE,    NULL,    false},
    {"IsSetStmt",            REGO_IS_SET,             NULL,     WAY_OPERAND, "source", WAY_NONE,    NULL,    false},
    {"IsDefinedStmt",        REGO_IS_DEFINED,         NULL,     WAY_LOCAL,   "source", WAY_NONE,    NULL,    false},
    {"IsUndefinedStmt",      REGO_IS_UNDEFINED,       NULL,     WAY_LOCAL,   "source", WAY_NONE,    NULL,    false},
    {"ArrayAppendStmt",      REGO_ARRAY_APPEND,       "array",  WAY_OPERAND, "value",  WAY_NONE,    NULL,    false},
    {"ObjectInsertStmt",     REGO_OBJECT_INSERT,      "object", WAY_OPERAND, "key",    WAY_OPERAND, "value",
     false                                                                                                        },
    {"ObjectInsertOnceStmt", REGO_OBJECT_INSERT_ONCE, "object", WAY_OPERAND, "key",    WAY_OPERAND,
     "value",                                                                                                false},
    {"ObjectMergeStmt",      REGO_OBJECT_MERGE,       "target", WAY_LOCAL,   "a",      WAY_LOCAL,   "b",     false},
    {"SetAddStmt",           REGO_SET_ADD,            "set",    WAY_OPERAND, "value",  WAY_NONE,    NULL,    false},
    {"WithStmt",             REGO_WITH,               "local",  WAY_OPERAND, "value",  WAY_NONE,    NULL,    true },
    {"ResultSetAddStmt",     REGO_RESULT_SET_ADD,     NULL,     WAY_LOCAL,   "value",  WAY_NONE,    NULL,    false},
    {"NopStmt",              REGO_NOP,                NULL,     WAY_NONE,    NULL,     WAY_NONE,    NULL,    false},
};

bool
plan_refuse(struct plan_reader *reader, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (reader->why[0] == '\0')
        utf8_vprint(reader->why, PLAN_WHY_SIZE, format, args);
    va_end(args);
    return false;
}

void *
plan_take(struct plan_reader *reader, size_t octets)
{
    void *taken = rego_take(reader->arena, octets);
    if (taken == NULL)
        plan_refuse(reader, "the plan needs more memory than it may have");
    return taken;
}

const struct rego_value *
plan_member(const struct rego_value *object, const char *name)
{
    return object != NULL && object->type == REGO_OBJECT ? rego_get_text(object, name) : NULL;
}

size_t
plan_count(const struct rego_value *array)
{
    return array != NULL && array->type == REGO_ARRAY ? array->count : 0;
}

const struct rego_value *
plan_item(const struct rego_value *array, size_t at)
{
    return at < plan_count(array) ? array->item[at] : NULL;
}

const char *
plan_text(const struct rego_value *value)
{
    bool text = value != NULL && value->type == REGO_STRING
                && memchr(value->text, '\0', value->count) == NULL;
    return text ? value->text : NULL;
}

/* Read a number up to a limit. */
static bool
read_number_of(struct plan_reader *reader, const struct rego_value *value, const char *name,
               uint64_t most, uint32_t *ret)
{
    if (value == NULL || value->type != REGO_NUMBER || value->decimal || value->integer < 0
        || (uint64_t) value->integer > most)
        return plan_refuse(reader, "%s is no number from 0 to %llu", name,
                           (unsigned long long) most);
    *ret = (uint32_t) value->integer;
    return true;
}

static bool
read_index(struct plan_reader *reader, const struct rego_value *json, const char *name,
           uint64_t most, uint32_t *ret)
{
    return read_number_of(reader, plan_member(json, name), name, most, ret);
}

bool
plan_number(struct plan_reader *reader, uint32_t local, uint32_t *ret)
{
    if (local >= reader->highest)
        return plan_refuse(reader, "a local variable has the number %u", local);
    if (reader->renumbered[local] == 0)
        reader->renumbered[local] = ++reader->now->locals;
    *ret = reader->renumbered[local] - 1;
    return true;
}

bool
plan_read_local_of(struct plan_reader *reader, const struct rego_value *value, uint32_t *ret)
{
    uint32_t local = 0;
    return read_number_of(reader, value, "a local variable", PLAN_LOCAL_MAX, &local)
           && plan_number(reader, local, ret);
}

bool
plan_read_local(struct plan_reader *reader, const struct rego_value *json, const char *name,
                uint32_t *ret)
{
    uint32_t local = 0;
    return read_index(reader, json, name, PLAN_LOCAL_MAX, &local)
           && plan_number(reader, local, ret);
}

static bool
read_operand(struct plan_reader *reader, const struct rego_value *json, struct rego_operand *ret)
{
    const char *type = plan_text(plan_member(json, "type"));
    const struct rego_value *value = plan_member(json, "value");
    uint32_t at = 0;
    if (type != NULL && strcmp(type, "local") == 0)
        return plan_read_local(reader, json, "value", &ret->local);
    if (type != NULL && strcmp(type, "bool") == 0 && value != NULL && value->type == REGO_BOOLEAN) {
        ret->constant = rego_boolean(value->boolean);
        return true;
    }
    if (type == NULL || strcmp(type, "string_index") != 0 || reader->strings == 0)
        return plan_refuse(reader, "an operand has an unknown type");
    if (!read_index(reader, json, "value", reader->strings - 1, &at))
        return false;
    ret->constant = reader->string[at];
    return true;
}

static bool
read_way(struct plan_reader *reader, const struct rego_value *json, enum plan_way way,
         const char *name, struct rego_operand *ret)
{
    if (way == WAY_NONE)
        return true;
    if (way == WAY_LOCAL)
        return plan_read_local(reader, json, name, &ret->local);
    return read_operand(reader, plan_member(json, name), ret);
}

static bool
read_operands(struct plan_reader *reader, const struct rego_value *list, struct rego_statement *ret)
{
    size_t count = plan_count(list);
    struct rego_operand *operand = plan_take(reader, count * sizeof(*operand) + 1);
    if (operand == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct rego_value *one = plan_item(list, i);
        if (one != NULL && one->type == REGO_NUMBER
                ? !plan_read_local_of(reader, one, &operand[i].local)
                : !read_operand(reader, one, &operand[i]))
            return false;
    }
    ret->operand = operand;
    ret->count = (uint32_t) count;
    return true;
}

/* Note a builtin that the machine lacks, once. */
static bool
note_lacking(struct plan_reader *reader, const char *name)
{
    struct rego_plan *plan = reader->plan;
    for (uint32_t i = 0; i < plan->lackings; i++)
        if (strcmp(reader->lacking[i], name) == 0)
            return true;
    if (plan->lackings == REGO_LACKING_MAX)
        return true;
    reader->lacking[plan->lackings++] = name;
    return true;
}

static bool
read_call(struct plan_reader *reader, const struct rego_value *json, struct rego_statement *ret)
{
    const char *name = plan_text(plan_member(json, "func"));
    ret->kind = REGO_CALL;
    if (name == NULL)
        return plan_refuse(reader, "a call has no function");
    if (!plan_read_local(reader, json, "result", &ret->target)
        || !read_operands(reader, plan_member(json, "args"), ret))
        return false;
    json_t *index = json_object_get(reader->index, name);
    if (index != NULL) {
        ret->function = &reader->function[json_integer_value(index)];
        if (ret->count < ret->function->params)
            return plan_refuse(reader, "a call of %s has too few arguments", name);
        return true;
    }
    const struct rego_value *copy = rego_string(reader->arena, name, strlen(name));
    if (copy == NULL)
        return plan_take(reader, SIZE_MAX) != NULL;
    ret->name = copy->text;
    ret->builtin = rego_builtin_find(name);
    if (ret->builtin != NULL && ret->builtin->arity != ret->count)
        ret->builtin = NULL;
    reader->now->lacks |= ret->builtin == NULL;
    return ret->builtin != NULL || note_lacking(reader, ret->name);
}

static bool
read_call_dynamic(struct plan_reader *reader, const struct rego_value *json,
                  struct rego_statement *ret)
{
    const struct rego_value *args = plan_member(json, "args");
    struct rego_statement of_args = {0};
    ret->kind = REGO_CALL_DYNAMIC;
    if (plan_count(args) != 2 || !read_operands(reader, args, &of_args)
        || !read_operands(reader, plan_member(json, "path"), ret)
        || !plan_read_local(reader, json, "result", &ret->target))
        return plan_refuse(reader, "a dynamic call has not two arguments");
    ret->a = of_args.operand[0];
    ret->b = of_args.operand[1];
    return true;
}

/* Read a statement that makes a constant. */
static bool
read_constant(struct plan_reader *reader, const char *type, const struct rego_value *json,
              struct rego_statement *ret)
{
    uint32_t at = 0;
    ret->kind = REGO_MAKE;
    if (strcmp(type, "MakeNullStmt") == 0)
        ret->a.constant = &rego_null;
    else if (strcmp(type, "MakeNumberRefStmt") == 0) {
        if (reader->strings == 0 || !read_index(reader, json, "Index", reader->strings - 1, &at))
            return plan_refuse(reader, "a number has no text");
        const struct rego_value *text = reader->string[at];
        ret->a.constant = rego_parse(reader->arena, text->text, text->count);
        if (ret->a.constant == NULL || ret->a.constant->type != REGO_NUMBER)
            return plan_refuse(reader, "a number cannot be read");
    } else {
        const struct rego_value *value = plan_member(json, "value");
        if (value == NULL || value->type != REGO_NUMBER || value->decimal)
            return plan_refuse(reader, "an integer has no value");
        ret->a.constant = rego_integer(reader->arena, value->integer);
        if (ret->a.constant == NULL)
            return plan_take(reader, SIZE_MAX) != NULL;
    }
    return plan_read_local(reader, json, "target", &ret->target);
}

/* Read the names that a with statement puts its value under. */
static bool
read_with_path(struct plan_reader *reader, const struct rego_value *json,
               struct rego_statement *ret)
{
    const struct rego_value *list = plan_member(json, "path");
    size_t count = plan_count(list);
    const struct rego_value **path = plan_take(reader, (count + 1) * sizeof(*path));
    if (path == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct rego_value *at = plan_item(list, i);
        if (at == NULL || at->type != REGO_NUMBER || at->decimal || at->integer < 0
            || (size_t) at->integer >= reader->strings)
            return plan_refuse(reader, "a path of `with` names no string");
        path[i] = reader->string[at->integer];
    }
    ret->path = path;
    return true;
}

static bool
plan_statement_read_row(struct plan_reader *reader, const struct plan_row *row,
                        const struct rego_value *json, struct rego_statement *ret)
{
    ret->kind = (uint8_t) row->kind;
    if (!read_way(reader, json, row->way_a, row->a, &ret->a)
        || !read_way(reader, json, row->way_b, row->b, &ret->b)
        || (row->target != NULL && !plan_read_local(reader, json, row->target, &ret->target))
        || (row->kind == REGO_WITH && !read_with_path(reader, json, ret)))
        return false;
    if (!row->block)
        return true;
    const struct rego_value *block = plan_member(json, "block");
    const struct rego_value list = {.type = REGO_ARRAY, .count = 1, .item = &block};
    unsigned appends = reader->appends;
    if (block == NULL || !plan_read_blocks(reader, &list, &ret->block, &ret->count))
        return plan_refuse(reader, "a %s has no block", row->name);
    ret->ordered = reader->appends != appends;
    return true;
}

static bool
read_plan_statement(struct plan_reader *reader, const struct rego_value *json,
                    struct rego_statement *ret)
{
    const char *type = plan_text(plan_member(json, "type"));
    const struct rego_value *body = plan_member(json, "stmt");
    if (type == NULL || body == NULL || body->type != REGO_OBJECT)
        return plan_refuse(reader, "a statement has no type");
    if (!read_index(reader, body, "file", UINT32_MAX, &ret->file)
        || !read_index(reader, body, "row", UINT32_MAX, &ret->row))
        return false;
    for (size_t i = 0; i < sizeof(plan_rows) / sizeof(plan_rows[0]); i++)
        if (strcmp(type, plan_rows[i].name) == 0)
            return plan_statement_read_row(reader, &plan_rows[i], body, ret);
    if (strcmp(type, "CallStmt") == 0)
        return read_call(reader, body, ret);
    if (strcmp(type, "CallDynamicStmt") == 0)
        return read_call_dynamic(reader, body, ret);
    if (strcmp(type, "MakeNullStmt") == 0 || strcmp(type, "MakeNumberRefStmt") == 0
        || strcmp(type, "MakeNumberIntStmt") == 0 || strcmp(type, "AssignIntStmt") == 0)
        return read_constant(reader, type, body, ret);
    if (strcmp(type, "BlockStmt") == 0) {
        ret->kind = REGO_BLOCKS;
        return plan_read_blocks(reader, plan_member(body, "blocks"), &ret->block, &ret->count);
    }
    if (strcmp(type, "BreakStmt") == 0) {
        ret->kind = REGO_BREAK;
        return read_index(reader, body, "index", PLAN_NESTING_MAX, &ret->target);
    }
    return plan_refuse(reader, "the statement %.*s is unknown", UTF8_SHOWN(type, 60));
}

/* Mark a set or object that is written with several items, of which some are not constant: they are
 * added in the block in which it is made. A comprehension adds its items in blocks of its own. */
static void
mark_literal(struct rego_statement *made, const struct rego_statement *next,
             const struct rego_statement *end)
{
    bool constant = true;
    unsigned items = 0;
    for (; next < end && (next->kind != made->kind || next->target != made->target); next++)
        if ((next->kind == REGO_SET_ADD || next->kind == REGO_OBJECT_INSERT)
            && next->target == made->target) {
            items++;
            constant = constant && next->a.constant != NULL;
        }
    made->literal = items > 1 && !constant;
}

/* True if a statement appends to an array that no statement before it in its block makes. */
static bool
appends_outside(const struct rego_statement *first, const struct rego_statement *append)
{
    if (append->kind != REGO_ARRAY_APPEND)
        return false;
    for (const struct rego_statement *at = first; at < append; at++)
        if (at->kind == REGO_MAKE_ARRAY && at->target == append->target)
            return false;
    return true;
}

static bool
read_block(struct plan_reader *reader, const struct rego_value *json, struct rego_block *ret)
{
    const struct rego_value *list = plan_member(json, "stmts");
    size_t count = plan_count(list);
    struct rego_statement *statement = plan_take(reader, count * sizeof(*statement) + 1);
    for (size_t i = 0; statement != NULL && i < count; i++)
        if (!read_plan_statement(reader, plan_item(list, i), &statement[i]))
            return false;
    for (size_t i = 0; statement != NULL && i < count; i++) {
        if (statement[i].kind == REGO_MAKE_SET || statement[i].kind == REGO_MAKE_OBJECT)
            mark_literal(&statement[i], &statement[i + 1], &statement[count]);
        reader->appends += appends_outside(statement, &statement[i]);
    }
    ret->statement = statement;
    ret->count = (uint32_t) count;
    return statement != NULL;
}

bool
plan_read_blocks(struct plan_reader *reader, const struct rego_value *list,
                 const struct rego_block **ret, uint32_t *ret_count)
{
    size_t count = plan_count(list);
    struct rego_block *block = plan_take(reader, count * sizeof(*block) + 1);
    if (block == NULL)
        return false;
    if (reader->depth == PLAN_NESTING_MAX)
        return plan_refuse(reader, "blocks are nested more than %d deep", PLAN_NESTING_MAX);
    reader->depth++;
    for (size_t i = 0; i < count; i++)
        if (!read_block(reader, plan_item(list, i), &block[i]))
            return false;
    reader->depth--;
    *ret = block;
    *ret_count = (uint32_t) count;
    return true;
}
