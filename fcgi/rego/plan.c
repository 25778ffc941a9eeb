#include "config.h"

#include "rego/plan.h"

#include <string.h>

#include "base/utf8.h"
#include "rego/builtins.h"
#include "rego/plan_private.h"

/* Most functions of a plan; the shipped policy has 130. */
#define PLAN_FUNCTIONS_MAX 65536

/* Octets of the document while it is read: some five times those of its text. */
#define PLAN_DOCUMENT_MAX ((size_t) 512 << 20)

/* Nesting of the document: a block within a block is four levels deeper. */
#define PLAN_DEPTH_MAX (4 * PLAN_NESTING_MAX + 16)

/* Read what a function contains. `params` may be NULL: input and data. */
static bool
read_function(struct plan_reader *reader, const struct rego_value *json,
              struct rego_function *function)
{
    const struct rego_value *params = plan_member(json, "params");
    reader->now = function;
    memset(reader->renumbered, 0, reader->highest * sizeof(reader->renumbered[0]));
    function->locals = 0;
    for (size_t i = 0; i < (params != NULL ? plan_count(params) : 2); i++) {
        uint32_t number;
        if (params != NULL ? !plan_read_local_of(reader, plan_item(params, i), &number)
                           : !plan_number(reader, (uint32_t) i, &number))
            return false;
        if (number != i)
            return plan_refuse(reader, "a function has the same parameter twice");
    }
    return (params == NULL || plan_read_local(reader, json, "return", &function->returns))
           && plan_read_blocks(reader, plan_member(json, "blocks"), &function->block,
                               &function->blocks);
}

/* True if the value of a member is a position in a file and not a local. */
static bool
is_place(const char *name)
{
    static const char *const places[] = {"row", "col", "file", "end_row", "end_col"};
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (strcmp(name, places[i]) == 0)
            return true;
    return false;
}

/* Return the highest number of a local in the plan plus one, which is below PLAN_LOCAL_MAX. */
static uint32_t
highest_local(const struct rego_value *json)
{
    uint32_t highest = 2;
    if (json->type == REGO_NUMBER && !json->decimal)
        return json->integer >= 0 && json->integer < PLAN_LOCAL_MAX ? (uint32_t) json->integer + 1
                                                                    : 2;
    for (uint32_t i = 0; json->type >= REGO_ARRAY && i < json->count; i++) {
        bool object = json->type == REGO_OBJECT;
        if (object && is_place(json->member[i].key->text))
            continue;
        uint32_t one = highest_local(object ? json->member[i].value : json->item[i]);
        highest = one > highest ? one : highest;
    }
    return highest;
}

static bool
read_strings(struct plan_reader *reader, const struct rego_value *list)
{
    reader->strings = plan_count(list);
    reader->string = plan_take(reader, reader->strings * sizeof(reader->string[0]) + 1);
    for (size_t i = 0; reader->string != NULL && i < reader->strings; i++) {
        const struct rego_value *text = plan_member(plan_item(list, i), "value");
        if (plan_text(text) == NULL)
            return plan_refuse(reader, "a constant is no string");
        reader->string[i] = rego_string(reader->arena, text->text, text->count);
        if (reader->string[i] == NULL)
            return plan_take(reader, SIZE_MAX) != NULL;
    }
    return reader->string != NULL;
}

static bool
read_files(struct plan_reader *reader, const struct rego_value *list)
{
    size_t count = plan_count(list);
    const char **file = plan_take(reader, count * sizeof(*file) + 1);
    for (size_t i = 0; file != NULL && i < count; i++) {
        const char *name = plan_text(plan_member(plan_item(list, i), "value"));
        const struct rego_value *copy =
            name != NULL ? rego_string(reader->arena, name, strlen(name)) : NULL;
        if (copy == NULL)
            return plan_refuse(reader, "a file has no name");
        file[i] = copy->text;
    }
    reader->plan->file = file;
    reader->plan->files = (uint32_t) count;
    return file != NULL;
}

/* Read the names of functions and entrypoints, so that calls find them. */
static bool
read_function_names(struct plan_reader *reader, const struct rego_value *functions,
                    const struct rego_value *entrypoints)
{
    size_t count = plan_count(functions), all = count + plan_count(entrypoints);
    if (all > PLAN_FUNCTIONS_MAX)
        return plan_refuse(reader, "there are more than %d functions", PLAN_FUNCTIONS_MAX);
    reader->function = plan_take(reader, all * sizeof(reader->function[0]) + 1);
    for (size_t i = 0; reader->function != NULL && i < all; i++) {
        const struct rego_value *one =
            i < count ? plan_item(functions, i) : plan_item(entrypoints, i - count);
        const char *name = plan_text(plan_member(one, "name"));
        const struct rego_value *copy =
            name != NULL ? rego_string(reader->arena, name, strlen(name)) : NULL;
        if (copy == NULL)
            return plan_refuse(reader, "a function has no name");
        struct rego_function *function = &reader->function[i];
        function->name = copy->text;
        function->index = (uint32_t) i;
        function->params = i < count ? (uint32_t) plan_count(plan_member(one, "params")) : 2;
        if (function->params < 2)
            return plan_refuse(reader, "the function %.*s has no input and data",
                               UTF8_SHOWN(name, 60));
        if (i < count
            && json_object_set_new(reader->index, name, json_integer((json_int_t) i)) != 0)
            return plan_refuse(reader, "out of memory");
    }
    return reader->function != NULL;
}

