#include "config.h"

#include "rego/machine.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "rego/builtins.h"
#include "rego/machine_private.h"

/* Statements between two readings of the clock. */
#define CLOCK_STATEMENTS 1024

static int run_block(struct rego_machine *machine, const struct rego_value **local,
                     const struct rego_block *block);

const struct rego_value *
rego_stop(struct rego_machine *machine, enum rego_outcome outcome, const char *format, ...)
{
    va_list args;
    if (machine->outcome == REGO_DONE) {
        va_start(args, format);
        utf8_vprint(machine->why, sizeof(machine->why), format, args);
        va_end(args);
        machine->outcome = outcome;
        machine->pause = 0;
    }
    return NULL;
}

bool
rego_spend(struct rego_machine *machine, uint64_t steps)
{
    machine->steps += steps;
    machine->clock_steps += steps;
    if (machine->bounds.steps > 0 && machine->steps > machine->bounds.steps)
        rego_stop(machine, REGO_EXCEEDED, "the builtins take more than %llu steps",
                  (unsigned long long) machine->bounds.steps);
    if (machine->clock_steps >= REGO_CLOCK_STEPS) {
        machine->clock_steps = 0;
        if (machine->bounds.deadline_us > 0 && clock_monotonic_us() > machine->bounds.deadline_us)
            rego_stop(machine, REGO_EXCEEDED, "the evaluation takes too long");
    }
    return machine->outcome == REGO_DONE;
}

/* Return how many steps it takes to read a value once. */
static uint64_t
steps_to_read(const struct rego_value *value)
{
    return value->type >= REGO_ARRAY    ? value->nodes
           : value->type == REGO_STRING ? value->count / 16
                                        : 1;
}

/* Call a function whose parameters are given. NULL: undefined, or the evaluation ended. */
static const struct rego_value *
call_function(struct rego_machine *machine, const struct rego_function *function,
              const struct rego_value *const *local, const struct rego_operand *operand)
{
    bool memo = function->params == 2;
    if (memo && machine->memo[function->index] != NULL)
        return machine->memo[function->index];
    if (machine->locals + function->locals > REGO_LOCALS_MAX)
        return rego_stop(machine, REGO_EXCEEDED, "calls have more than %d locals in %.*s",
                         REGO_LOCALS_MAX, UTF8_SHOWN(function->name, 100));
    const struct rego_value **frame = machine->local + machine->locals;
    memset(frame, 0, function->locals * sizeof(frame[0]));
    for (uint32_t i = 0; i < function->params; i++) {
        frame[i] = machine_place(local, &operand[i]);
        /* OPA keeps what a function gave for arguments, and gives it again for equal ones. */
        if (i >= 2 && frame[i] != NULL && (frame[i]->traits & REGO_ODD) != 0)
            return rego_stop(machine, REGO_GIVE_UP, "a function of a number in an odd spelling");
    }
    machine->locals += function->locals;
    int end = BLOCK_END;
    for (uint32_t i = 0; i < function->blocks && end > BLOCK_RETURN; i++)
        end = run_block(machine, frame, &function->block[i]);
    machine->locals -= function->locals;
    if (end != BLOCK_RETURN)
        return NULL;
    const struct rego_value *value = machine->result;
    if (memo)
        machine->memo[function->index] = value;
    return value;
}

/* Call the function or builtin of a statement. */
static int
run_call(struct rego_machine *machine, const struct rego_value **local,
         const struct rego_statement *statement)
{
    const struct rego_value *value, *arg[REGO_ARGUMENTS_MAX];
    if (statement->function != NULL)
        value = call_function(machine, statement->function, local, statement->operand);
    else if (statement->builtin == NULL)
        value = rego_stop(machine, REGO_GIVE_UP, "%.*s is not built in",
                          UTF8_SHOWN(statement->name, 100));
    else {
        uint64_t steps = 0;
        uint32_t there = 0;
        for (; there < statement->count; there++) {
            if ((arg[there] = machine_place(local, &statement->operand[there])) == NULL)
                break;
            steps += steps_to_read(arg[there]);
        }
        if (!rego_spend(machine, steps) || there < statement->count)
            return machine->outcome == REGO_DONE ? 0 : BLOCK_STOP;
        value = statement->builtin->run(machine, arg);
        if (value == NULL && machine->arena->full)
            return machine_stop_for_memory(machine);
    }
    if (machine->outcome != REGO_DONE)
        return BLOCK_STOP;
    local[statement->target] = value;
    return value != NULL ? BLOCK_END : 0;
}

