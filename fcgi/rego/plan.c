#include "config.h"

#include "rego/plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "rego/builtin.h"

/* Bounds of a plan; the shipped policy has 130 functions of at most 300 locals, nested 12 deep.
 * They keep a plan that is not OPA's from taking memory or stack. */
#define PLAN_FUNCTIONS_MAX 65536
#define PLAN_LOCAL_MAX 1048576
#define PLAN_NESTING_MAX 200
/* Octets of the reason why a plan is refused. */
#define PLAN_WHY_SIZE 256

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

/* A reading. */
struct plan_reader {
    struct rego_arena *arena;
    char *why;                        /* PLAN_WHY_SIZE octets */
    const struct rego_value **string; /* constants, for operands */
    size_t strings;
    struct rego_function *function; /* all of them, then the entrypoints */
    json_t *index;                  /* index of a function by its name */
    struct rego_plan *plan;
    const char **lacking;
    unsigned depth;
    /* Of the function that is being read: the new number of each local plus one; 0: not seen. */
    uint32_t *renumbered;
    uint32_t highest; /* entries of `renumbered` */
    struct rego_function *now;
};

static bool read_blocks(struct plan_reader *reader, const json_t *list,
                        const struct rego_block **ret, uint32_t *ret_count);

__attribute__((format(printf, 2, 3))) static bool
refuse_plan(struct plan_reader *reader, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (reader->why[0] == '\0')
        vsnprintf(reader->why, PLAN_WHY_SIZE, format, args);
    va_end(args);
    return false;
}

/* Take memory, or refuse. */
static void *
take_for_plan(struct plan_reader *reader, size_t octets)
{
    void *taken = rego_take(reader->arena, octets);
    if (taken == NULL)
        refuse_plan(reader, "the plan needs more memory than it may have");
    return taken;
}

static bool
read_index(struct plan_reader *reader, const json_t *json, const char *name, uint64_t most,
           uint32_t *ret)
{
    json_t *member = json_object_get(json, name);
    if (!json_is_integer(member) || json_integer_value(member) < 0
        || (uint64_t) json_integer_value(member) > most)
        return refuse_plan(reader, "%s is no number from 0 to %llu", name,
                           (unsigned long long) most);
    *ret = (uint32_t) json_integer_value(member);
    return true;
}

/* Return the local's number in this function: they are numbered in the order in which they are
 * seen, so that a call needs no more room than it uses. */
static bool
renumber(struct plan_reader *reader, uint32_t local, uint32_t *ret)
{
    if (local >= reader->highest)
        return refuse_plan(reader, "a local variable has the number %u", local);
    if (reader->renumbered[local] == 0)
        reader->renumbered[local] = ++reader->now->locals;
    *ret = reader->renumbered[local] - 1;
    return true;
}

static bool
read_local(struct plan_reader *reader, const json_t *json, const char *name, uint32_t *ret)
{
    uint32_t local;
    return read_index(reader, json, name, PLAN_LOCAL_MAX, &local) && renumber(reader, local, ret);
}

static bool
read_operand(struct plan_reader *reader, const json_t *json, struct rego_operand *ret)
{
    const char *type = json_string_value(json_object_get(json, "type"));
    json_t *value = json_object_get(json, "value");
    uint32_t at;
    if (type != NULL && strcmp(type, "local") == 0)
        return read_local(reader, json, "value", &ret->local);
    if (type != NULL && strcmp(type, "bool") == 0 && json_is_boolean(value)) {
        ret->constant = rego_boolean(json_is_true(value));
        return true;
    }
    if (type == NULL || strcmp(type, "string_index") != 0 || reader->strings == 0)
        return refuse_plan(reader, "an operand has an unknown type");
    if (!read_index(reader, json, "value", reader->strings - 1, &at))
        return false;
    ret->constant = reader->string[at];
    return true;
}

static bool
read_way(struct plan_reader *reader, const json_t *json, enum plan_way way, const char *name,
         struct rego_operand *ret)
{
    if (way == WAY_NONE)
        return true;
    if (way == WAY_LOCAL)
        return read_local(reader, json, name, &ret->local);
    return read_operand(reader, json_object_get(json, name), ret);
}

