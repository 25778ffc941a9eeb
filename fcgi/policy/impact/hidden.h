/* Values of a question that its audit row does not have (policy.md I10). */
#ifndef AZ_POLICY_IMPACT_HIDDEN_H
#define AZ_POLICY_IMPACT_HIDDEN_H

#include <jansson.h>
#include <stdbool.h>
#include <talloc.h>

/*
 * Find what policy saw and the stored question lacks: arguments, answers and paths of requests
 * through the gateway, URIs of MCP resources. `decision` is the stored answer. *ret is an object on
 * mem with null for each such value, below the names that lead to it, or NULL if nothing is
 * missing. False: this cannot be found out, or there is no memory.
 */
bool impact_find_hidden(TALLOC_CTX *mem, json_t *input, const json_t *decision, json_t **ret);

#endif
