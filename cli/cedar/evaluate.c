/* The evaluator. It recurses as deep as the tree, which the parser limits. */
#include "config.h"

#include <string.h>

#include "cedar/function.h"
#include "cli/cedar/authorize.h"

/* One evaluation. */
struct evaluation {
    TALLOC_CTX *mem;
    const struct cedar_entities *entities;
    const struct cedar_request *request;
    bool *no_memory; /* set if an allocation failed */
};

static bool evaluate_node(const struct evaluation *run, const struct cedar_node *node,
                          struct cedar_value *ret);

/* Record that an allocation failed; returns false. */
static bool
fail_memory(const struct evaluation *run)
{
    *run->no_memory = true;
    return false;
}

static bool
give_bool(struct cedar_value *ret, bool truth)
{
    *ret = (struct cedar_value){.type = CEDAR_BOOL, .truth = truth};
    return true;
}

static bool
evaluate_bool(const struct evaluation *run, const struct cedar_node *node, bool *ret)
{
    struct cedar_value value;
    if (!evaluate_node(run, node, &value) || value.type != CEDAR_BOOL)
        return false;
    *ret = value.truth;
    return true;
}

static bool
evaluate_children(const struct evaluation *run, const struct cedar_node *node,
                  struct cedar_value **ret)
{
    struct cedar_value *value = talloc_array(run->mem, struct cedar_value, node->children);
    if (value == NULL)
        return fail_memory(run);
    for (size_t i = 0; i < node->children; i++)
        if (!evaluate_node(run, node->child[i], &value[i]))
            return false;
    *ret = value;
    return true;
}

/* `&&` and `||` end at the first operand that decides; no later one can make an error. */
static bool
evaluate_lazy(const struct evaluation *run, const struct cedar_node *node, struct cedar_value *ret)
{
    bool deciding = node->kind == CEDAR_OR, truth = !deciding;
    for (size_t i = 0; i < node->children && truth != deciding; i++)
        if (!evaluate_bool(run, node->child[i], &truth))
            return false;
    return give_bool(ret, truth);
}

static bool
evaluate_if(const struct evaluation *run, const struct cedar_node *node, struct cedar_value *ret)
{
    bool truth;
    return evaluate_bool(run, node->child[0], &truth)
           && evaluate_node(run, node->child[truth ? 1 : 2], ret);
}

/* Sums and products of Long; a result of more than 64 bits is an error. */
static bool
evaluate_arithmetic(const struct evaluation *run, const struct cedar_node *node,
                    struct cedar_value *ret)
{
    struct cedar_value *value;
    bool over = false;
    if (!evaluate_children(run, node, &value))
        return false;
    for (size_t i = 0; i < node->children; i++)
        if (value[i].type != CEDAR_LONG)
            return false;
    int64_t result = value[0].number;
    for (size_t i = 1; i < node->children && !over; i++)
        over = node->kind == CEDAR_PRODUCT
                   ? __builtin_mul_overflow(result, value[i].number, &result)
               : node->minus[i] ? __builtin_sub_overflow(result, value[i].number, &result)
                                : __builtin_add_overflow(result, value[i].number, &result);
    *ret = (struct cedar_value){.type = CEDAR_LONG, .number = result};
    return !over;
}

static bool
evaluate_unary(const struct evaluation *run, const struct cedar_node *node, struct cedar_value *ret)
{
    struct cedar_value value;
    if (!evaluate_node(run, node->child[0], &value))
        return false;
    if (node->kind == CEDAR_NOT)
        return value.type == CEDAR_BOOL && give_bool(ret, !value.truth);
    if (value.type != CEDAR_LONG || value.number == INT64_MIN)
        return false;
    *ret = (struct cedar_value){.type = CEDAR_LONG, .number = -value.number};
    return true;
}

static bool
has_order(enum cedar_type type)
{
    return type == CEDAR_LONG || type == CEDAR_DATETIME || type == CEDAR_DURATION;
}

