/* Expressions. An operator that is not lazy becomes a nested call of the runtime, which is
 * undefined if an argument is undefined, as an error of an operand is an error of the operator in
 * Cedar. */
#include "config.h"

#include "cedar/rego_expression.h"

#include <string.h>

#include "cedar/function.h"
#include "cedar/json.h"
#include "cedar/lex.h"

/* Functions of the runtime for operators: the name, and whether the operands are exchanged. */
static const struct {
    const char *name;
    bool exchanged, negated;
} operators_of_rego[] = {
    [CEDAR_EQUAL] = {"same",      false, false},
      [CEDAR_NOT_EQUAL] = {"same",      false, true },
    [CEDAR_LESS] = {"before",    false, false},
      [CEDAR_LESS_EQUAL] = {"not_after", false, false},
    [CEDAR_GREATER] = {"before",    true,  false},
      [CEDAR_GREATER_EQUAL] = {"not_after", true,  false},
    [CEDAR_IN] = {"in_",       false, false},
      [CEDAR_NOT] = {"neg",       false, false},
    [CEDAR_NEGATE] = {"opposite",  false, false},
};

/* Append a pattern of RE2 for the whole text. */
static void
put_like(struct cedar_generation *gen, struct buf *buf, const struct cedar_node *node)
{
    BUF_AUTO pattern;
    size_t length = 0;
    buf_init(&pattern, gen->mem, CEDAR_REGO_MAX);
    buf_append_text(&pattern, "(?s)\\A");
    for (size_t i = 0; i < node->texts; i++) {
        buf_append_text(&pattern, i > 0 ? ".*" : "");
        for (size_t j = 0; j < node->text[i].length; j++) {
            char c = node->text[i].at[j];
            if (c > ' ' && c < 0x7f && strchr("\\.+*?()|[]{}^$", c) != NULL)
                buf_append_char(&pattern, '\\');
            buf_append_char(&pattern, c);
        }
    }
    buf_append_text(&pattern, "\\z");
    char *text = buf_take(&pattern, &length);
    if (text == NULL) {
        gen->rules.status = AZ_SERVER_ERROR;
        return;
    }
    buf_append_text(buf, "rt.like(");
    cedar_rego_put_node(gen, buf, node->child[0]);
    buf_append_char(buf, ',');
    cedar_json_put(buf, (struct cedar_text){text, length});
    buf_append_char(buf, ')');
    talloc_free(text);
}

/* Append terms with commas between them. */
static void
put_terms(struct cedar_generation *gen, struct buf *buf, const struct cedar_node *node)
{
    for (size_t i = 0; i < node->children; i++) {
        buf_append_text(buf, i > 0 ? "," : "");
        if (node->kind == CEDAR_RECORD_OF) {
            if (cedar_text_is(node->text[i], CEDAR_REGO_ENTITY)
                || cedar_text_is(node->text[i], CEDAR_REGO_EXTENSION))
                cedar_fail(gen->fault, node->child[i]->place,
                           "a record with the member `%.*s` cannot be compiled to Rego",
                           (int) node->text[i].length, node->text[i].at);
            cedar_json_put(buf, node->text[i]);
            buf_append_char(buf, ':');
        }
        cedar_rego_put_node(gen, buf, node->child[i]);
    }
}

/* Append the operands `from` to `to` of a sum or product, from the left, two at a time; the rule
 * `before`, or the first operand if it is 0, has the value of those before them. */
static void
put_operands(struct cedar_generation *gen, struct buf *buf, const struct cedar_node *node,
             size_t from, size_t to, unsigned before)
{
    for (size_t i = to; i-- > from;)
        buf_append_text(buf, node->kind == CEDAR_PRODUCT ? "rt.product_of("
                             : node->minus[i]            ? "rt.difference("
                                                         : "rt.sum_of(");
    if (before > 0)
        buf_append_format(buf, "x%u", before);
    else
        cedar_rego_put_node(gen, buf, node->child[0]);
    for (size_t i = from; i < to; i++) {
        buf_append_char(buf, ',');
        cedar_rego_put_node(gen, buf, node->child[i]);
        buf_append_char(buf, ')');
    }
}

/* Append a sum or product. Each part of a long one is a rule. */
static void
put_arithmetic(struct cedar_generation *gen, struct buf *buf, const struct cedar_node *node)
{
    unsigned before = 0;
    size_t from = 1;
    for (; node->children - from > CEDAR_REGO_CHAIN_MAX; from += CEDAR_REGO_CHAIN_MAX) {
        BUF_AUTO part;
        unsigned rule = ++gen->rule;
        buf_init(&part, gen->mem, CEDAR_REGO_MAX);
        buf_append_format(&part, "x%u := ", rule);
        put_operands(gen, &part, node, from, from + CEDAR_REGO_CHAIN_MAX, before);
        buf_append_char(&part, '\n');
        cedar_rego_end_rule(gen, &part);
        before = rule;
    }
    put_operands(gen, buf, node, from, node->children, before);
}

