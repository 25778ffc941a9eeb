/* Periods of the audit log: 30m, 24h, 7d or an instant (policy.md I1). */
#ifndef AZ_POLICY_IMPACT_PERIOD_H
#define AZ_POLICY_IMPACT_PERIOD_H

#include <stdbool.h>
#include <stdint.h>

/* The period that is looked at without one. */
#define IMPACT_PERIOD "24h"

/* Longest number of a period: ten years in days. */
#define IMPACT_PERIOD_MAX 3660

/* Read the begin of a period that ends now, or an instant (RFC 3339), in milliseconds since 1970.
 * False: the text is neither. */
bool impact_period_read(const char *text, int64_t now_ms, int64_t *ret_ms);

/* The same of the end of a period that begins now. */
bool impact_period_read_end(const char *text, int64_t now_ms, int64_t *ret_ms);

#endif
