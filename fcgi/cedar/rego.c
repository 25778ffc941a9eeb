/* The generator. What Cedar evaluates lazily becomes a rule of its own, because a rule is evaluated
 * only where it is referred to; everything else is a nested call, which is undefined if an argument
 * is, as Cedar's error passes on. */
#include "config.h"

#include "cedar/rego.h"

#include <inttypes.h>
#include <string.h>

#include "cedar/function.h"
#include "cedar/json.h"
#include "cedar/lex.h"
#include "cedar/rego_term.h"

/* One generation. */
struct generation {
    TALLOC_CTX *mem;
    struct buf rules; /* complete rules */
    unsigned rule;    /* number of the last rule */
    struct cedar_fault *fault;
};

/* Functions of the runtime for operators: name, and if the operands are exchanged. */
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

static void put_term(struct generation *gen, struct buf *buf, const struct cedar_node *node);

/* True if the value of a node is a Bool whenever it has one, so that it needs no check. */
static bool
gives_bool(const struct cedar_node *node)
{
    switch (node->kind) {
    case CEDAR_LITERAL:
        return node->value.type == CEDAR_BOOL;
    case CEDAR_VARIABLE:
    case CEDAR_SUM:
    case CEDAR_PRODUCT:
    case CEDAR_NEGATE:
    case CEDAR_IF:
    case CEDAR_ATTRIBUTE:
    case CEDAR_SET_OF:
    case CEDAR_RECORD_OF:
    case CEDAR_CALL:
        return false;
    default:
        return true;
    }
}

/* Move a rule to the complete ones. */
static void
end_rule(struct generation *gen, struct buf *buf)
{
    size_t length = 0;
    char *text = buf_take(buf, &length);
    if (text == NULL)
        gen->rules.status = AZ_SERVER_ERROR;
    else
        buf_append(&gen->rules, text, length);
    talloc_free(text);
}

/* Make a rule with the value of a node; returns its number. */
static unsigned
put_value_rule(struct generation *gen, const struct cedar_node *node)
{
    BUF_AUTO buf;
    buf_init(&buf, gen->mem, CEDAR_REGO_MAX);
    unsigned rule = ++gen->rule;
    buf_append_format(&buf, "x%u := ", rule);
    put_term(gen, &buf, node);
    buf_append_char(&buf, '\n');
    end_rule(gen, &buf);
    return rule;
}

/* Append a node whose value must be a Bool. */
static void
put_bool(struct generation *gen, struct buf *buf, const struct cedar_node *node, bool negated)
{
    bool check = negated || !gives_bool(node);
    if (check)
        buf_append_text(buf, negated ? "rt.neg(" : "rt.bool(");
    put_term(gen, buf, node);
    if (check)
        buf_append_char(buf, ')');
}

/* One operand of a chain. */
struct link {
    const struct cedar_node *node;
    bool negated;
};

/*
 * Make the rules of a chain of `&&` or `||`; returns the number of the first one. The rule of an
 * operand that decides is the value of the chain, else the rule of the next operand is.
 */
static unsigned
put_chain(struct generation *gen, const struct link *link, size_t count, bool deciding)
{
    unsigned first = gen->rule + 1;
    gen->rule += (unsigned) (2 * count - 1);
    for (size_t i = 0; i < count; i++) {
        unsigned chain = first + 2 * (unsigned) i, operand = chain + 1;
        bool last = i + 1 == count;
        BUF_AUTO buf;
        buf_init(&buf, gen->mem, CEDAR_REGO_MAX);
        buf_append_format(&buf, "x%u := ", last ? chain : operand);
        put_bool(gen, &buf, link[i].node, link[i].negated);
        buf_append_char(&buf, '\n');
        if (!last) {
            const char *decides = deciding ? "true" : "false",
                       *goes_on = deciding ? "false" : "true";
            buf_append_format(&buf, "x%u := %s if x%u == %s\n", chain, decides, operand, decides);
            buf_append_format(&buf, "x%u := x%u if x%u == %s\n", chain, operand + 1, operand,
                              goes_on);
        }
        end_rule(gen, &buf);
    }
    return first;
}

static void
put_lazy(struct generation *gen, struct buf *buf, const struct cedar_node *node)
{
    struct link *link = talloc_zero_array(gen->mem, struct link, node->children);
    if (link == NULL) {
        gen->rules.status = AZ_SERVER_ERROR;
        return;
    }
    for (size_t i = 0; i < node->children; i++)
        link[i].node = node->child[i];
    buf_append_format(buf, "x%u", put_chain(gen, link, node->children, node->kind == CEDAR_OR));
    talloc_free(link);
}