/* Call the function that stands at a path. If there is no function, the block is left; if the
 * function is undefined, three more blocks are left, with the look-up in the base documents. */
static int
run_call_dynamic(struct rego_machine *machine, const struct rego_value **local,
                 const struct rego_statement *statement)
{
    const struct rego_operand args[2] = {statement->a, statement->b};
    const struct rego_value *at = machine->question->plan->dynamic;
    for (uint32_t i = 0; i < statement->count && at != NULL; i++) {
        const struct rego_value *key = machine_place(local, &statement->operand[i]);
        at = key != NULL && at->type == REGO_OBJECT ? rego_get(at, key) : NULL;
    }
    if (at == NULL || at->type != REGO_NUMBER)
        return 0;
    const struct rego_function *function = &machine->question->plan->function[at->integer];
    if (function->params != 2)
        return 0;
    const struct rego_value *value = call_function(machine, function, local, args);
    if (machine->outcome != REGO_DONE)
        return BLOCK_STOP;
    local[statement->target] = value;
    return value != NULL ? BLOCK_END : 3;
}

/* Run blocks one after the other. A break with index 0 ends only the block itself. */
static int
run_blocks(struct rego_machine *machine, const struct rego_value **local,
           const struct rego_statement *statement)
{
    for (uint32_t i = 0; i < statement->count; i++) {
        int end = run_block(machine, local, &statement->block[i]);
        if (end > 0)
            return end - 1;
        if (end < BLOCK_END)
            return end;
    }
    return BLOCK_END;
}

/* Run a block for each item. A break with index 0 goes on to the next one; with 1 it ends the
 * scan. OPA iterates a set or object that is written with variables before they have values: in
 * another order, and equal items twice, which shows in an array. */
static int
run_scan(struct rego_machine *machine, const struct rego_value **local,
         const struct rego_statement *statement)
{
    const struct rego_value *source = local[statement->a.local];
    if (source == NULL || source->type < REGO_ARRAY)
        return BLOCK_END;
    if (source->literal && statement->ordered) {
        rego_stop(machine, REGO_GIVE_UP, "a set or object of variables is iterated");
        return BLOCK_STOP;
    }
    for (uint32_t i = 0; i < source->count; i++) {
        const struct rego_value *key, *value;
        if (source->type == REGO_OBJECT) {
            key = source->member[i].key;
            value = source->member[i].value;
        } else {
            value = source->item[i];
            key = source->type == REGO_SET ? value : rego_integer(machine->arena, i);
        }
        if (key == NULL)
            return machine_stop_for_memory(machine);
        local[statement->b.local] = key;
        local[statement->target] = value;
        int end = run_block(machine, local, statement->block);
        if (end > 0)
            return end == 1 ? BLOCK_END : end - 2;
        if (end < BLOCK_END)
            return end;
    }
    return BLOCK_END;
}

/* True for a block that reached its end. */
static int
run_not(struct rego_machine *machine, const struct rego_value **local,
        const struct rego_statement *statement)
{
    int end = run_block(machine, local, statement->block);
    if (end == BLOCK_END)
        return 0;
    if (end == 0)
        return BLOCK_END;
    return end > 0 ? end - 1 : end;
}

/* Return the value with another one inserted at a path; values on the path that are not objects are
 * replaced. */
static const struct rego_value *
put_at_path(struct rego_machine *machine, const struct rego_value *value,
            const struct rego_value *const *path, const struct rego_value *other)
{
    if (*path == NULL)
        return other;
    bool object = value != NULL && value->type == REGO_OBJECT;
    struct rego_value *copy =
        object ? rego_copy(machine->arena, value) : rego_object(machine->arena, 1);
    const struct rego_value *inner =
        put_at_path(machine, object ? rego_get(value, *path) : NULL, path + 1, other);
    return copy != NULL && rego_insert(machine->arena, copy, *path, inner) ? copy : NULL;
}

