/* Examples of decisions that change (policy.md I12). */
#ifndef AZ_POLICY_IMPACT_EXAMPLES_H
#define AZ_POLICY_IMPACT_EXAMPLES_H

#include "policy/impact/tally.h"

struct impact_examples;

/* Return an empty store for so many examples of each class, on mem; NULL: no memory. */
struct impact_examples *examples_new(TALLOC_CTX *mem, size_t most);

/* Offer a decision: the first of each client is kept as long as there is room, and of the others a
 * random choice. False: no memory. */
bool examples_add(struct impact_examples *examples, const struct impact_decision *decision,
                  enum impact_class class);

/* Return {class: [example]}, a new reference; NULL: no memory. */
json_t *examples_json(const struct impact_examples *examples);

#endif
