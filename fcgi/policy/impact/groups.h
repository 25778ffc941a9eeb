/* The decisions that change, by client, endpoint, subject, scope and reason (policy.md I12). */
#ifndef AZ_POLICY_IMPACT_GROUPS_H
#define AZ_POLICY_IMPACT_GROUPS_H

#include "base/json/jsonx.h"
#include "policy/impact/tally.h"

struct impact_groups;

/* Return empty groups on mem; NULL: no memory. */
struct impact_groups *groups_new(TALLOC_CTX *mem);

/* Count a decision of a class other than IMPACT_SAME. False: no memory. */
bool groups_add(struct impact_groups *groups, const struct impact_decision *decision,
                enum impact_class class);

/* Set the members byClient, byEndpoint, bySubject, byScope, byReason (so many keys each, and
 * others), clients and people. */
void groups_write(const struct impact_groups *groups, size_t keys, struct jsonx_build *out);

/* Return the sum of the counts of a key: an object of numbers. */
json_int_t groups_sum(const json_t *counts);

#endif
