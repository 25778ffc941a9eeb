/* The base documents that functions look up. */
#include "config.h"

#include "rego/reach_private.h"

#include <string.h>

const struct rego_value reach_various = {.type = REGO_NULL};

/* Values of both sides at one place of the base documents; NULL: undefined. */
struct both {
    const struct rego_value *one, *other;
};

/* Content of a local at one statement. */
struct held {
    enum {
        HELD_UNKNOWN,  /* depends on the way to the statement */
        HELD_OTHER,    /* nothing of the base documents */
        HELD_DATA,     /* what is at one place of them */
        HELD_ARGUMENT, /* the constant that each call gives */
    } what;
    struct both data;
    const struct rego_value *constant; /* NULL: no call gave it yet */
};

/* A function while its statements are visited, in their order. */
struct frame {
    struct reach *reach;
    const struct reached *reached;
    struct held *local;
    bool *loose;  /* by block of the function and local: read where it is not known what it holds */
    bool *here;   /* the local was written in this block of the function */
    uint32_t top; /* this block */
    bool changed; /* an argument of another function is known better */
    bool lost;    /* no memory */
};

/* ---- what locals hold */

static struct held
held_by(const struct frame *frame, const struct rego_operand *operand)
{
    if (operand->constant != NULL)
        return (struct held){.what = HELD_OTHER, .constant = operand->constant};
    return frame->local[operand->local];
}

/* Return the constant that an operand always is, or NULL. */
static const struct rego_value *
constant_of(const struct frame *frame, const struct rego_operand *operand)
{
    const struct rego_value *constant = held_by(frame, operand).constant;
    return constant == &reach_various ? NULL : constant;
}

static struct both
look_up(const struct both *at, const struct rego_value *key)
{
    return (struct both){at->one != NULL ? rego_get(at->one, key) : NULL,
                         at->other != NULL ? rego_get(at->other, key) : NULL};
}

/* Return what a statement puts into its target. */
static struct held
held_after(const struct frame *frame, const struct rego_statement *statement)
{
    struct held source = held_by(frame, &statement->a);
    if (statement->kind == REGO_DOT && source.what == HELD_DATA) {
        const struct rego_value *key = constant_of(frame, &statement->b);
        if (key != NULL)
            return (struct held){.what = HELD_DATA, .data = look_up(&source.data, key)};
    }
    /* The planner copies an argument before it is used. */
    if (statement->kind == REGO_ASSIGN_VAR
        && (source.what == HELD_ARGUMENT || source.constant != NULL))
        return source;
    return (struct held){.what = HELD_OTHER};
}

static void
hold(struct frame *frame, uint32_t local, struct held held)
{
    if (local >= LOCAL_FIRST)
        frame->local[local] = held;
}

/* Note what a statement writes. */
static void
put(struct frame *frame, uint32_t local, struct held held)
{
    hold(frame, local, held);
    frame->here[local] = true;
}

/* Forget what a statement writes. Always true. */
static bool
forget_statement(void *arg, const struct rego_statement *statement)
{
    static const struct held unknown = {.what = HELD_UNKNOWN};
    if (statement->kind != REGO_BREAK)
        hold(arg, statement->target, unknown);
    if (statement->kind == REGO_SCAN)
        hold(arg, statement->b.local, unknown);
    return true;
}

/* Begin with what the parameters hold; those that are written somewhere are not known. */
static void
begin_function(struct frame *frame)
{
    const struct rego_function *function = frame->reached->one;
    const struct reach *reach = frame->reach;
    frame->local[LOCAL_INPUT].what = HELD_OTHER;
    frame->local[LOCAL_DATA] = (struct held){
        .what = HELD_DATA, .data = {reach->one->data, reach->other->data}
    };
    for (uint32_t i = LOCAL_FIRST; i < function->params; i++)
        frame->local[i] = (struct held){
            .what = HELD_ARGUMENT,
            .constant = frame->reached->argument != NULL ? frame->reached->argument[i] : NULL};
    reach_visit(function->block, function->blocks, forget_statement, frame);
}

