#include "config.h"

#include "policy/engine/engine_plan.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "policy/engine/engine.h"
#include "policy/engine/engine_result.h"
#include "rego/reach.h"

/* Locals of each function that hold the input and the base documents. */
#define LOCAL_DATA 1

/* The reason why OPA decides an entrypoint that a plan lacks. */
#define NO_ENTRYPOINT "the plan does not have it"

/* A plan, which revisions share. */
struct engine_code {
    const struct rego_plan *plan;
    const char *name; /* on this */
    size_t octets;
};

struct engine_plan {
    struct engine_code *code; /* a talloc reference, or a child */
    const struct rego_value *data;
    size_t octets; /* of the data */
};

static bool
is_data(const struct rego_operand *operand)
{
    return operand->constant == NULL && operand->local == LOCAL_DATA;
}

static bool block_reads_system(const struct rego_block *block);

/*
 * True if a statement may see data.system, where OPA keeps its own version and what it knows of its
 * bundles. All other base documents are in the bundle. A look-up by a constant name other than
 * `system` is safe, and so is passing `data` on to another function.
 */
static bool
statement_reads_system(const struct rego_statement *statement)
{
    switch ((enum rego_kind) statement->kind) {
    case REGO_DOT:
        return is_data(&statement->a)
               && (statement->b.constant == NULL || statement->b.constant->type != REGO_STRING
                   || strcmp(statement->b.constant->text, "system") == 0);
    case REGO_CALL:
        for (uint32_t i = statement->function != NULL ? 2 : 0; i < statement->count; i++)
            if (is_data(&statement->operand[i]))
                return true;
        return false;
    case REGO_CALL_DYNAMIC:
    case REGO_RETURN:
    case REGO_BREAK:
        return false;
    case REGO_SCAN:
        return is_data(&statement->a) || block_reads_system(statement->block);
    case REGO_BLOCKS:
    case REGO_NOT:
    case REGO_WITH:
        for (uint32_t i = 0; i < statement->count; i++)
            if (block_reads_system(&statement->block[i]))
                return true;
        return statement->kind == REGO_WITH && is_data(&statement->a);
    default:
        return is_data(&statement->a) || is_data(&statement->b);
    }
}

static bool
block_reads_system(const struct rego_block *block)
{
    for (uint32_t i = 0; i < block->count; i++)
        if (statement_reads_system(&block->statement[i]))
            return true;
    return false;
}

static bool
function_reads_system(const struct rego_function *function)
{
    for (uint32_t i = 0; i < function->blocks; i++)
        if (block_reads_system(&function->block[i]))
            return true;
    return false;
}

/* Return the function that may see data.system, or NULL. */
static const struct rego_function *
find_system_reader(const struct rego_plan *plan)
{
    for (uint32_t i = 0; i < plan->functions; i++)
        if (function_reads_system(&plan->function[i]))
            return &plan->function[i];
    for (uint32_t i = 0; i < plan->entrypoints; i++)
        if (function_reads_system(&plan->entrypoint[i]))
            return &plan->entrypoint[i];
    return NULL;
}

/* Return why the plan cannot be used, or NULL. */
static const char *
read_code(struct engine_code *code, const struct engine_plan_texts *texts)
{
    struct rego_arena arena;
    const char *why = NULL;
    rego_arena_init(&arena, code, ENGINE_PLAN_OCTETS_MAX);
    code->plan = texts->code != NULL
                     ? texts->code
                     : rego_plan_read(&arena, texts->plan, texts->plan_length, &why);
    code->octets = arena.taken;
    if (code->plan != NULL && find_system_reader(code->plan) != NULL)
        return "a rule may read data.system, which only OPA has";
    return code->plan == NULL ? why : NULL;
}

static const char *
make_code(struct engine_plan *made, const struct engine_plan_texts *texts,
          struct engine_plan *before)
{
    if (before != NULL && strcmp(before->code->name, texts->name) == 0) {
        made->code = talloc_reference(made, before->code);
        return made->code == NULL ? "out of memory" : NULL;
    }
    made->code = talloc_zero(made, struct engine_code);
    if (made->code == NULL || (made->code->name = talloc_strdup(made->code, texts->name)) == NULL)
        return "out of memory";
    if (texts->plan == NULL)
        return "the plan was not read";
    return read_code(made->code, texts);
}

static const char *
make_data(struct engine_plan *made, const struct engine_plan_texts *texts)
{
    struct rego_arena arena;
    if ((made->data = texts->tree) != NULL)
        return NULL;
    rego_arena_init(&arena, made, ENGINE_PLAN_OCTETS_MAX);
    made->data = rego_parse(&arena, texts->data, texts->data_length);
    made->octets = arena.taken;
    if (made->data == NULL || made->data->type != REGO_OBJECT)
        return arena.full ? "the data need more memory than they may have"
                          : "the data cannot be read";
    return NULL;
}