/* Values of any types can be compared for equality; only two values of one type have an order. */
static bool
evaluate_comparison(const struct evaluation *run, const struct cedar_node *node,
                    struct cedar_value *ret)
{
    struct cedar_value *value;
    if (!evaluate_children(run, node, &value))
        return false;
    int order = cedar_compare(&value[0], &value[1]);
    if (node->kind == CEDAR_EQUAL || node->kind == CEDAR_NOT_EQUAL)
        return give_bool(ret, (order == 0) == (node->kind == CEDAR_EQUAL));
    if (value[0].type != value[1].type || !has_order(value[0].type))
        return false;
    return give_bool(ret, node->kind == CEDAR_LESS         ? order < 0
                          : node->kind == CEDAR_LESS_EQUAL ? order <= 0
                          : node->kind == CEDAR_GREATER    ? order > 0
                                                           : order >= 0);
}

/* True in *ret if an entity is in another one, or in one of a set. */
static bool
entity_is_in(const struct evaluation *run, const struct cedar_value *left,
             const struct cedar_value *right, bool *ret)
{
    const struct cedar_value *above = right->type == CEDAR_SET ? right->all.member : right;
    size_t count = right->type == CEDAR_SET ? right->all.count : 1;
    bool found = false;
    if (left->type != CEDAR_ENTITY)
        return false;
    for (size_t i = 0; i < count; i++)
        if (above[i].type != CEDAR_ENTITY)
            return false;
    for (size_t i = 0; i < count && !found; i++)
        found = cedar_entity_in(run->entities, &left->uid, &above[i].uid);
    *ret = found;
    return true;
}

static bool
evaluate_in(const struct evaluation *run, const struct cedar_node *node, struct cedar_value *ret)
{
    struct cedar_value *value;
    bool found;
    return evaluate_children(run, node, &value) && entity_is_in(run, &value[0], &value[1], &found)
           && give_bool(ret, found);
}

/* `a is T in b` is `a is T && a in b`: b is not evaluated if a is of another type. */
static bool
evaluate_is(const struct evaluation *run, const struct cedar_node *node, struct cedar_value *ret)
{
    struct cedar_value left, right;
    bool found = true;
    if (!evaluate_node(run, node->child[0], &left) || left.type != CEDAR_ENTITY)
        return false;
    bool same = cedar_text_compare(left.uid.type, node->text[0]) == 0;
    if (same && node->children == 2
        && (!evaluate_node(run, node->child[1], &right)
            || !entity_is_in(run, &left, &right, &found)))
        return false;
    return give_bool(ret, same && found);
}

/* Find an attribute. False: the value has none by its type. *ret NULL: it does not have this one,
 * or the entity is not known. */
static bool
find_attribute(const struct evaluation *run, const struct cedar_value *value,
               struct cedar_text name, const struct cedar_value **ret)
{
    if (value->type == CEDAR_RECORD) {
        *ret = cedar_record_get(value, name);
        return true;
    }
    if (value->type != CEDAR_ENTITY)
        return false;
    const struct cedar_entity *entity = cedar_entity_find(run->entities, &value->uid);
    *ret = entity != NULL ? cedar_record_get(&entity->attributes, name) : NULL;
    return true;
}

/* `x has a.b` is `x has a && x.a has b`. */
static bool
evaluate_has(const struct evaluation *run, const struct cedar_node *node, struct cedar_value *ret)
{
    struct cedar_value value;
    const struct cedar_value *found = &value;
    if (!evaluate_node(run, node->child[0], &value))
        return false;
    for (size_t i = 0; i < node->texts && found != NULL; i++)
        if (!find_attribute(run, found, node->text[i], &found))
            return false;
    return give_bool(ret, found != NULL);
}

static bool
evaluate_attribute(const struct evaluation *run, const struct cedar_node *node,
                   struct cedar_value *ret)
{
    struct cedar_value value;
    const struct cedar_value *found;
    if (!evaluate_node(run, node->child[0], &value)
        || !find_attribute(run, &value, node->text[0], &found) || found == NULL)
        return false;
    *ret = *found;
    return true;
}

/* True if a text is the parts with any text between them. The first part begins the text and the
 * last one ends it; each other part is matched as far to the left as possible. */
