/* Expressions of Cedar as terms of Rego, and the rules that they need. */
#ifndef AZ_CEDAR_REGO_EXPRESSION_H
#define AZ_CEDAR_REGO_EXPRESSION_H

#include "cedar/ast.h"
#include "cedar/rego_term.h"

/* Most operands of one chain of rules, and of one nesting of calls. The engine parses calls by
 * recursion with a limit, and checks from each rule of a chain all rules behind it. */
#define CEDAR_REGO_CHAIN_MAX 100

/* One generation. */
struct cedar_generation {
    TALLOC_CTX *mem;
    struct buf rules; /* complete rules */
    unsigned rule;    /* number of the last rule */
    struct cedar_fault *fault;
};

/* Append the value of a node. */
void cedar_rego_put_node(struct cedar_generation *gen, struct buf *buf,
                         const struct cedar_node *node);

/* Append a rule to the complete rules. */
void cedar_rego_end_rule(struct cedar_generation *gen, struct buf *buf);

/* Append the name of a rule with the value of a node, and make the rule: `&&` and `||`, `if`, `is`,
 * and `has`, which do not evaluate an operand that they do not need. */
void cedar_rego_put_lazy(struct cedar_generation *gen, struct buf *buf,
                         const struct cedar_node *node);
void cedar_rego_put_if(struct cedar_generation *gen, struct buf *buf,
                       const struct cedar_node *node);
void cedar_rego_put_is(struct cedar_generation *gen, struct buf *buf,
                       const struct cedar_node *node);
void cedar_rego_put_has(struct cedar_generation *gen, struct buf *buf,
                        const struct cedar_node *node);

#endif
