/* Places for fetches: half of a pool, even if processes die (decisions.md "Half of the pool
 * fetches"). */
#include "config.h"

#include "http/fetch/fetch_places.h"

#include <unistd.h>

#include "env.h"
#include "http/fetch_holders.h"
#include "tap.h"

static void
test_numbers(void)
{
    static const struct {
        int workers, places, cimd, address, waits, cimd_waits;
    } rows[] = {
        {0,   FETCH_PLACES_SPAWNED, 2,  2,  FETCH_WAITS_SPAWNED, 0 },
        {1,   1,                    1,  1,  0,                   0 },
        {2,   1,                    1,  1,  0,                   0 },
        {3,   1,                    1,  1,  1,                   0 },
        {4,   2,                    1,  1,  1,                   0 },
        {5,   2,                    1,  1,  1,                   0 },
        {8,   4,                    2,  2,  2,                   1 },
        {256, 128,                  64, 64, 64,                  32},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        is_int(fetch_places(rows[i].workers, FETCH_SAFE_HTTP), rows[i].places,
               "%d workers: %d may fetch", rows[i].workers, rows[i].places);
        is_int(fetch_places(rows[i].workers, FETCH_CIMD), rows[i].cimd,
               "... %d of them for client metadata", rows[i].cimd);
        is_int(fetch_places(rows[i].workers, FETCH_CLIENT_KEYS), rows[i].cimd,
               "... and as many for keys that clients name");
        is_int(fetch_places_of_address(rows[i].workers, FETCH_SAFE_HTTP), rows[i].address,
               "... %d for one client address (decisions.md \"Half of the pool fetches\")",
               rows[i].address);
        is_int(fetch_places_of_address(rows[i].workers, FETCH_CIMD), 1,
               "... and one of it for client metadata (decisions.md \"CIMD documents\")");
        is_int(fetch_waits(rows[i].workers, FETCH_SAFE_HTTP), rows[i].waits,
               "... %d more may wait for a place", rows[i].waits);
        is_int(fetch_waits(rows[i].workers, FETCH_CIMD), rows[i].cimd_waits,
               "... %d of them for client metadata", rows[i].cimd_waits);
    }
}

/* A caller that names slow hosts as clients does not keep the operator's providers waiting. */
static void
test_shares(TALLOC_CTX *mem)
{
    static const struct {
        enum fetch_hosts hosts;
        enum fetch_fault fault;
        const char *name;
    } rows[] = {
        {FETCH_CIMD,        FETCH_OK,         "of 4 workers one fetches client metadata"},
        {FETCH_CIMD,        FETCH_FAULT_BUSY, "... and no second one does"              },
        {FETCH_CLIENT_KEYS, FETCH_FAULT_BUSY, "... nor keys that a client names"        },
        {FETCH_SAFE_HTTP,   FETCH_OK,         "... the other place is for providers"    },
        {FETCH_SAFE_HTTP,   FETCH_FAULT_BUSY, "... and then all places are taken"       },
    };
    const char *directory = env_directory(mem);
    enum { COUNT = sizeof(rows) / sizeof(rows[0]) };
    struct op op[COUNT];
    struct other other[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        op[i] = holder_op(mem, holder_pool(mem, directory, "web", 4), (int) i);
        other[i] = other_take(&op[i], rows[i].hosts, NULL);
        is_int(other[i].fault, rows[i].fault, "%s", rows[i].name);
    }
    for (size_t i = 0; i < COUNT; i++)
        other_drop(&other[i]);
    other[0] = other_take(&op[0], FETCH_SAFE_HTTP, NULL);
    is_int(other[0].fault, FETCH_OK, "providers alone may take all of them");
    other[1] = other_take(&op[1], FETCH_SAFE_HTTP, NULL);
    is_int(other[1].fault, FETCH_OK, "... the second too");
    other_drop(&other[0]);
    other_drop(&other[1]);
}