static bool
read_operands(struct plan_reader *reader, const json_t *list, struct rego_statement *ret)
{
    size_t count = json_array_size(list);
    struct rego_operand *operand = take_for_plan(reader, count * sizeof(*operand) + 1);
    if (operand == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        json_t *one = json_array_get(list, i);
        json_t *number = json_is_integer(one)
                             ? json_pack("{s:s, s:O}", "type", "local", "value", one)
                             : json_incref(one);
        bool read = read_operand(reader, number, &operand[i]);
        json_decref(number);
        if (!read)
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
read_call(struct plan_reader *reader, const json_t *json, struct rego_statement *ret)
{
    const char *name = json_string_value(json_object_get(json, "func"));
    ret->kind = REGO_CALL;
    if (name == NULL)
        return refuse_plan(reader, "a call has no function");
    if (!read_local(reader, json, "result", &ret->target)
        || !read_operands(reader, json_object_get(json, "args"), ret))
        return false;
    json_t *index = json_object_get(reader->index, name);
    if (index != NULL) {
        ret->function = &reader->function[json_integer_value(index)];
        if (ret->count < ret->function->params)
            return refuse_plan(reader, "a call of %s has too few arguments", name);
        return true;
    }
    const struct rego_value *copy = rego_string(reader->arena, name, strlen(name));
    if (copy == NULL)
        return take_for_plan(reader, SIZE_MAX) != NULL;
    ret->name = copy->text;
    ret->builtin = rego_builtin_find(name);
    if (ret->builtin != NULL && ret->builtin->arity != ret->count)
        ret->builtin = NULL;
    reader->now->lacks |= ret->builtin == NULL;
    return ret->builtin != NULL || note_lacking(reader, ret->name);
}

static bool
read_call_dynamic(struct plan_reader *reader, const json_t *json, struct rego_statement *ret)
{
    const json_t *args = json_object_get(json, "args");
    struct rego_statement of_args = {0};
    ret->kind = REGO_CALL_DYNAMIC;
    if (json_array_size(args) != 2 || !read_operands(reader, args, &of_args)
        || !read_operands(reader, json_object_get(json, "path"), ret)
        || !read_local(reader, json, "result", &ret->target))
        return refuse_plan(reader, "a dynamic call has not two arguments");
    ret->a = of_args.operand[0];
    ret->b = of_args.operand[1];
    return true;
}

/* Read a statement that makes a constant. */
static bool
read_constant(struct plan_reader *reader, const char *type, const json_t *json,
              struct rego_statement *ret)
{
    uint32_t at;
    ret->kind = REGO_MAKE;
    if (strcmp(type, "MakeNullStmt") == 0)
        ret->a.constant = &rego_null;
    else if (strcmp(type, "MakeNumberRefStmt") == 0) {
        if (reader->strings == 0 || !read_index(reader, json, "Index", reader->strings - 1, &at))
            return refuse_plan(reader, "a number has no text");
        const struct rego_value *text = reader->string[at];
        ret->a.constant = rego_parse(reader->arena, text->text, text->count);
        if (ret->a.constant == NULL || ret->a.constant->type != REGO_NUMBER)
            return refuse_plan(reader, "a number cannot be read");
    } else {
        json_t *value = json_object_get(json, "value");
        if (!json_is_integer(value))
            return refuse_plan(reader, "an integer has no value");
        ret->a.constant = rego_integer(reader->arena, json_integer_value(value));
        if (ret->a.constant == NULL)
            return take_for_plan(reader, SIZE_MAX) != NULL;
    }
    return read_local(reader, json, "target", &ret->target);
}

/* Read the names that a with statement puts its value under. */
static bool
read_with_path(struct plan_reader *reader, const json_t *json, struct rego_statement *ret)
{
    const json_t *list = json_object_get(json, "path");
    size_t count = json_array_size(list);
    const struct rego_value **path = take_for_plan(reader, (count + 1) * sizeof(*path));
    if (path == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        json_int_t at = json_integer_value(json_array_get(list, i));
        if (at < 0 || (size_t) at >= reader->strings)
            return refuse_plan(reader, "a path of `with` names no string");
        path[i] = reader->string[at];
    }
    ret->path = path;
    return true;
}

static bool
read_row(struct plan_reader *reader, const struct plan_row *row, const json_t *json,
         struct rego_statement *ret)
{
    ret->kind = (uint8_t) row->kind;
    if (!read_way(reader, json, row->way_a, row->a, &ret->a)
        || !read_way(reader, json, row->way_b, row->b, &ret->b)
        || (row->target != NULL && !read_local(reader, json, row->target, &ret->target))
        || (row->kind == REGO_WITH && !read_with_path(reader, json, ret)))
        return false;
    if (!row->block)
        return true;
    json_t *list = json_pack("[O]", json_object_get(json, "block"));
    bool read = list != NULL && read_blocks(reader, list, &ret->block, &ret->count);
    json_decref(list);
    return read || refuse_plan(reader, "a %s has no block", row->name);
}

static bool
read_statement(struct plan_reader *reader, const json_t *json, struct rego_statement *ret)
{
    const char *type = json_string_value(json_object_get(json, "type"));
    const json_t *body = json_object_get(json, "stmt");
    if (type == NULL || !json_is_object(body))
        return refuse_plan(reader, "a statement has no type");
    if (!read_index(reader, body, "file", UINT32_MAX, &ret->file)
        || !read_index(reader, body, "row", UINT32_MAX, &ret->row))
        return false;
    for (size_t i = 0; i < sizeof(plan_rows) / sizeof(plan_rows[0]); i++)
        if (strcmp(type, plan_rows[i].name) == 0)
            return read_row(reader, &plan_rows[i], body, ret);
    if (strcmp(type, "CallStmt") == 0)
        return read_call(reader, body, ret);
    if (strcmp(type, "CallDynamicStmt") == 0)
        return read_call_dynamic(reader, body, ret);
    if (strcmp(type, "MakeNullStmt") == 0 || strcmp(type, "MakeNumberRefStmt") == 0
        || strcmp(type, "MakeNumberIntStmt") == 0 || strcmp(type, "AssignIntStmt") == 0)
        return read_constant(reader, type, body, ret);
    if (strcmp(type, "BlockStmt") == 0) {
        ret->kind = REGO_BLOCKS;
        return read_blocks(reader, json_object_get(body, "blocks"), &ret->block, &ret->count);
    }
    if (strcmp(type, "BreakStmt") == 0) {
        ret->kind = REGO_BREAK;
        return read_index(reader, body, "index", PLAN_NESTING_MAX, &ret->target);
    }
    return refuse_plan(reader, "the statement %.60s is unknown", type);
}

static bool
read_block(struct plan_reader *reader, const json_t *json, struct rego_block *ret)
{
    const json_t *list = json_object_get(json, "stmts");
    size_t count = json_array_size(list);
    struct rego_statement *statement = take_for_plan(reader, count * sizeof(*statement) + 1);
    for (size_t i = 0; statement != NULL && i < count; i++)
        if (!read_statement(reader, json_array_get(list, i), &statement[i]))
            return false;
    ret->statement = statement;
    ret->count = (uint32_t) count;
    return statement != NULL;
}

static bool
read_blocks(struct plan_reader *reader, const json_t *list, const struct rego_block **ret,
            uint32_t *ret_count)
{
    size_t count = json_array_size(list);
    struct rego_block *block = take_for_plan(reader, count * sizeof(*block) + 1);
    if (block == NULL)
        return false;
    if (reader->depth == PLAN_NESTING_MAX)
        return refuse_plan(reader, "blocks are nested more than %d deep", PLAN_NESTING_MAX);
    reader->depth++;
    for (size_t i = 0; i < count; i++)
        if (!read_block(reader, json_array_get(list, i), &block[i]))
            return false;
    reader->depth--;
    *ret = block;
    *ret_count = (uint32_t) count;
    return true;
}

/* Read what a function contains. `params` may be NULL: input and data. */
static bool
read_function(struct plan_reader *reader, const json_t *json, struct rego_function *function)
{
    const json_t *params = json_object_get(json, "params");
    reader->now = function;
    memset(reader->renumbered, 0, reader->highest * sizeof(reader->renumbered[0]));
    function->locals = 0;
    for (size_t i = 0; i < (params != NULL ? json_array_size(params) : 2); i++) {
        uint32_t local = (uint32_t) i;
        if (params != NULL)
            local = (uint32_t) json_integer_value(json_array_get(params, i));
        uint32_t number;
        if (!renumber(reader, local, &number))
            return false;
        if (number != i)
            return refuse_plan(reader, "a function has the same parameter twice");
    }
    return (params == NULL || read_local(reader, json, "return", &function->returns))
           && read_blocks(reader, json_object_get(json, "blocks"), &function->block,
                          &function->blocks);
}

/* Return the highest number of a local in the plan plus one, which is below PLAN_LOCAL_MAX. */
static uint32_t
highest_local(json_t *json)
{
    uint32_t highest = 2;
    const char *name;
    json_t *value;
    size_t i;
    if (json_is_integer(json)) {
        json_int_t number = json_integer_value(json);
        return number >= 0 && number < PLAN_LOCAL_MAX ? (uint32_t) number + 1 : 2;
    }
    if (json_is_array(json))
        json_array_foreach (json, i, value) {
            uint32_t one = highest_local(value);
            highest = one > highest ? one : highest;
        }
    json_object_foreach (json, name, value) {
        /* Places in files are no locals. */
        if (strcmp(name, "row") == 0 || strcmp(name, "col") == 0 || strcmp(name, "end_row") == 0
            || strcmp(name, "end_col") == 0 || strcmp(name, "file") == 0)
            continue;
        uint32_t one = highest_local(value);
        highest = one > highest ? one : highest;
    }
    return highest;
}

static bool
read_strings(struct plan_reader *reader, const json_t *list)
{
    reader->strings = json_array_size(list);
    reader->string = take_for_plan(reader, reader->strings * sizeof(reader->string[0]) + 1);
    for (size_t i = 0; reader->string != NULL && i < reader->strings; i++) {
        json_t *text = json_object_get(json_array_get(list, i), "value");
        if (!json_is_string(text))
            return refuse_plan(reader, "a constant is no string");
        reader->string[i] =
            rego_string(reader->arena, json_string_value(text), json_string_length(text));
        if (reader->string[i] == NULL)
            return take_for_plan(reader, SIZE_MAX) != NULL;
    }
    return reader->string != NULL;
}

static bool
read_files(struct plan_reader *reader, const json_t *list)
{
    size_t count = json_array_size(list);
    const char **file = take_for_plan(reader, count * sizeof(*file) + 1);
    for (size_t i = 0; file != NULL && i < count; i++) {
        const char *name = json_string_value(json_object_get(json_array_get(list, i), "value"));
        const struct rego_value *copy =
            name != NULL ? rego_string(reader->arena, name, strlen(name)) : NULL;
        if (copy == NULL)
            return refuse_plan(reader, "a file has no name");
        file[i] = copy->text;
    }
    reader->plan->file = file;
    reader->plan->files = (uint32_t) count;
    return file != NULL;
}

/* Read the names of functions and entrypoints, so that calls find them. */
static bool
read_names(struct plan_reader *reader, const json_t *functions, const json_t *entrypoints)
{
    size_t count = json_array_size(functions), all = count + json_array_size(entrypoints);
    if (all > PLAN_FUNCTIONS_MAX)
        return refuse_plan(reader, "there are more than %d functions", PLAN_FUNCTIONS_MAX);
    reader->function = take_for_plan(reader, all * sizeof(reader->function[0]) + 1);
    for (size_t i = 0; reader->function != NULL && i < all; i++) {
        const json_t *one =
            i < count ? json_array_get(functions, i) : json_array_get(entrypoints, i - count);
        const char *name = json_string_value(json_object_get(one, "name"));
        const struct rego_value *copy =
            name != NULL ? rego_string(reader->arena, name, strlen(name)) : NULL;
        if (copy == NULL)
            return refuse_plan(reader, "a function has no name");
        struct rego_function *function = &reader->function[i];
        function->name = copy->text;
        function->index = (uint32_t) i;
        function->params =
            i < count ? (uint32_t) json_array_size(json_object_get(one, "params")) : 2;
        if (function->params < 2)
            return refuse_plan(reader, "the function %.60s has no input and data", name);
        if (i < count
            && json_object_set_new(reader->index, name, json_integer((json_int_t) i)) != 0)
            return refuse_plan(reader, "out of memory");
    }
    return reader->function != NULL;
}

/* Put a function into the tree of paths. */
static bool
map_function(struct plan_reader *reader, struct rego_value *tree, const json_t *path, size_t at,
             uint32_t index)
{
    const char *name = json_string_value(json_array_get(path, at));
    const struct rego_value *key =
        name != NULL ? rego_string(reader->arena, name, strlen(name)) : NULL;
    if (key == NULL)
        return refuse_plan(reader, "a path has no name");
    if (at + 1 == json_array_size(path))
        return rego_insert(reader->arena, tree, key, rego_integer(reader->arena, index));
    const struct rego_value *inner = rego_get(tree, key);
    struct rego_value *room = inner != NULL && inner->type == REGO_OBJECT
                                  ? (struct rego_value *) (uintptr_t) inner
                                  : rego_object(reader->arena, 0);
    return room != NULL && rego_insert(reader->arena, tree, key, room)
           && map_function(reader, room, path, at + 1, index);
}

static bool
map_functions(struct plan_reader *reader, const json_t *functions)
{
    struct rego_value *tree = rego_object(reader->arena, 0);
    for (size_t i = 0; tree != NULL && i < json_array_size(functions); i++) {
        const json_t *path = json_object_get(json_array_get(functions, i), "path");
        if (json_array_size(path) > 0 && !map_function(reader, tree, path, 0, (uint32_t) i))
            return false;
    }
    reader->plan->dynamic = tree;
    return tree != NULL;
}

/* True if a block calls a function that lacks a builtin. */
static bool
block_lacks(const struct rego_block *block, bool any)
{
    for (uint32_t i = 0; i < block->count; i++) {
        const struct rego_statement *statement = &block->statement[i];
        if (statement->kind == REGO_CALL && statement->function != NULL
            && statement->function->lacks)
            return true;
        if (statement->kind == REGO_CALL_DYNAMIC && any)
            return true;
        bool blocks = statement->kind == REGO_BLOCKS || statement->kind == REGO_SCAN
                      || statement->kind == REGO_NOT || statement->kind == REGO_WITH;
        for (uint32_t k = 0; blocks && k < statement->count; k++)
            if (block_lacks(&statement->block[k], any))
                return true;
    }
    return false;
}

/* Carry `lacks` from functions to those that call them. */
static void
spread_lacks(struct plan_reader *reader, uint32_t all)
{
    bool any = reader->plan->lackings > 0, changed = any;
    while (changed) {
        changed = false;
        for (uint32_t i = 0; i < all; i++)
            for (uint32_t k = 0; k < reader->function[i].blocks && !reader->function[i].lacks; k++)
                if (block_lacks(&reader->function[i].block[k], any))
                    reader->function[i].lacks = changed = true;
    }
}

static bool
read_plan(struct plan_reader *reader, json_t *json)
{
    const json_t *fixed = json_object_get(json, "static");
    const json_t *functions = json_object_get(json_object_get(json, "funcs"), "funcs");
    const json_t *entrypoints = json_object_get(json_object_get(json, "plans"), "plans");
    reader->highest = highest_local(json);
    reader->renumbered = take_for_plan(reader, reader->highest * sizeof(uint32_t));
    reader->lacking = take_for_plan(reader, REGO_LACKING_MAX * sizeof(reader->lacking[0]));
    if (reader->renumbered == NULL || reader->lacking == NULL
        || !read_strings(reader, json_object_get(fixed, "strings"))
        || !read_files(reader, json_object_get(fixed, "files"))
        || !read_names(reader, functions, entrypoints) || !map_functions(reader, functions))
        return false;
    uint32_t count = (uint32_t) json_array_size(functions);
    uint32_t all = count + (uint32_t) json_array_size(entrypoints);
    for (uint32_t i = 0; i < all; i++)
        if (!read_function(reader,
                           i < count ? json_array_get(functions, i)
                                     : json_array_get(entrypoints, i - count),
                           &reader->function[i]))
            return false;
    spread_lacks(reader, all);
    reader->plan->function = reader->function;
    reader->plan->functions = count;
    reader->plan->entrypoint = reader->function + count;
    reader->plan->entrypoints = all - count;
    reader->plan->lacking = reader->lacking;
    return true;
}

const struct rego_plan *
rego_plan_read(struct rego_arena *arena, json_t *json, const char **ret_why)
{
    struct plan_reader reader = {.arena = arena};
    *ret_why = "the plan needs more memory than it may have";
    reader.why = rego_take(arena, PLAN_WHY_SIZE);
    reader.plan = rego_take(arena, sizeof(*reader.plan));
    reader.index = json_object();
    bool read = reader.why != NULL && reader.plan != NULL && reader.index != NULL
                && read_plan(&reader, json);
    json_decref(reader.index);
    if (!read && reader.why != NULL && reader.why[0] != '\0')
        *ret_why = reader.why;
    return read ? reader.plan : NULL;
}

const struct rego_function *
rego_plan_entrypoint(const struct rego_plan *plan, const char *name)
{
    for (uint32_t i = 0; i < plan->entrypoints; i++)
        if (strcmp(plan->entrypoint[i].name, name) == 0)
            return &plan->entrypoint[i];
    return NULL;
}