static void
put_if(struct generation *gen, struct buf *buf, const struct cedar_node *node)
{
    unsigned condition = put_value_rule(gen, node->child[0]), rule = ++gen->rule;
    for (int i = 1; i <= 2; i++) {
        BUF_AUTO clause;
        buf_init(&clause, gen->mem, CEDAR_REGO_MAX);
        buf_append_format(&clause, "x%u := ", rule);
        put_term(gen, &clause, node->child[i]);
        buf_append_format(&clause, " if rt.bool(x%u) == %s\n", condition,
                          i == 1 ? "true" : "false");
        end_rule(gen, &clause);
    }
    buf_append_format(buf, "x%u", rule);
}

static void
put_is(struct generation *gen, struct buf *buf, const struct cedar_node *node)
{
    if (node->children == 1) {
        buf_append_text(buf, "rt.is(");
        put_term(gen, buf, node->child[0]);
        buf_append_char(buf, ',');
        cedar_json_put(buf, node->text[0]);
        buf_append_char(buf, ')');
        return;
    }
    unsigned left = put_value_rule(gen, node->child[0]), type = ++gen->rule, rule = ++gen->rule;
    BUF_AUTO clause;
    buf_init(&clause, gen->mem, CEDAR_REGO_MAX);
    buf_append_format(&clause, "x%u := rt.is(x%u,", type, left);
    cedar_json_put(&clause, node->text[0]);
    buf_append_format(&clause, ")\nx%u := false if x%u == false\nx%u := rt.in_(x%u,", rule, type,
                      rule, left);
    put_term(gen, &clause, node->child[1]);
    buf_append_format(&clause, ") if x%u == true\n", type);
    end_rule(gen, &clause);
    buf_append_format(buf, "x%u", rule);
}

/* Append `x has a.b`: a rule for each step, that goes on only if the step is there. */
static void
put_has(struct generation *gen, struct buf *buf, const struct cedar_node *node)
{
    unsigned value = put_value_rule(gen, node->child[0]), rule = ++gen->rule;
    BUF_AUTO steps;
    buf_init(&steps, gen->mem, CEDAR_REGO_MAX);
    buf_append_format(buf, "x%u", rule);
    for (size_t i = 0; i < node->texts; i++) {
        bool last = i + 1 == node->texts;
        unsigned found = last ? rule : ++gen->rule;
        buf_append_format(&steps, "x%u := rt.has(x%u,", found, value);
        cedar_json_put(&steps, node->text[i]);
        buf_append_text(&steps, ")\n");
        if (last)
            break;
        unsigned next_value = ++gen->rule, next = ++gen->rule;
        buf_append_format(&steps, "x%u := rt.attr(x%u,", next_value, value);
        cedar_json_put(&steps, node->text[i]);
        buf_append_format(&steps, ")\nx%u := false if x%u == false\nx%u := x%u if x%u == true\n",
                          rule, found, rule, next, found);
        value = next_value;
        rule = next;
    }
    end_rule(gen, &steps);
}

/* Append a pattern of RE2 for the whole text. */
static void
put_like(struct generation *gen, struct buf *buf, const struct cedar_node *node)
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
    put_term(gen, buf, node->child[0]);
    buf_append_char(buf, ',');
    cedar_json_put(buf, (struct cedar_text){text, length});
    buf_append_char(buf, ')');
    talloc_free(text);
}

/* Append terms with commas between them. */
static void
put_terms(struct generation *gen, struct buf *buf, const struct cedar_node *node)
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
        put_term(gen, buf, node->child[i]);
    }
}

/* Append a sum or product: the operands from the left, two at a time. */
static void
put_arithmetic(struct generation *gen, struct buf *buf, const struct cedar_node *node)
{
    for (size_t i = node->children; i-- > 1;)
        buf_append_text(buf, node->kind == CEDAR_PRODUCT ? "rt.product_of("
                             : node->minus[i]            ? "rt.difference("
                                                         : "rt.sum_of(");
    put_term(gen, buf, node->child[0]);
    for (size_t i = 1; i < node->children; i++) {
        buf_append_char(buf, ',');
        put_term(gen, buf, node->child[i]);
        buf_append_char(buf, ')');
    }
}

/* Append a call. A constructor of a literal becomes its value, or an error if it has none. */
static void
put_call_term(struct generation *gen, struct buf *buf, const struct cedar_node *node)
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
put_operator(struct generation *gen, struct buf *buf, const struct cedar_node *node)
{
    bool exchanged = operators_of_rego[node->kind].exchanged,
         negated = operators_of_rego[node->kind].negated;
    buf_append_format(buf, "%srt.%s(", negated ? "rt.neg(" : "",
                      operators_of_rego[node->kind].name);
    put_term(gen, buf, node->child[exchanged]);
    if (node->children == 2) {
        buf_append_char(buf, ',');
        put_term(gen, buf, node->child[!exchanged]);
    }
    buf_append_text(buf, negated ? "))" : ")");
}