static bool
matches(struct cedar_text text, const struct cedar_text *part, size_t parts)
{
    const struct cedar_text *last = &part[parts - 1];
    if (parts == 1)
        return cedar_text_compare(text, *part) == 0;
    if (text.length < part->length + last->length || memcmp(text.at, part->at, part->length) != 0
        || memcmp(text.at + text.length - last->length, last->at, last->length) != 0)
        return false;
    const char *at = text.at + part->length, *end = text.at + text.length - last->length;
    for (size_t i = 1; i + 1 < parts; i++) {
        if (part[i].length == 0)
            continue;
        at = memmem(at, (size_t) (end - at), part[i].at, part[i].length);
        if (at == NULL)
            return false;
        at += part[i].length;
    }
    return true;
}

static bool
evaluate_like(const struct evaluation *run, const struct cedar_node *node, struct cedar_value *ret)
{
    struct cedar_value value;
    return evaluate_node(run, node->child[0], &value) && value.type == CEDAR_STRING
           && give_bool(ret, matches(value.text, node->text, node->texts));
}

static bool
evaluate_record(const struct evaluation *run, const struct cedar_node *node,
                struct cedar_value *ret)
{
    struct cedar_value *value;
    struct cedar_text *name = talloc_array(run->mem, struct cedar_text, node->texts);
    if (name == NULL)
        return fail_memory(run);
    if (!evaluate_children(run, node, &value))
        return false;
    if (node->texts > 0)
        memcpy(name, node->text, node->texts * sizeof(*name));
    return cedar_record(name, value, node->texts, ret);
}

static bool
evaluate_set(const struct evaluation *run, const struct cedar_node *node, struct cedar_value *ret)
{
    struct cedar_value *value;
    if (!evaluate_children(run, node, &value))
        return false;
    *ret = cedar_set(value, node->children);
    return true;
}

static bool
evaluate_call(const struct evaluation *run, const struct cedar_node *node, struct cedar_value *ret)
{
    struct cedar_value *value;
    return evaluate_children(run, node, &value) && node->children >= node->function->minimum
           && node->children <= node->function->maximum
           && node->function->call(run->entities, value, node->children, ret);
}

static bool
evaluate_literal(const struct evaluation *run, const struct cedar_node *node,
                 struct cedar_value *ret)
{
    *ret = node->kind == CEDAR_LITERAL ? node->value : run->request->variable[node->variable];
    return true;
}

static bool (*const evaluators[])(const struct evaluation *run, const struct cedar_node *node,
                                  struct cedar_value *ret) = {
    [CEDAR_LITERAL] = evaluate_literal,
    [CEDAR_VARIABLE] = evaluate_literal,
    [CEDAR_OR] = evaluate_lazy,
    [CEDAR_AND] = evaluate_lazy,
    [CEDAR_SUM] = evaluate_arithmetic,
    [CEDAR_PRODUCT] = evaluate_arithmetic,
    [CEDAR_NOT] = evaluate_unary,
    [CEDAR_NEGATE] = evaluate_unary,
    [CEDAR_IF] = evaluate_if,
    [CEDAR_EQUAL] = evaluate_comparison,
    [CEDAR_NOT_EQUAL] = evaluate_comparison,
    [CEDAR_LESS] = evaluate_comparison,
    [CEDAR_LESS_EQUAL] = evaluate_comparison,
    [CEDAR_GREATER] = evaluate_comparison,
    [CEDAR_GREATER_EQUAL] = evaluate_comparison,
    [CEDAR_IN] = evaluate_in,
    [CEDAR_IS] = evaluate_is,
    [CEDAR_HAS] = evaluate_has,
    [CEDAR_LIKE] = evaluate_like,
    [CEDAR_ATTRIBUTE] = evaluate_attribute,
    [CEDAR_SET_OF] = evaluate_set,
    [CEDAR_RECORD_OF] = evaluate_record,
    [CEDAR_CALL] = evaluate_call,
};

static bool
evaluate_node(const struct evaluation *run, const struct cedar_node *node, struct cedar_value *ret)
{
    return evaluators[node->kind](run, node, ret);
}

bool
cedar_evaluate(TALLOC_CTX *mem, const struct cedar_node *node,
               const struct cedar_entities *entities, const struct cedar_request *request,
               struct cedar_value *ret, bool *ret_no_memory)
{
    const struct evaluation run = {mem, entities, request, ret_no_memory};
    *ret_no_memory = false;
    return evaluate_node(&run, node, ret);
}