/* Append a call. A constructor of a literal becomes its value, or an error if it has none. */
static void
put_call_term(struct cedar_generation *gen, struct buf *buf, const struct cedar_node *node)
{
    const struct cedar_function *function = node->function;
    bool counted = node->children >= function->minimum && node->children <= function->maximum;
    bool folded = counted && !function->method && node->child[0]->kind == CEDAR_LITERAL;
    struct cedar_value value;
    if (!counted)
        buf_append_text(buf, "rt.error");
    else if (!folded) {
        buf_append_format(buf, "rt.%s(", function->rego);
        put_terms(gen, buf, node);
        buf_append_char(buf, ')');
    } else if (function->call(NULL, &node->child[0]->value, 1, &value))
        cedar_rego_put(buf, &value);
    else
        buf_append_text(buf, "rt.error");
}

/* Append an operator with one or two operands. */
static void
put_operator(struct cedar_generation *gen, struct buf *buf, const struct cedar_node *node)
{
    bool exchanged = operators_of_rego[node->kind].exchanged,
         negated = operators_of_rego[node->kind].negated;
    buf_append_format(buf, "%srt.%s(", negated ? "rt.neg(" : "",
                      operators_of_rego[node->kind].name);
    cedar_rego_put_node(gen, buf, node->child[exchanged]);
    if (node->children == 2) {
        buf_append_char(buf, ',');
        cedar_rego_put_node(gen, buf, node->child[!exchanged]);
    }
    buf_append_text(buf, negated ? "))" : ")");
}

static void
put_literal(struct cedar_generation *gen, struct buf *buf, const struct cedar_node *node)
{
    (void) gen;
    cedar_rego_put(buf, &node->value);
}

static void
put_variable(struct cedar_generation *gen, struct buf *buf, const struct cedar_node *node)
{
    (void) gen;
    buf_append_format(buf, "input.cedar.%s", cedar_variable_names[node->variable]);
}

static void
put_attribute(struct cedar_generation *gen, struct buf *buf, const struct cedar_node *node)
{
    buf_append_text(buf, "rt.attr(");
    cedar_rego_put_node(gen, buf, node->child[0]);
    buf_append_char(buf, ',');
    cedar_json_put(buf, node->text[0]);
    buf_append_char(buf, ')');
}

/* {} would be an object in Rego, so an empty set is []. */
static void
put_set(struct cedar_generation *gen, struct buf *buf, const struct cedar_node *node)
{
    buf_append_text(buf, node->children > 0 ? "sort({" : "[");
    put_terms(gen, buf, node);
    buf_append_text(buf, node->children > 0 ? "})" : "]");
}

static void
put_record(struct cedar_generation *gen, struct buf *buf, const struct cedar_node *node)
{
    buf_append_char(buf, '{');
    put_terms(gen, buf, node);
    buf_append_char(buf, '}');
}

typedef void put_fn(struct cedar_generation *gen, struct buf *buf, const struct cedar_node *node);

/* The expressions that are not one call of an operator. */
static put_fn *const put_of_kind[] = {
    [CEDAR_LITERAL] = put_literal,     [CEDAR_VARIABLE] = put_variable,
    [CEDAR_OR] = cedar_rego_put_lazy,  [CEDAR_AND] = cedar_rego_put_lazy,
    [CEDAR_SUM] = put_arithmetic,      [CEDAR_PRODUCT] = put_arithmetic,
    [CEDAR_IF] = cedar_rego_put_if,    [CEDAR_IS] = cedar_rego_put_is,
    [CEDAR_HAS] = cedar_rego_put_has,  [CEDAR_LIKE] = put_like,
    [CEDAR_ATTRIBUTE] = put_attribute, [CEDAR_SET_OF] = put_set,
    [CEDAR_RECORD_OF] = put_record,    [CEDAR_CALL] = put_call_term,
};

void
cedar_rego_put_node(struct cedar_generation *gen, struct buf *buf, const struct cedar_node *node)
{
    size_t kind = (size_t) node->kind;
    put_fn *put = kind < sizeof(put_of_kind) / sizeof(put_of_kind[0]) ? put_of_kind[kind] : NULL;
    (put != NULL ? put : put_operator)(gen, buf, node);
}