static void
put_term(struct generation *gen, struct buf *buf, const struct cedar_node *node)
{
    switch (node->kind) {
    case CEDAR_LITERAL:
        cedar_rego_put(buf, &node->value);
        break;
    case CEDAR_VARIABLE:
        buf_append_format(buf, "input.cedar.%s", cedar_variable_names[node->variable]);
        break;
    case CEDAR_OR:
    case CEDAR_AND:
        put_lazy(gen, buf, node);
        break;
    case CEDAR_SUM:
    case CEDAR_PRODUCT:
        put_arithmetic(gen, buf, node);
        break;
    case CEDAR_IF:
        put_if(gen, buf, node);
        break;
    case CEDAR_IS:
        put_is(gen, buf, node);
        break;
    case CEDAR_HAS:
        put_has(gen, buf, node);
        break;
    case CEDAR_LIKE:
        put_like(gen, buf, node);
        break;
    case CEDAR_ATTRIBUTE:
        buf_append_text(buf, "rt.attr(");
        put_term(gen, buf, node->child[0]);
        buf_append_char(buf, ',');
        cedar_json_put(buf, node->text[0]);
        buf_append_char(buf, ')');
        break;
    case CEDAR_SET_OF: /* {} would be an object */
        buf_append_text(buf, node->children > 0 ? "sort({" : "[");
        put_terms(gen, buf, node);
        buf_append_text(buf, node->children > 0 ? "})" : "]");
        break;
    case CEDAR_RECORD_OF:
        buf_append_char(buf, '{');
        put_terms(gen, buf, node);
        buf_append_char(buf, '}');
        break;
    case CEDAR_CALL:
        put_call_term(gen, buf, node);
        break;
    default:
        put_operator(gen, buf, node);
        break;
    }
}

/* Append the rules of a policy: the parts of the scope and the conditions are a chain. */
static void
put_policy_rules(struct generation *gen, const struct cedar_policy *policy)
{
    size_t count = 0;
    struct link *link = talloc_zero_array(gen->mem, struct link, policy->conditions + 4);
    if (link == NULL) {
        gen->rules.status = AZ_SERVER_ERROR;
        return;
    }
    for (int i = 0; i < 3; i++)
        if (policy->scope[i] != NULL)
            link[count++].node = policy->scope[i];
    for (size_t i = 0; i < policy->conditions; i++)
        link[count++] = (struct link){policy->condition[i].body, policy->condition[i].unless};
    const struct cedar_node always = {
        .kind = CEDAR_LITERAL, .value = {.type = CEDAR_BOOL, .truth = true}
    };
    if (count == 0)
        link[count++].node = &always;
    buf_append_format(&gen->rules, "\n# line %u\n", policy->place.line);
    unsigned rule = put_chain(gen, link, count, false);
    buf_append_format(&gen->rules, "%s contains ", policy->forbid ? "forbids" : "permits");
    cedar_json_put(&gen->rules, policy->id);
    /* A rule of its own: OPA evaluates the arguments of a negated call outside the negation. */
    buf_append_format(&gen->rules, " if x%u == true\nd%u if is_boolean(x%u)\nerrors contains ",
                      rule, rule, rule);
    cedar_json_put(&gen->rules, policy->id);
    buf_append_format(&gen->rules, " if not d%u\n", rule);
    talloc_free(link);
}

char *
cedar_rego(TALLOC_CTX *mem, const struct cedar_file *file, const char *package,
           struct cedar_fault *ret_fault)
{
    struct generation gen = {.mem = mem, .fault = ret_fault};
    size_t length;
    *ret_fault = (struct cedar_fault){
        .place = {0, 0}
    };
    buf_init(&gen.rules, mem, CEDAR_REGO_MAX);
    buf_append_format(&gen.rules,
                      "# Generated from Cedar.\npackage %s\n\nimport data.svc.cedar.rt\n\n"
                      "result := {\"permits\": permits, \"forbids\": forbids, \"errors\": errors}\n"
                      "permits contains id if some id in []\nforbids contains id if some id in []\n"
                      "errors contains id if some id in []\n",
                      package);
    for (size_t i = 0; i < file->policies && ret_fault->place.line == 0; i++)
        put_policy_rules(&gen, &file->policy[i]);
    char *text = ret_fault->place.line == 0 ? buf_take(&gen.rules, &length) : NULL;
    if (text == NULL)
        cedar_fail(ret_fault, (struct cedar_place){1, 1}, "out of memory");
    buf_done(&gen.rules);
    return text;
}
