/* Allocations that fail, for tests of functions that must not lose a part of their result. */
#ifndef AZ_T_SCARCE_H
#define AZ_T_SCARCE_H

#include <stddef.h>
#include <talloc.h>

/* The outcomes of one attempt. */
enum scarce_outcome {
    SCARCE_WHOLE,  /* the complete result */
    SCARCE_FAILED, /* the failure that a lack of memory must have */
    SCARCE_WRONG,  /* anything else: a part of the result, or another failure */
};

/* Number of attempts by outcome. */
struct scarce_count {
    size_t whole, failed, wrong;
};

/* Try the function once, with memory from `mem`, which is freed afterwards. */
typedef enum scarce_outcome scarce_fn(TALLOC_CTX *mem, void *arg);

/* Try until every allocation of Jansson has failed once: the first one in the first attempt, the
 * second one in the second attempt, and so on. The last attempt has all of its memory. */
struct scarce_count scarce_jansson(scarce_fn *attempt, void *arg);

/* Try with each multiple of `step` octets, up to `max`, as the limit of what `mem` may hold. */
struct scarce_count scarce_talloc(scarce_fn *attempt, void *arg, size_t max, size_t step);

/* Print three results for a count: attempts failed, the last one did not, and none was wrong. */
void scarce_is_seen(const struct scarce_count *count, const char *name);

#endif
