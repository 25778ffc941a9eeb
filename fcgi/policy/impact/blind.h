/* Effects of a change that a measurement cannot show, because the change alters the question of a
 * decision, or whether it is asked (policy.md I11). */
#ifndef AZ_POLICY_IMPACT_BLIND_H
#define AZ_POLICY_IMPACT_BLIND_H

#include "policy/impact/side.h"

struct blind;

/* Find what is blind of two sides, on mem; `introspects` is true if the change can change an
 * introspection. NULL: no memory. */
struct blind *blind_new(TALLOC_CTX *mem, const struct side *base, const struct side *candidate,
                        bool introspects);

/* Count a row with this question. */
void blind_count(struct blind *blind, const json_t *input);

/* Return [{what, rows}] of what concerns rows that were counted, on mem; NULL: no memory. */
json_t *blind_json(TALLOC_CTX *mem, const struct blind *blind);

#endif