/* Run a block with another value of a local. Remembered results of functions are not used in it. */
static int
run_with(struct rego_machine *machine, const struct rego_value **local,
         const struct rego_statement *statement)
{
    const struct rego_value **memo = machine->memo, *before = local[statement->target];
    const struct rego_value *value = machine_place(local, &statement->a);
    machine->memo =
        rego_take(machine->arena, machine->question->plan->functions * sizeof(memo[0]) + 1);
    if (value != NULL)
        value = put_at_path(machine, before, statement->path, value);
    if (machine->memo == NULL || (value == NULL && machine->arena->full))
        return machine_stop_for_memory(machine);
    local[statement->target] = value;
    int end = run_block(machine, local, statement->block);
    local[statement->target] = before;
    machine->memo = memo;
    return end > 0 ? end - 1 : end;
}

/* True if an item is looked up in a set that has it with a number in another spelling. */
static bool
is_found_otherwise(const struct rego_value *set, const struct rego_value *item)
{
    const struct rego_value *found = set->type == REGO_SET ? rego_get(set, item) : NULL;
    return found != NULL && rego_is_spelled_otherwise(found, item);
}

/* True if a number is compared with itself in another spelling. */
static bool
is_twin(const struct rego_value *a, const struct rego_value *b)
{
    return a->type == REGO_NUMBER && b->type == REGO_NUMBER && rego_compare(a, b) == 0
           && rego_is_spelled_otherwise(a, b);
}

/* True if an array is looked up by a text that may be a number: OPA reads data.list["1"] of a base
 * document as data.list[1], and no item of other arrays; the plan does not distinguish the two. */
static bool
is_index_text(const struct rego_value *value, const struct rego_value *key)
{
    return value->type == REGO_ARRAY && key->type == REGO_STRING && key->count > 0
           && strchr("+-0123456789", key->text[0]) != NULL;
}

/* Look a key up. OPA reads data[2] of a base document as data["2"], but data[x] with the value of
 * x; the plan does not distinguish the two. */
static int
run_dot(struct rego_machine *machine, const struct rego_value **local,
        const struct rego_statement *statement)
{
    const struct rego_value *value = machine_place(local, &statement->a);
    const struct rego_value *key = machine_place(local, &statement->b);
    if (value == NULL || key == NULL)
        return 0;
    const struct rego_value *found = rego_get(value, key);
    if (value->type == REGO_OBJECT && key->type == REGO_NUMBER
        && (found == NULL || is_twin(key, rego_key(value, key)))) {
        rego_stop(machine, REGO_GIVE_UP, "a number is looked up in an object");
        return BLOCK_STOP;
    }
    if (is_index_text(value, key)) {
        rego_stop(machine, REGO_GIVE_UP, "a text is looked up in an array");
        return BLOCK_STOP;
    }
    if (is_found_otherwise(value, key)) {
        rego_stop(machine, REGO_GIVE_UP, "a number is looked up in a set in another form");
        return BLOCK_STOP;
    }
    local[statement->target] = found;
    return found != NULL ? BLOCK_END : 0;
}

/* Compare two places, one of which may hold a document. */
static bool
equal_places(struct rego_machine *machine, const struct rego_value *const *local,
             const struct rego_statement *statement)
{
    const struct rego_value *value = machine_place(local, &statement->a),
                            *other = machine_place(local, &statement->b);
    if (value != NULL && value->type >= REGO_ARRAY)
        rego_spend(machine, value->nodes);
    if (value != NULL && other != NULL && is_twin(value, other))
        rego_stop(machine, REGO_GIVE_UP, "a number that is compared with itself in another form");
    return machine_equal(value, other);
}

static int
is_type(const struct rego_value *value, enum rego_type type)
{
    return value != NULL && value->type == type ? BLOCK_END : 0;
}

