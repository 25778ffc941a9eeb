/* The counts of a shadow, which grow with each report of a host (policy.md S4). Pure. */
#ifndef AZ_POLICY_SHADOW_RESULT_H
#define AZ_POLICY_SHADOW_RESULT_H

#include <jansson.h>
#include <stddef.h>
#include <talloc.h>

/* Keys of a group that are stored; further ones are counted together. With texts of usual length
 * all groups have less than half of the octets of a result (IMPACT_RESULT_MAX). */
#define SHADOW_KEYS_MAX 500

/* Examples of each class. */
#define SHADOW_EXAMPLES 20

/*
 * Add a report to a result: numbers are summed, items of a list by their texts, and of the examples
 * the newest stay, one of each client first. Returns a new object on mem; NULL: no memory. A
 * result of NULL is an empty one.
 */
json_t *shadow_result_add(TALLOC_CTX *mem, const json_t *result, const json_t *report);

/* Return a result as it is shown, on mem: the largest keys of each group, at most so many, and how
 * many clients and people there are. NULL: no memory. */
json_t *shadow_result_show(TALLOC_CTX *mem, const json_t *result, size_t keys);

/* Return the text of a result, on mem. One of more than `most` octets has no examples, and fewer
 * keys of each group if it is too long without them: callers choose the texts of keys, and a result
 * that cannot be stored would stop the counts. NULL: no memory. */
const char *shadow_result_text(TALLOC_CTX *mem, const json_t *result, size_t most);

#endif
