/* Counts of PolicyImpact, for a person. */
#ifndef AZ_CLI_POLICY_IMPACT_H
#define AZ_CLI_POLICY_IMPACT_H

#include <jansson.h>

/* Print counts with the members of PolicyImpact: the classes, the clients and some examples. */
void impact_print_counts(const json_t *result);

/* Print a result (PolicyImpact): what was looked at, and its counts. */
void impact_print_result(const json_t *result);

#endif