static int
run_statement(struct rego_machine *machine, const struct rego_value **local,
              const struct rego_statement *statement)
{
    const struct rego_value *value;
    switch ((enum rego_kind) statement->kind) {
    case REGO_RETURN:
        machine->result = local[statement->a.local];
        return BLOCK_RETURN;
    case REGO_CALL:
        return run_call(machine, local, statement);
    case REGO_CALL_DYNAMIC:
        return run_call_dynamic(machine, local, statement);
    case REGO_BLOCKS:
        return run_blocks(machine, local, statement);
    case REGO_BREAK:
        return (int) statement->target;
    case REGO_DOT:
        return run_dot(machine, local, statement);
    case REGO_LEN:
        value = machine_place(local, &statement->a);
        value = rego_integer(machine->arena,
                             value != NULL && value->type >= REGO_ARRAY ? value->count : 0);
        local[statement->target] = value;
        return value != NULL ? BLOCK_END : machine_stop_for_memory(machine);
    case REGO_SCAN:
        return run_scan(machine, local, statement);
    case REGO_NOT:
        return run_not(machine, local, statement);
    case REGO_MAKE:
    case REGO_ASSIGN_INT:
        local[statement->target] = statement->a.constant;
        return BLOCK_END;
    case REGO_ASSIGN_VAR:
        local[statement->target] = machine_place(local, &statement->a);
        return BLOCK_END;
    case REGO_ASSIGN_VAR_ONCE:
        return machine_assign_once(machine, local, statement);
    case REGO_RESET_LOCAL:
        local[statement->target] = NULL;
        return BLOCK_END;
    case REGO_MAKE_ARRAY:
        return machine_make(machine, local, statement, REGO_ARRAY);
    case REGO_MAKE_OBJECT:
        return machine_make(machine, local, statement, REGO_OBJECT);
    case REGO_MAKE_SET:
        return machine_make(machine, local, statement, REGO_SET);
    case REGO_EQUAL:
        return equal_places(machine, local, statement) ? BLOCK_END : 0;
    case REGO_NOT_EQUAL:
        return equal_places(machine, local, statement) ? 0 : BLOCK_END;
    case REGO_IS_ARRAY:
        return is_type(machine_place(local, &statement->a), REGO_ARRAY);
    case REGO_IS_OBJECT:
        return is_type(machine_place(local, &statement->a), REGO_OBJECT);
    case REGO_IS_SET:
        return is_type(machine_place(local, &statement->a), REGO_SET);
    case REGO_IS_DEFINED:
        return local[statement->a.local] != NULL ? BLOCK_END : 0;
    case REGO_IS_UNDEFINED:
        return local[statement->a.local] == NULL ? BLOCK_END : 0;
    case REGO_ARRAY_APPEND:
        return machine_add(machine, local, statement, REGO_ARRAY);
    case REGO_SET_ADD:
        return machine_add(machine, local, statement, REGO_SET);
    case REGO_OBJECT_INSERT:
        return machine_insert(machine, local, statement, false);
    case REGO_OBJECT_INSERT_ONCE:
        return machine_insert(machine, local, statement, true);
    case REGO_OBJECT_MERGE:
        return machine_merge(machine, local, statement);
    case REGO_WITH:
        return run_with(machine, local, statement);
    case REGO_RESULT_SET_ADD:
        value = local[statement->a.local];
        machine->result = value != NULL ? rego_get_text(value, "result") : NULL;
        return BLOCK_END;
    case REGO_NOP:
        break;
    }
    return BLOCK_END;
}

/* Return the number of the next statement before which there is something to look at. */
static uint64_t
next_pause(const struct rego_machine *machine)
{
    uint64_t next = machine->statements + 1, most = machine->bounds.statements + 1;
    if (!machine->question->hides)
        next = (machine->statements / CLOCK_STATEMENTS + 1) * CLOCK_STATEMENTS;
    return next < most ? next : most;
}

/* Look at the bounds, and at hidden values, before a statement. True if the evaluation may go on.
 */