/* Visit the statements of some blocks, with what locals hold there. What a block writes is not
 * known at its begin, because a loop comes there again, nor behind it. */
static bool
walk(struct frame *frame, const struct rego_block *block, uint32_t count, reach_visit_fn *visit)
{
    for (uint32_t i = 0; i < count; i++) {
        reach_visit(&block[i], 1, forget_statement, frame);
        for (uint32_t k = 0; k < block[i].count; k++) {
            const struct rego_statement *statement = &block[i].statement[k];
            if (!visit(frame, statement))
                return false;
            if (statement->kind != REGO_BREAK)
                put(frame, statement->target, held_after(frame, statement));
            if (statement->kind == REGO_SCAN)
                put(frame, statement->b.local, (struct held){.what = HELD_OTHER});
            if (!rego_has_blocks(statement))
                continue;
            if (!walk(frame, statement->block, statement->count, visit))
                return false;
            forget_statement(frame, statement);
        }
        reach_visit(&block[i], 1, forget_statement, frame);
    }
    return true;
}

/* Visit the statements of the function. The planner uses the locals of one rule body again in the
 * next one, which is the next block. */
static bool
walk_function(struct frame *frame, reach_visit_fn *visit)
{
    const struct rego_function *function = frame->reached->one;
    bool go_on = true;
    for (frame->top = 0; go_on && frame->top < function->blocks; frame->top++) {
        memset(frame->here, 0, function->locals * sizeof(*frame->here));
        go_on = walk(frame, &function->block[frame->top], 1, visit);
    }
    return go_on;
}

/* ---- visits */

/* Learn the arguments of a call. Always true. */
static bool
learn_arguments(void *arg, const struct rego_statement *statement)
{
    struct frame *frame = arg;
    if (statement->kind != REGO_CALL || statement->function == NULL)
        return true;
    const struct rego_function *function = statement->function;
    struct reached *called = &frame->reach->function[function->index];
    if (called->argument == NULL)
        called->argument =
            talloc_zero_array(frame->reach->mem, const struct rego_value *, function->params);
    frame->lost = frame->lost || called->argument == NULL;
    for (uint32_t i = LOCAL_FIRST; !frame->lost && i < function->params; i++) {
        struct held held = held_by(frame, &statement->operand[i]);
        const struct rego_value *given = held.constant, *before = called->argument[i];
        if (given == NULL && held.what != HELD_ARGUMENT)
            given = &reach_various;
        if (given == NULL || given == before || before == &reach_various)
            continue;
        called->argument[i] =
            before == NULL || (given != &reach_various && reach_same_value(before, given))
                ? given
                : &reach_various;
        frame->changed = frame->changed || called->argument[i] != before;
    }
    return true;
}

/* Note that a local is read where it is not known what it holds. If this block of the function has
 * not written it so far, it may hold what any other one wrote. */
static void
note_loose(struct frame *frame, uint32_t local)
{
    const struct rego_function *function = frame->reached->one;
    for (uint32_t i = 0; i < function->blocks; i++)
        if (i == frame->top || !frame->here[local])
            frame->loose[i * function->locals + local] = true;
}

static void
note_read(struct frame *frame, const struct rego_operand *operand)
{
    if (operand->constant == NULL && frame->local[operand->local].what == HELD_UNKNOWN)
        note_loose(frame, operand->local);
}

/* Note the locals that a statement reads where it is not known what they hold. A target that is
 * changed is read too. Always true. */
static bool
note_reads(void *arg, const struct rego_statement *statement)
{
    struct frame *frame = arg;
    switch ((enum rego_kind) statement->kind) {
    case REGO_ASSIGN_VAR_ONCE:
    case REGO_ARRAY_APPEND:
    case REGO_SET_ADD:
    case REGO_OBJECT_INSERT:
    case REGO_OBJECT_INSERT_ONCE:
    case REGO_WITH:
        note_loose(frame, statement->target);
        break;
    case REGO_CALL:
    case REGO_CALL_DYNAMIC:
        for (uint32_t i = 0; i < statement->count; i++)
            note_read(frame, &statement->operand[i]);
        break;
    default:
        break;
    }
    note_read(frame, &statement->a);
    if (statement->kind != REGO_SCAN) /* it writes b, the key */
        note_read(frame, &statement->b);
    return true;
}