struct engine_plan *
engine_plan_read(TALLOC_CTX *mem, const struct engine_plan_texts *texts, struct engine_plan *before,
                 const char **ret_why)
{
    struct engine_plan *made = talloc_zero(mem, struct engine_plan);
    *ret_why = made != NULL ? make_code(made, texts, before) : "out of memory";
    if (*ret_why == NULL)
        *ret_why = make_data(made, texts);
    if (*ret_why == NULL)
        return made;
    *ret_why = talloc_strdup(mem, *ret_why); /* it may be in the arena */
    talloc_free(made);
    return NULL;
}

const char *
engine_plan_lacks(TALLOC_CTX *mem, const struct engine_plan *plan, const char *entrypoint)
{
    const struct rego_function *function = rego_plan_entrypoint(plan->code->plan, entrypoint);
    if (function == NULL)
        return NO_ENTRYPOINT;
    if (!function->lacks)
        return NULL;
    const struct rego_plan *code = plan->code->plan;
    const char *text = talloc_asprintf(mem, "the machine lacks %s",
                                       code->lackings > 0 ? code->lacking[0] : "a builtin");
    return text != NULL ? text : "the machine lacks a builtin";
}

static enum rego_outcome
give_up(char why[REGO_WHY_SIZE], const char *reason)
{
    utf8_print(why, REGO_WHY_SIZE, "%s", reason);
    return REGO_GIVE_UP;
}

/* Return a copy of a value with what is hidden in it. NULL: no memory. */
static const struct rego_value *
put_hidden(struct rego_arena *arena, const struct rego_value *value, const json_t *hidden)
{
    const char *name;
    json_t *inner;
    bool object = value != NULL && value->type == REGO_OBJECT;
    if (!json_is_object(hidden))
        return &rego_hidden;
    struct rego_value *copy =
        object ? rego_copy(arena, value) : rego_object(arena, json_object_size(hidden));
    json_object_foreach ((json_t *) (uintptr_t) hidden, name, inner) {
        const struct rego_value *key = rego_string(arena, name, strlen(name));
        const struct rego_value *put =
            key != NULL ? put_hidden(arena, object ? rego_get(value, key) : NULL, inner) : NULL;
        if (copy == NULL || put == NULL || !rego_insert(arena, copy, key, put))
            return NULL;
    }
    return copy;
}

/* Read the input of a question. NULL: it cannot be read. */
static const struct rego_value *
read_input(struct rego_arena *arena, const struct engine_plan_question *question)
{
    const struct rego_value *input =
        question->document != NULL
            ? rego_of_json(arena, question->document, question->document_length)
            : rego_parse(arena, question->input, question->length);
    return input != NULL && question->hidden != NULL ? put_hidden(arena, input, question->hidden)
                                                     : input;
}

enum rego_outcome
engine_plan_run(TALLOC_CTX *mem, const struct engine_plan *plan,
                const struct engine_plan_question *question, json_t **ret_result,
                char why[REGO_WHY_SIZE])
{
    const struct rego_value *value = NULL;
    const struct rego_function *entrypoint =
        rego_plan_entrypoint(plan->code->plan, question->entrypoint);
    const char *reason = NULL;
    *ret_result = NULL;
    if (entrypoint == NULL)
        return give_up(why, NO_ENTRYPOINT);
    TALLOC_CTX *scratch = talloc_new(mem);
    struct rego_arena arena;
    rego_arena_init(&arena, scratch, ENGINE_PLAN_ANSWER_OCTETS_MAX);
    struct rego_question asked = {
        .plan = plan->code->plan,
        .entrypoint = entrypoint,
        .input = question->bare ? NULL : read_input(&arena, question),
        .data = plan->data,
        .now_ns = question->now_ns,
        .hides = question->hidden != NULL,
        .stopped = question->stopped,
    };
    const struct rego_bounds bounds = {
        .statements = question->statements > 0 ? question->statements : ENGINE_PLAN_STATEMENTS_MAX,
        .octets = ENGINE_PLAN_ANSWER_OCTETS_MAX,
        .deadline_us = question->deadline_us,
        .steps = question->steps,
    };
    enum rego_outcome outcome = asked.input != NULL || question->bare
                                    ? rego_evaluate(&arena, &asked, &bounds, &value, why)
                                    : give_up(why, "the input cannot be read");
    if (outcome == REGO_DONE && value != NULL) {
        *ret_result = engine_result(mem, value, &reason);
        outcome = *ret_result != NULL ? REGO_DONE : give_up(why, reason);
    }
    talloc_free(scratch);
    return outcome;
}

bool
engine_plan_is_unreached(TALLOC_CTX *mem, const struct engine_plan *one,
                         const struct engine_plan *other, const char *entrypoint)
{
    const struct rego_question first = {.plan = one->code->plan,
                                        .entrypoint =
                                            rego_plan_entrypoint(one->code->plan, entrypoint),
                                        .data = one->data},
                               second = {.plan = other->code->plan,
                                         .entrypoint =
                                             rego_plan_entrypoint(other->code->plan, entrypoint),
                                         .data = other->data};
    return first.entrypoint != NULL && second.entrypoint != NULL
           && rego_is_unreached(mem, &first, &second);
}

const char *
engine_plan_name(const struct engine_plan *plan)
{
    return plan->code->name;
}