static bool
look_around(struct rego_machine *machine, const struct rego_value *const *local,
            const struct rego_statement *statement)
{
    if (machine->statements > machine->bounds.statements)
        rego_stop(machine, REGO_EXCEEDED, "the evaluation takes more than %llu statements",
                  (unsigned long long) machine->bounds.statements);
    else if (machine->statements % CLOCK_STATEMENTS == 0 && machine->bounds.deadline_us > 0
             && clock_monotonic_us() > machine->bounds.deadline_us)
        rego_stop(machine, REGO_EXCEEDED, "the evaluation takes too long");
    else if (machine->question->hides && machine_reads_hidden(local, statement))
        rego_stop(machine, REGO_TOUCHED, "the answer depends on a value that is not known");
    if (machine->outcome != REGO_DONE)
        return false;
    machine->pause = next_pause(machine);
    return true;
}

/* Count a statement. True if the evaluation may go on. */
static inline bool
count_statement(struct rego_machine *machine, const struct rego_value *const *local,
                const struct rego_statement *statement)
{
    return ++machine->statements < machine->pause || look_around(machine, local, statement);
}

/* Note where the evaluation ended early: at the innermost statement, which comes first. */
static void
note_place(const struct rego_machine *machine, const struct rego_statement *statement)
{
    struct rego_place *place = machine->question->stopped;
    const struct rego_plan *plan = machine->question->plan;
    if (place != NULL && place->file == NULL && statement->file < plan->files)
        *place = (struct rego_place){plan->file[statement->file], statement->row};
}

/* Run the statements of a block, which is where the C stack grows: each block of a call, and each
 * block within a block, is one level. */
static int
run_block(struct rego_machine *machine, const struct rego_value **local,
          const struct rego_block *block)
{
    int end = BLOCK_END;
    if (machine->depth == REGO_NESTING_MAX) {
        rego_stop(machine, REGO_EXCEEDED, "calls and blocks are nested more than %d deep",
                  REGO_NESTING_MAX);
        return BLOCK_STOP;
    }
    machine->depth++;
    uint32_t i = 0;
    for (; i < block->count && end == BLOCK_END; i++)
        end = count_statement(machine, local, &block->statement[i])
                  ? run_statement(machine, local, &block->statement[i])
                  : BLOCK_STOP;
    machine->depth--;
    if (end == BLOCK_STOP)
        note_place(machine, &block->statement[i - 1]);
    return end;
}

enum rego_outcome
rego_evaluate(struct rego_arena *arena, const struct rego_question *question,
              const struct rego_bounds *bounds, const struct rego_value **ret_value,
              char why[REGO_WHY_SIZE])
{
    const struct rego_function *entrypoint = question->entrypoint;
    struct rego_machine machine = {.arena = arena, .question = question, .bounds = *bounds};
    machine.memo = rego_take(arena, question->plan->functions * sizeof(machine.memo[0]) + 1);
    machine.local = talloc_array(arena->mem, const struct rego_value *, REGO_LOCALS_MAX);
    *ret_value = NULL;
    arena->twins = false;
    machine.pause = next_pause(&machine);
    if (machine.memo == NULL || machine.local == NULL) {
        machine_stop_for_memory(&machine);
    } else if (entrypoint->locals > REGO_LOCALS_MAX) {
        rego_stop(&machine, REGO_EXCEEDED, "%.*s has more than %d locals",
                  UTF8_SHOWN(entrypoint->name, 100), REGO_LOCALS_MAX);
    } else {
        memset(machine.local, 0, entrypoint->locals * sizeof(machine.local[0]));
        machine.local[0] = question->input;
        machine.local[1] = question->data;
        machine.locals = entrypoint->locals;
        int end = BLOCK_END;
        for (uint32_t i = 0; i < entrypoint->blocks && end > BLOCK_RETURN; i++)
            end = run_block(&machine, machine.local, &entrypoint->block[i]);
    }
    talloc_free(machine.local);
    if (arena->twins && machine.outcome == REGO_CONFLICT)
        machine.outcome = REGO_DONE;
    if (arena->twins)
        rego_stop(&machine, REGO_GIVE_UP, "equal numbers in two spellings");
    if (machine.result != NULL && (machine.result->traits & REGO_HIDDEN) != 0)
        rego_stop(&machine, REGO_TOUCHED, "the answer has a value that is not known");
    if (machine.outcome == REGO_DONE)
        *ret_value = machine.result;
    memcpy(why, machine.why, REGO_WHY_SIZE);
    return machine.outcome;
}
