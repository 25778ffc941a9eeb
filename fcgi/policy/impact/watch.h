/* Limits that a run counts against: limits of the request, and guards (policy.md G1). */
#ifndef AZ_POLICY_IMPACT_WATCH_H
#define AZ_POLICY_IMPACT_WATCH_H

#include "base/json/jsonx.h"
#include "policy/impact/bound.h"
#include "policy/impact/tally.h"

/*
 * A watch is an object: name, fromMs (decisions since then), when (evaluations, endpoints, clients,
 * resources, scopes: lists of texts, which match whole or to a last *), limits (numbers, or "5%",
 * by class, failing and notKnown), least (decisions that a percentage needs), count (false: what is
 * not known counts towards no limit but its own), whole (true: a sample does not measure it). One
 * with `why` is not measured, for this reason. The limits of the request itself have no name.
 */

struct watches;

/* Names of what can be limited, ending with NULL. */
extern const char *const watch_limit_names[];

/* Return the fault of a limit, which is a number or a percentage as text, or NULL. */
const char *watch_limit_fault(const json_t *limit);

/* Return counters for these watches (array, borrowed, may be NULL), on mem. NULL: no memory. */
struct watches *watches_new(TALLOC_CTX *mem, const json_t *list);

/* Count a decision, made at a time in milliseconds since 1970. */
void watches_add(struct watches *watches, const struct impact_decision *decision, int64_t at_ms,
                 const struct impact_difference *difference);

/* Count decisions that are not known; decision->base and candidate are not set. */
void watches_unknown(struct watches *watches, const struct impact_decision *decision, int64_t at_ms,
                     size_t count);

/* Add what can be limited in a result, and `looked`, to an object: numbers by name. */
void watch_counts_add(const json_t *result, struct jsonx_build *ret);

/* Add `guards` [{name, of, counts, refused [{limit, max, seen, estimate, upper, of}]}], with
 * notMeasured (true) and why in place of what is not measured, and, if there are limits of the
 * request, `limits` (one such item). Without a sample (NULL) there is neither estimate nor upper.
 */
void watches_write(const struct watches *watches, const struct impact_sample *sample,
                   struct jsonx_build *ret);

/* Return the limits of a watch that its counts pass (numbers by name, and `of`), as above; a new
 * reference. */
json_t *watch_refused(const json_t *watch, const json_t *counts,
                      const struct impact_sample *sample);

#endif