/* Put a function into the tree of paths. */
static bool
map_function(struct plan_reader *reader, struct rego_value *tree, const struct rego_value *path,
             size_t at, uint32_t index)
{
    const char *name = plan_text(plan_item(path, at));
    const struct rego_value *key =
        name != NULL ? rego_string(reader->arena, name, strlen(name)) : NULL;
    if (key == NULL)
        return plan_refuse(reader, "a path has no name");
    if (at + 1 == plan_count(path))
        return rego_insert(reader->arena, tree, key, rego_integer(reader->arena, index));
    const struct rego_value *inner = rego_get(tree, key);
    struct rego_value *room = inner != NULL && inner->type == REGO_OBJECT
                                  ? (struct rego_value *) (uintptr_t) inner
                                  : rego_object(reader->arena, 0);
    return room != NULL && rego_insert(reader->arena, tree, key, room)
           && map_function(reader, room, path, at + 1, index);
}

static bool
map_functions(struct plan_reader *reader, const struct rego_value *functions)
{
    struct rego_value *tree = rego_object(reader->arena, 0);
    for (size_t i = 0; tree != NULL && i < plan_count(functions); i++) {
        const struct rego_value *path = plan_member(plan_item(functions, i), "path");
        if (plan_count(path) > 0 && !map_function(reader, tree, path, 0, (uint32_t) i))
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
        for (uint32_t k = 0; rego_has_blocks(statement) && k < statement->count; k++)
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
read_plan(struct plan_reader *reader, const struct rego_value *json)
{
    const struct rego_value *fixed = plan_member(json, "static");
    const struct rego_value *functions = plan_member(plan_member(json, "funcs"), "funcs");
    const struct rego_value *entrypoints = plan_member(plan_member(json, "plans"), "plans");
    reader->highest = highest_local(json);
    reader->renumbered = plan_take(reader, reader->highest * sizeof(uint32_t));
    reader->lacking = plan_take(reader, REGO_LACKING_MAX * sizeof(reader->lacking[0]));
    if (reader->renumbered == NULL || reader->lacking == NULL
        || !read_strings(reader, plan_member(fixed, "strings"))
        || !read_files(reader, plan_member(fixed, "files"))
        || !read_function_names(reader, functions, entrypoints)
        || !map_functions(reader, functions))
        return false;
    uint32_t count = (uint32_t) plan_count(functions);
    uint32_t all = count + (uint32_t) plan_count(entrypoints);
    for (uint32_t i = 0; i < all; i++)
        if (!read_function(reader,
                           i < count ? plan_item(functions, i) : plan_item(entrypoints, i - count),
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

/* Read the text, which takes far more memory than the plan, in an arena of its own. */
static bool
read_text(struct plan_reader *reader, TALLOC_CTX *mem, const char *text, size_t length)
{
    struct rego_arena arena;
    rego_arena_init(&arena, mem, PLAN_DOCUMENT_MAX);
    const struct rego_value *json = rego_parse_nested(&arena, text, length, PLAN_DEPTH_MAX);
    if (json == NULL || json->type != REGO_OBJECT)
        return plan_refuse(reader, arena.full ? "the plan needs more memory than it may have"
                                              : "the plan is not JSON");
    return read_plan(reader, json);
}

const struct rego_plan *
rego_plan_read(struct rego_arena *arena, const char *text, size_t length, const char **ret_why)
{
    struct plan_reader reader = {.arena = arena};
    TALLOC_CTX *mem = talloc_new(arena->mem);
    *ret_why = "the plan needs more memory than it may have";
    reader.why = rego_take(arena, PLAN_WHY_SIZE);
    reader.plan = rego_take(arena, sizeof(*reader.plan));
    reader.index = json_object();
    bool read = reader.why != NULL && reader.plan != NULL && reader.index != NULL && mem != NULL
                && read_text(&reader, mem, text, length);
    json_decref(reader.index);
    talloc_free(mem);
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

const struct rego_plan *
rego_plan_once(TALLOC_CTX *mem, struct rego_plan_text *text)
{
    struct rego_arena arena;
    if (text->plan != NULL || text->why != NULL)
        return text->plan;
    rego_arena_init(&arena, mem, REGO_PLAN_OCTETS_MAX);
    text->plan = rego_plan_read(&arena, text->text, text->length, &text->why);
    if (text->plan != NULL)
        text->why = NULL;
    return text->plan;
}
