/* Adding what a host has counted to the result of a shadow (policy.md S4). */
#ifndef AZ_POLICY_SHADOW_REPORT_H
#define AZ_POLICY_SHADOW_REPORT_H

#include "policy/shadow/shadow_compare.h"

/* Add counts, and how many decisions were dropped, to the stored result. *ret_octets is its length
 * then. AZ_NOT_FOUND: the shadow is not active. */
enum az_status shadow_report(struct op *op, int64_t id, const struct shadow_counts *counts,
                             int64_t dropped, size_t *ret_octets);

#endif
