#include "config.h"

#include "rego/plan.h"

#include <string.h>

#include "rego/builtin/builtin.h"
#include "rego/plan_private.h"

/* Functions of a plan; the shipped policy has 130. */
#define PLAN_FUNCTIONS_MAX 65536

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
        if (!plan_number(reader, local, &number))
            return false;
        if (number != i)
            return plan_refuse(reader, "a function has the same parameter twice");
    }
    return (params == NULL || plan_read_local(reader, json, "return", &function->returns))
           && plan_read_blocks(reader, json_object_get(json, "blocks"), &function->block,
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
    reader->string = plan_take(reader, reader->strings * sizeof(reader->string[0]) + 1);
    for (size_t i = 0; reader->string != NULL && i < reader->strings; i++) {
        json_t *text = json_object_get(json_array_get(list, i), "value");
        if (!json_is_string(text))
            return plan_refuse(reader, "a constant is no string");
        reader->string[i] =
            rego_string(reader->arena, json_string_value(text), json_string_length(text));
        if (reader->string[i] == NULL)
            return plan_take(reader, SIZE_MAX) != NULL;
    }
    return reader->string != NULL;
}

static bool
read_files(struct plan_reader *reader, const json_t *list)
{
    size_t count = json_array_size(list);
    const char **file = plan_take(reader, count * sizeof(*file) + 1);
    for (size_t i = 0; file != NULL && i < count; i++) {
        const char *name = json_string_value(json_object_get(json_array_get(list, i), "value"));
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
read_function_names(struct plan_reader *reader, const json_t *functions, const json_t *entrypoints)
{
    size_t count = json_array_size(functions), all = count + json_array_size(entrypoints);
    if (all > PLAN_FUNCTIONS_MAX)
        return plan_refuse(reader, "there are more than %d functions", PLAN_FUNCTIONS_MAX);
    reader->function = plan_take(reader, all * sizeof(reader->function[0]) + 1);
    for (size_t i = 0; reader->function != NULL && i < all; i++) {
        const json_t *one =
            i < count ? json_array_get(functions, i) : json_array_get(entrypoints, i - count);
        const char *name = json_string_value(json_object_get(one, "name"));
        const struct rego_value *copy =
            name != NULL ? rego_string(reader->arena, name, strlen(name)) : NULL;
        if (copy == NULL)
            return plan_refuse(reader, "a function has no name");
        struct rego_function *function = &reader->function[i];
        function->name = copy->text;
        function->index = (uint32_t) i;
        function->params =
            i < count ? (uint32_t) json_array_size(json_object_get(one, "params")) : 2;
        if (function->params < 2)
            return plan_refuse(reader, "the function %.60s has no input and data", name);
        if (i < count
            && json_object_set_new(reader->index, name, json_integer((json_int_t) i)) != 0)
            return plan_refuse(reader, "out of memory");
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
        return plan_refuse(reader, "a path has no name");
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
    reader->renumbered = plan_take(reader, reader->highest * sizeof(uint32_t));
    reader->lacking = plan_take(reader, REGO_LACKING_MAX * sizeof(reader->lacking[0]));
    if (reader->renumbered == NULL || reader->lacking == NULL
        || !read_strings(reader, json_object_get(fixed, "strings"))
        || !read_files(reader, json_object_get(fixed, "files"))
        || !read_function_names(reader, functions, entrypoints)
        || !map_functions(reader, functions))
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
