/* Values of a question that its audit row does not have (policy.md I10). */
#ifndef AZ_POLICY_IMPACT_HIDDEN_H
#define AZ_POLICY_IMPACT_HIDDEN_H

#include <jansson.h>
#include <stdbool.h>

/* True if policy saw values that the stored question lacks, or if that cannot be told: arguments
 * and paths of requests through the gateway, URIs of MCP resources. `decision` is the stored
 * answer. */
bool impact_hides_values(const json_t *input, const json_t *decision);

#endif
