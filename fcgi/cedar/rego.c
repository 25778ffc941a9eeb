/* The rules of a module. What Cedar evaluates lazily becomes a rule of its own, because a rule is
 * evaluated only where it is referred to. */
#include "config.h"

#include "cedar/rego.h"

#include "cedar/json.h"
#include "cedar/lex.h"
#include "cedar/rego_expression.h"

/* True if a value of the node is always a Bool, so that it needs no check. */
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

void
cedar_rego_end_rule(struct cedar_generation *gen, struct buf *buf)
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
put_value_rule(struct cedar_generation *gen, const struct cedar_node *node)
{
    BUF_AUTO buf;
    buf_init(&buf, gen->mem, CEDAR_REGO_MAX);
    unsigned rule = ++gen->rule;
    buf_append_format(&buf, "x%u := ", rule);
    cedar_rego_put_node(gen, &buf, node);
    buf_append_char(&buf, '\n');
    cedar_rego_end_rule(gen, &buf);
    return rule;
}

/* Append a node whose value must be a Bool. */
static void
put_bool(struct cedar_generation *gen, struct buf *buf, const struct cedar_node *node, bool negated)
{
    bool check = negated || !gives_bool(node);
    if (check)
        buf_append_text(buf, negated ? "rt.neg(" : "rt.bool(");
    cedar_rego_put_node(gen, buf, node);
    if (check)
        buf_append_char(buf, ')');
}

/* One operand of a chain. */
struct link {
    const struct cedar_node *node; /* NULL: the operand is a chain itself, of `group` */
    bool negated;
    const struct link *group;
    size_t count;
};

static unsigned put_chain(struct cedar_generation *gen, const struct link *link, size_t count,
                          bool deciding);

/* Make the rules of a chain that is too long, as a chain of chains: `a && b && c && d` is
 * `(a && b) && (c && d)`. */
static unsigned
put_groups(struct cedar_generation *gen, const struct link *link, size_t count, bool deciding)
{
    size_t size = (count + CEDAR_REGO_CHAIN_MAX - 1) / CEDAR_REGO_CHAIN_MAX, groups = 0;
    struct link group[CEDAR_REGO_CHAIN_MAX];
    for (size_t i = 0; i < count; i += size)
        group[groups++] =
            (struct link){.group = &link[i], .count = count - i < size ? count - i : size};
    return put_chain(gen, group, groups, deciding);
}

/* Append an operand of a chain. */
static void
put_link(struct cedar_generation *gen, struct buf *buf, const struct link *link, bool deciding)
{
    if (link->node != NULL)
        put_bool(gen, buf, link->node, link->negated);
    else
        buf_append_format(buf, "x%u", put_chain(gen, link->group, link->count, deciding));
}

/*
 * Make the rules of a chain of `&&` or `||`; returns the number of the first one. The value of the
 * chain is that of the first operand that decides, else that of the rest of the chain.
 */
static unsigned
put_chain(struct cedar_generation *gen, const struct link *link, size_t count, bool deciding)
{
    if (count > CEDAR_REGO_CHAIN_MAX)
        return put_groups(gen, link, count, deciding);
    unsigned first = gen->rule + 1;
    gen->rule += (unsigned) (2 * count - 1);
    for (size_t i = 0; i < count; i++) {
        unsigned chain = first + 2 * (unsigned) i, operand = chain + 1;
        bool last = i + 1 == count;
        BUF_AUTO buf;
        buf_init(&buf, gen->mem, CEDAR_REGO_MAX);
        buf_append_format(&buf, "x%u := ", last ? chain : operand);
        put_link(gen, &buf, &link[i], deciding);
        buf_append_char(&buf, '\n');
        if (!last) {
            const char *decides = deciding ? "true" : "false",
                       *goes_on = deciding ? "false" : "true";
            buf_append_format(&buf, "x%u := %s if x%u == %s\n", chain, decides, operand, decides);
            buf_append_format(&buf, "x%u := x%u if x%u == %s\n", chain, operand + 1, operand,
                              goes_on);
        }
        cedar_rego_end_rule(gen, &buf);
    }
    return first;
}

void
cedar_rego_put_lazy(struct cedar_generation *gen, struct buf *buf, const struct cedar_node *node)
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

void
cedar_rego_put_if(struct cedar_generation *gen, struct buf *buf, const struct cedar_node *node)
{
    unsigned condition = put_value_rule(gen, node->child[0]), rule = ++gen->rule;
    for (int i = 1; i <= 2; i++) {
        BUF_AUTO clause;
        buf_init(&clause, gen->mem, CEDAR_REGO_MAX);
        buf_append_format(&clause, "x%u := ", rule);
        cedar_rego_put_node(gen, &clause, node->child[i]);
        buf_append_format(&clause, " if rt.bool(x%u) == %s\n", condition,
                          i == 1 ? "true" : "false");
        cedar_rego_end_rule(gen, &clause);
    }
    buf_append_format(buf, "x%u", rule);
}

void
cedar_rego_put_is(struct cedar_generation *gen, struct buf *buf, const struct cedar_node *node)
{
    if (node->children == 1) {
        buf_append_text(buf, "rt.is(");
        cedar_rego_put_node(gen, buf, node->child[0]);
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
    cedar_rego_put_node(gen, &clause, node->child[1]);
    buf_append_format(&clause, ") if x%u == true\n", type);
    cedar_rego_end_rule(gen, &clause);
    buf_append_format(buf, "x%u", rule);
}

/* Append `x has a.b`: a rule for each step, that goes on only if the step is there. */
void
cedar_rego_put_has(struct cedar_generation *gen, struct buf *buf, const struct cedar_node *node)
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
    cedar_rego_end_rule(gen, &steps);
}

/* Append the rules of a policy: the parts of the scope and the conditions are a chain. */
static void
put_policy_rules(struct cedar_generation *gen, const struct cedar_policy *policy)
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
        link[count++] = (struct link){.node = policy->condition[i].body,
                                      .negated = policy->condition[i].unless};
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

/* Append the set of the ids of all policies that forbid, so that a reader of `errors` finds the
 * forbids among them. */
static void
put_forbidding(struct buf *buf, const struct cedar_file *file)
{
    size_t count = 0;
    for (size_t i = 0; i < file->policies; i++) {
        if (!file->policy[i].forbid)
            continue;
        buf_append_text(buf, count++ > 0 ? ", " : "forbidding := {");
        cedar_json_put(buf, file->policy[i].id);
    }
    buf_append_text(buf, count > 0 ? "}\n" : "forbidding := set()\n");
}

char *
cedar_rego(TALLOC_CTX *mem, const struct cedar_file *file, const char *package,
           struct cedar_fault *ret_fault)
{
    struct cedar_generation gen = {.mem = mem, .fault = ret_fault};
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
    put_forbidding(&gen.rules, file);
    for (size_t i = 0; i < file->policies && ret_fault->place.line == 0; i++)
        put_policy_rules(&gen, &file->policy[i]);
    char *text = ret_fault->place.line == 0 ? buf_take(&gen.rules, &length) : NULL;
    if (text == NULL)
        cedar_fail(ret_fault, (struct cedar_place){1, 1},
                   gen.rules.status == AZ_INVALID ? "the policies become too much Rego"
                                                  : "out of memory");
    buf_done(&gen.rules);
    return text;
}