static void
test_places(TALLOC_CTX *mem)
{
    const char *directory = env_directory(mem);
    struct other other[4];
    struct fetch_place place;
    struct op op[4]; /* of four processes */
    for (int i = 0; i < 4; i++)
        op[i] = holder_op(mem, holder_pool(mem, directory, "web", 6), i);
    for (int i = 0; i < 3; i++) {
        other[i] = other_take(&op[i], FETCH_SAFE_HTTP, NULL);
        is_int(other[i].fault, FETCH_OK, "of 6 workers one more fetches: %d", i + 1);
    }
    is_int(fetch_place_take(&op[3], FETCH_SAFE_HTTP, &place), FETCH_FAULT_BUSY,
           "the fourth gets none");
    struct op apart = holder_op(mem, holder_pool(mem, directory, "core", 6), 4);
    is_int(fetch_place_take(&apart, FETCH_SAFE_HTTP, &place), FETCH_OK,
           "another pool has places of its own");
    fetch_place_drop(&place);
    other_drop(&other[1]);
    other[1] = other_take(&op[1], FETCH_SAFE_HTTP, NULL);
    is_int(other[1].fault, FETCH_OK, "a place that was given back is free");
    is_int(fetch_place_take(&op[3], FETCH_SAFE_HTTP, &place), FETCH_FAULT_BUSY,
           "and then taken again");
    for (int i = 0; i < 3; i++)
        other_drop(&other[i]);
    is_int(fetch_place_take(&op[3], FETCH_SAFE_HTTP, &place), FETCH_OK, "all are given back");
    fetch_place_drop(&place);
    fetch_place_drop(&place);
    is_int(fetch_place_take(&op[3], FETCH_SAFE_HTTP, &place), FETCH_OK,
           "giving back twice does no harm");
    fetch_place_drop(&place);
}

/* A returning sign-in takes its place before the first fetch. */
static void
test_held(TALLOC_CTX *mem)
{
    const char *directory = env_directory(mem);
    struct op op = env_op(mem, holder_pool(mem, directory, "web", 2));
    struct op other = env_op(mem, holder_pool(mem, directory, "web", 2));
    struct fetch_place outer, inner;
    is_int(fetch_place_take(&op, FETCH_SAFE_HTTP, &outer), FETCH_OK, "of 2 workers one fetches");
    is_int(fetch_place_take(&op, FETCH_SAFE_HTTP, &inner), FETCH_OK,
           "a holder of a place needs no other");
    ok(inner.hold == NULL, "... and takes none");
    fetch_place_drop(&inner);
    is_int(other_take(&other, FETCH_SAFE_HTTP, NULL).fault, FETCH_FAULT_BUSY,
           "... and the end of the inner use leaves the place with its holder");
    is_int(fetch_place_take(&op, FETCH_SAFE_HTTP, &inner), FETCH_OK, "... and may use it again");
    fetch_place_drop(&inner);
    fetch_place_drop(&outer);
    struct other next = other_take(&other, FETCH_SAFE_HTTP, NULL);
    is_int(next.fault, FETCH_OK, "the end of the outer use frees it");
    is_int(fetch_place_take(&op, FETCH_SAFE_HTTP, &outer), FETCH_FAULT_BUSY,
           "... and then its holder of before has none");
    other_drop(&next);
}

static void
test_deaths(TALLOC_CTX *mem)
{
    struct az *az = holder_pool(mem, env_directory(mem), "web", 4);
    struct op op = holder_op(mem, az, 1), other = holder_op(mem, az, 2);
    struct fetch_place place;
    pid_t first = hold_place(&op, HOLD_ON), second = hold_place(&other, HOLD_ON);
    is_int(fetch_place_take(&op, FETCH_SAFE_HTTP, &place), FETCH_FAULT_BUSY,
           "two processes hold both places");
    holder_end(first);
    is_int(fetch_place_take(&op, FETCH_SAFE_HTTP, &place), FETCH_OK,
           "one is killed by -9: its place is free");
    pid_t third = fork();
    if (third == 0) {
        pause();
        _exit(0);
    }
    fetch_place_drop(&place);
    /* A child that was forked meanwhile, as that of a trial (policy/trial), has no part in it. */
    is_int(fetch_place_take(&op, FETCH_SAFE_HTTP, &place), FETCH_OK,
           "a place is free although a child was forked meanwhile");
    fetch_place_drop(&place);
    holder_end(third);
    holder_end(second);
}

static void
test_without(TALLOC_CTX *mem)
{
    struct az *az = env_az(mem);
    struct op op = env_op(mem, az);
    struct fetch_place place;
    is_int(fetch_place_take(&op, FETCH_SAFE_HTTP, &place), FETCH_OK,
           "a process without pools needs no place");
    ok(place.hold == NULL, "... and holds none");
    az = holder_pool(mem, env_directory(mem), "web", 4);
    env_settings(az)->runtime_dir = "/nonexistent/run";
    op = env_op(mem, az);
    is_int(fetch_place_take(&op, FETCH_SAFE_HTTP, &place), FETCH_FAULT_OURS,
           "a directory that takes no file: no fetch is made");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    plan(0);
    test_numbers();
    test_places(mem);
    test_held(mem);
    test_shares(mem);
    test_deaths(mem);
    test_without(mem);
    talloc_free(mem);
    return done();
}