static bool
is_same_at(const struct both *both)
{
    return reach_same_value(both->one, both->other);
}

/* True if an operand does not come from the base documents, or is equal on both sides. */
static bool
is_same(const struct frame *frame, const struct rego_operand *operand)
{
    struct held held = held_by(frame, operand);
    return held.what != HELD_DATA || is_same_at(&held.data);
}

static bool
is_array(const struct rego_value *value)
{
    return value != NULL && value->type == REGO_ARRAY;
}

/* True if a look-up finds the same on both sides. What it finds is compared where it is read, if
 * that is known; then it matters here only whether there is something. */
static bool
same_look_up(const struct frame *frame, const struct rego_statement *dot)
{
    struct held source = held_by(frame, &dot->a);
    if (source.what != HELD_DATA)
        return is_same(frame, &dot->b);
    const struct rego_value *key = constant_of(frame, &dot->b);
    if (key == NULL || is_array(source.data.one) || is_array(source.data.other))
        return is_same_at(&source.data) && is_same(frame, &dot->b);
    struct both found = look_up(&source.data, key);
    return frame->loose[frame->top * frame->reached->one->locals + dot->target]
               ? is_same_at(&found)
               : (found.one == NULL) == (found.other == NULL);
}

static bool
is_data(const struct rego_operand *operand)
{
    return operand->constant == NULL && operand->local == LOCAL_DATA;
}

/* True if what a call gets is the same on both sides. A function gets the base documents whole, and
 * looks them up itself. */
static bool
same_arguments(const struct frame *frame, const struct rego_statement *call)
{
    if (call->kind == REGO_CALL_DYNAMIC && (!is_same(frame, &call->a) || !is_data(&call->b)))
        return false;
    for (uint32_t i = 0; i < call->count; i++) {
        bool data = call->kind == REGO_CALL && call->function != NULL && i == LOCAL_DATA;
        if (data ? !is_data(&call->operand[i]) : !is_same(frame, &call->operand[i]))
            return false;
    }
    return true;
}

/* True if a statement reads the same on both sides. */
static bool
reads_same(void *arg, const struct rego_statement *statement)
{
    switch ((enum rego_kind) statement->kind) {
    case REGO_DOT:
        return same_look_up(arg, statement);
    case REGO_CALL:
    case REGO_CALL_DYNAMIC:
        return same_arguments(arg, statement);
    default:
        return is_same(arg, &statement->a) && is_same(arg, &statement->b);
    }
}

/* ---- all functions */

/* Visit the statements of each function that is reached. */
static bool
visit_functions(struct reach *reach, reach_visit_fn *visit, bool *ret_changed)
{
    bool go_on = true;
    *ret_changed = false;
    for (uint32_t i = 0; go_on && i < reach->count; i++) {
        const struct reached *reached = &reach->function[reach->order[i]];
        const struct rego_function *function = reached->one;
        struct frame frame = {.reach = reach, .reached = reached};
        frame.local = talloc_zero_array(reach->mem, struct held, function->locals);
        frame.loose = talloc_zero_array(frame.local, bool, function->blocks * function->locals);
        frame.here = talloc_zero_array(frame.local, bool, function->locals);
        go_on = frame.local != NULL && frame.loose != NULL && frame.here != NULL;
        if (go_on) {
            begin_function(&frame);
            go_on =
                walk_function(&frame, note_reads) && walk_function(&frame, visit) && !frame.lost;
        }
        *ret_changed = *ret_changed || frame.changed;
        talloc_free(frame.local);
    }
    return go_on;
}

bool
reach_data_is_same(struct reach *reach)
{
    bool changed = true;
    while (changed) /* an argument becomes known, then various: twice at most */
        if (!visit_functions(reach, learn_arguments, &changed))
            return false;
    return visit_functions(reach, reads_same, &changed);
}
