#include "config.h"

#include "scarce.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>

#include "tap.h"

/* Allocations since the last count of 0; the one with number fail_at fails. */
static size_t allocations, fail_at;

static void *
failing_malloc(size_t size)
{
    return ++allocations == fail_at ? NULL : malloc(size);
}

static void
count_outcome(struct scarce_count *count, enum scarce_outcome outcome)
{
    count->whole += outcome == SCARCE_WHOLE;
    count->failed += outcome == SCARCE_FAILED;
    count->wrong += outcome == SCARCE_WRONG;
}

struct scarce_count
scarce_jansson(scarce_fn *attempt, void *arg)
{
    struct scarce_count count = {.whole = 0};
    json_set_alloc_funcs(failing_malloc, free);
    fail_at = 0;
    do {
        TALLOC_CTX *mem = talloc_new(NULL);
        allocations = 0;
        fail_at++;
        count_outcome(&count, attempt(mem, arg));
        talloc_free(mem);
    } while (allocations >= fail_at);
    json_set_alloc_funcs(malloc, free);
    return count;
}

struct scarce_count
scarce_talloc(scarce_fn *attempt, void *arg, size_t max, size_t step)
{
    struct scarce_count count = {.whole = 0};
    for (size_t limit = step; limit <= max; limit += step) {
        TALLOC_CTX *mem = talloc_named_const(NULL, 0, "limited");
/* Deprecated, but it is the only way to make an allocation of talloc fail. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
        talloc_set_memlimit(mem, limit);
#pragma GCC diagnostic pop
        count_outcome(&count, attempt(mem, arg));
        talloc_free(mem);
    }
    return count;
}

void
scarce_is_seen(const struct scarce_count *count, const char *name)
{
    ok(count->failed > 0, "%s: a lack of memory is seen (%zu times)", name, count->failed);
    ok(count->whole > 0, "%s: enough memory is enough", name);
    is_int((int64_t) count->wrong, 0, "%s: no result lacks a part", name);
}
