/* The instructions of a pattern, as Go's compiler makes them. */
#include "config.h"

#include "rego/pattern_private.h"

/* Instructions are made from the end: each piece knows the one that comes next. 0 is "failed". */
static uint32_t
code_add(struct pattern *pattern, enum pattern_op op, unsigned argument, uint32_t next,
         uint32_t other)
{
    if (next == 0 || pattern->count >= PATTERN_INSTRUCTIONS_MAX)
        return 0;
    pattern->code[pattern->count] =
        (struct instruction){.op = op, .argument = argument, .next = next, .other = other};
    return pattern->count++;
}

/* Add a choice between a piece and the instructions after it. */
static uint32_t
code_choose(struct pattern *pattern, uint32_t piece, uint32_t behind, bool lazy)
{
    return piece == 0
               ? 0
               : code_add(pattern, OP_SPLIT, 0, lazy ? behind : piece, lazy ? piece : behind);
}

/* Return x+ and, through *ret_loop, the choice at its end. */
static uint32_t
make_plus(struct pattern *pattern, const struct node *inner, bool lazy, uint32_t next,
          uint32_t *ret_loop)
{
    uint32_t loop = code_add(pattern, OP_SPLIT, 0, next, next);
    uint32_t piece = loop != 0 ? pattern_code(pattern, inner, loop) : 0;
    if (piece != 0)
        *(lazy ? &pattern->code[loop].other : &pattern->code[loop].next) = piece;
    *ret_loop = loop;
    return piece;
}

/* True if the node matches the empty text. */
static bool
is_nullable(const struct node *node)
{
    bool choice = node->type == NODE_CHOICE;
    if (node->type == NODE_SET)
        return false;
    if (node->type == NODE_REPEAT && node->least == 0)
        return true;
    for (const struct node *inner = node->inner; inner != NULL; inner = inner->next)
        if (is_nullable(inner) == choice)
            return choice;
    return !choice;
}

/* Repetitions as Go's: x{2,4} is xx(x(x)?)?, x{2,} is xx+, and x* of an x that may be empty is
 * (x+)?. */
static uint32_t
make_repeat(struct pattern *pattern, const struct node *node, uint32_t next)
{
    uint32_t code = next, loop;
    int copies = node->least;
    if (node->most < 0) {
        code = make_plus(pattern, node->inner, node->lazy, next, &loop);
        if (code != 0 && copies == 0)
            return is_nullable(node->inner) ? code_choose(pattern, code, next, node->lazy) : loop;
        copies--;
    }
    for (int i = node->least; i < node->most && code != 0; i++)
        code = code_choose(pattern, pattern_code(pattern, node->inner, code), next, node->lazy);
    for (; copies > 0 && code != 0; copies--)
        code = pattern_code(pattern, node->inner, code);
    return code;
}

static uint32_t
make_sequence(struct pattern *pattern, const struct node *part, uint32_t next)
{
    if (part == NULL || next == 0)
        return next;
    return pattern_code(pattern, part, make_sequence(pattern, part->next, next));
}

static uint32_t
make_choice(struct pattern *pattern, const struct node *way, uint32_t next)
{
    if (way->next == NULL)
        return pattern_code(pattern, way, next);
    uint32_t others = make_choice(pattern, way->next, next);
    uint32_t first = others != 0 ? pattern_code(pattern, way, next) : 0;
    return code_add(pattern, OP_SPLIT, 0, first, others);
}

uint32_t
pattern_code(struct pattern *pattern, const struct node *node, uint32_t next)
{
    uint32_t code;
    switch (node->type) {
    case NODE_EMPTY:
        return next;
    case NODE_SET:
        code = code_add(pattern, OP_CHARACTER, 0, next, 0);
        if (code != 0)
            pattern->code[code].set = node->set;
        return code;
    case NODE_PLACE:
        return code_add(pattern, OP_PLACE, node->argument, next, 0);
    case NODE_GROUP:
        code = code_add(pattern, OP_SAVE, node->argument * 2 + 1, next, 0);
        code = code != 0 ? make_sequence(pattern, node->inner, code) : 0;
        return code_add(pattern, OP_SAVE, node->argument * 2, code, 0);
    case NODE_SEQUENCE:
        return make_sequence(pattern, node->inner, next);
    case NODE_CHOICE:
        return make_choice(pattern, node->inner, next);
    case NODE_REPEAT:
        return make_repeat(pattern, node, next);
    }
    return 0;
}
