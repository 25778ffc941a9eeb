/* Places for fetches: the share of one client address, the wait for a place, the turns of the
 * browsers of one address, and the page that asks again (decisions.md "Half of the pool fetches").
 */
#include "config.h"

#include "http/fetch/fetch_places.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "crypto/digest.h"
#include "env.h"
#include "http/fetch_holders.h"
#include "tap.h"

/* One address holds half of the places, whichever of its addresses it comes from; another address
 * takes the rest. */
static void
test_addresses(TALLOC_CTX *mem)
{
    static const struct {
        const char *address;
        enum fetch_fault fault;
        const char *name;
    } rows[] = {
        {"2001:db8:1:2::3",    FETCH_OK,         "of 12 workers an IPv6 address fetches"       },
        {"2001:db8:1:2:a::5",  FETCH_OK,         "... so does another of its /64"              },
        {"2001:db8:1:2:b::1",  FETCH_OK,         "... and a third, which is half of the places"},
        {"2001:db8:1:2:ff::9", FETCH_FAULT_BUSY,
         "... a fourth has to wait: a /64 counts as one address"                               },
        {"2001:db8:1:3::3",    FETCH_OK,         "... the next /64 gets a place"               },
        {NULL,                 FETCH_OK,         "... so does a client without a known address"},
        {"198.51.100.7",       FETCH_OK,         "... and an IPv4 address"                     },
        {"198.51.100.8",       FETCH_FAULT_BUSY, "... and then all six places are taken"       },
    };
    enum { COUNT = sizeof(rows) / sizeof(rows[0]) };
    const char *directory = env_directory(mem);
    struct op op[COUNT];
    struct other other[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        op[i] = holder_op(mem, holder_pool(mem, directory, "web", 12), 0);
        op[i].address = rows[i].address;
        other[i] = other_take(&op[i], FETCH_SAFE_HTTP, NULL);
        is_int(other[i].fault, rows[i].fault, "%s", rows[i].name);
    }
    other_drop(&other[0]);
    other[3] = other_take(&op[3], FETCH_SAFE_HTTP, NULL);
    is_int(other[3].fault, FETCH_OK, "a place that the /64 gives back is its own again");
    for (size_t i = 0; i < COUNT; i++)
        other_drop(&other[i]);
}

/* The share of an address ends with the process too. */
static void
test_address_death(TALLOC_CTX *mem)
{
    struct op op = holder_op(mem, holder_pool(mem, env_directory(mem), "web", 4), 1);
    struct fetch_place place;
    pid_t holder = hold_place(&op, HOLD_ON);
    is_int(fetch_place_take(&op, FETCH_SAFE_HTTP, &place), FETCH_FAULT_BUSY,
           "one of two places is free, and the address that holds the other does not get it");
    holder_end(holder);
    is_int(fetch_place_take(&op, FETCH_SAFE_HTTP, &place), FETCH_OK,
           "its process is killed by -9: the address may have a place");
    fetch_place_drop(&place);
}

static void
test_metadata(TALLOC_CTX *mem)
{
    const char *directory = env_directory(mem);
    struct op op[3];
    struct other other[3];
    for (int i = 0; i < 3; i++)
        op[i] = holder_op(mem, holder_pool(mem, directory, "web", 16), i / 2);
    other[0] = other_take(&op[0], FETCH_CIMD, NULL);
    is_int(other[0].fault, FETCH_OK, "of 16 workers one fetches client metadata for an address");
    is_int(other_take(&op[1], FETCH_CIMD, NULL).fault, FETCH_FAULT_BUSY,
           "... and no second one for the same address (decisions.md \"CIMD documents\")");
    other[2] = other_take(&op[2], FETCH_CIMD, NULL);
    is_int(other[2].fault, FETCH_OK, "... but for another one");
    other[1] = other_take(&op[1], FETCH_SAFE_HTTP, NULL);
    is_int(other[1].fault, FETCH_OK, "... and the first may sign in meanwhile");
    for (int i = 0; i < 3; i++)
        other_drop(&other[i]);
}

static void
test_wait(TALLOC_CTX *mem)
{
    const char *directory = env_directory(mem);
    struct op op = holder_op(mem, holder_pool(mem, directory, "web", 3), 1);
    struct op none = holder_op(mem, holder_pool(mem, directory, "small", 2), 2);
    struct fetch_place place;
    pid_t holder = hold_place(&op, 30);
    is_int(fetch_place_take(&op, FETCH_SAFE_HTTP, &place), FETCH_OK,
           "a place that becomes free within FETCH_WAIT_MS is waited for");
    fetch_place_drop(&place);
    holder_end(holder);
    holder = hold_place(&op, HOLD_ON);
    int64_t began = clock_monotonic_ms();
    is_int(fetch_place_take(&op, FETCH_SAFE_HTTP, &place), FETCH_FAULT_BUSY,
           "one that does not is waited for in vain");
    int64_t took = clock_monotonic_ms() - began;
    ok(took >= FETCH_WAIT_MS, "... for FETCH_WAIT_MS (%lld ms)", (long long) took);
    holder_end(holder);
    holder = hold_place(&none, 30);
    is_int(fetch_place_take(&none, FETCH_SAFE_HTTP, &place), FETCH_FAULT_BUSY,
           "in a pool of 2 workers nobody waits: the other worker is for the rest");
    holder_end(holder);
}

/* One address gets half of the workers that may wait. */
static void
test_waits(TALLOC_CTX *mem)
{
    const char *directory = env_directory(mem);
    struct op slow[4], first = holder_op(mem, holder_pool(mem, directory, "web", 8), 8);
    pid_t holder[5];
    struct fetch_place place;
    for (int i = 0; i < 4; i++) {
        slow[i] = holder_op(mem, holder_pool(mem, directory, "web", 8), i / 2);
        holder[i] = hold_place(&slow[i], HOLD_ON);
    }
    holder[4] = fork();
    if (holder[4] == 0)
        for (;;) /* one worker of the address waits again and again */
            fetch_place_take(&first, FETCH_SAFE_HTTP, &place);
    struct op second = holder_op(mem, holder_pool(mem, directory, "web", 8), 8);
    struct op other = holder_op(mem, holder_pool(mem, directory, "web", 8), 9);
    int64_t least = FETCH_WAIT_MS, began, took;
    for (int i = 0; i < 20 && least >= FETCH_WAIT_MS; i++) {
        began = clock_monotonic_ms();
        fetch_place_take(&second, FETCH_SAFE_HTTP, &place);
        took = clock_monotonic_ms() - began;
        usleep(20000); /* the first worker begins to wait meanwhile */
        least = took < least ? took : least;
    }
    ok(least < FETCH_WAIT_MS, "a second worker of one address does not wait (%lld ms)",
       (long long) least);
    began = clock_monotonic_ms();
    is_int(fetch_place_take(&other, FETCH_SAFE_HTTP, &place), FETCH_FAULT_BUSY,
           "all places are held by slow hosts");
    took = clock_monotonic_ms() - began;
    ok(took >= FETCH_WAIT_MS, "... and a worker of another address may wait (%lld ms)",
       (long long) took);
    for (int i = 0; i < 5; i++)
        holder_end(holder[i]);
}

/* Return the hash of a browser's cookie. */
static const unsigned char *
browser(TALLOC_CTX *mem, const char *name)
{
    unsigned char *hash = talloc_array(mem, unsigned char, SHA256_OCTETS);
    sha256(name, strlen(name), hash);
    return hash;
}

/* A failed redemption costs the browser its next place for a while. */
static void
test_pause(TALLOC_CTX *mem)
{
    struct az *az = holder_pool(mem, env_directory(mem), "web", 8);
    struct op op = holder_op(mem, az, 1);
    const struct fetch_turn turn = {browser(mem, "a"), "idp"}, other = {browser(mem, "b"), "idp"};
    struct fetch_place place, none = {.hold = NULL};
    fetch_place_pause(&op, &none);
    is_int(fetch_place_take_turn(&op, &turn, &place), FETCH_OK,
           "without a place there is nothing to pay");
    fetch_place_pause(&op, &place);
    fetch_place_drop(&place);
    int64_t began = clock_monotonic_ms();
    is_int(fetch_place_take_turn(&op, &turn, &place), FETCH_FAULT_BUSY,
           "after a failed redemption its browser gets no place (decisions.md \"Half of the pool "
           "fetches\")");
    ok(clock_monotonic_ms() - began < FETCH_WAIT_MS, "... and does not wait for one");
    is_int(fetch_place_take_turn(&op, &other, &place), FETCH_OK,
           "... another browser of the same address has its turn");
    fetch_place_drop(&place);
    is_int(fetch_place_take(&op, FETCH_SAFE_HTTP, &place), FETCH_OK,
           "... and so has a fetch without a browser");
    fetch_place_pause(&op, &place);
    fetch_place_drop(&place);
    op.now_ms = clock_realtime_ms() + FETCH_PAUSE_LEAST_MS;
    is_int(fetch_place_take_turn(&op, &turn, &place), FETCH_OK,
           "... FETCH_PAUSE_LEAST_MS later the first does too");
    place.since -= 5000;
    fetch_place_pause(&op, &place);
    fetch_place_drop(&place);
    op.now_ms = clock_realtime_ms() + 4000;
    is_int(fetch_place_take_turn(&op, &turn, &place), FETCH_FAULT_BUSY,
           "a redemption that took 5 s costs as long");
    op.now_ms = clock_realtime_ms() + 5000;
    is_int(fetch_place_take_turn(&op, &turn, &place), FETCH_OK, "... and no longer");
    place.since -= 10 * FETCH_PAUSE_MOST_MS;
    fetch_place_pause(&op, &place);
    fetch_place_drop(&place);
    op.now_ms = clock_realtime_ms() + FETCH_PAUSE_MOST_MS;
    is_int(fetch_place_take_turn(&op, &turn, &place), FETCH_OK, "FETCH_PAUSE_MOST_MS is the most");
    fetch_place_drop(&place);
    op.now_ms = clock_realtime_ms() - 60000;
    is_int(fetch_place_take_turn(&op, &turn, &place), FETCH_OK,
           "a pause from before the clock was set back does not count");
    fetch_place_drop(&place);
}

/* A turn that is taken, and what comes of it. */
struct turn_row {
    const char *browser, *provider;
    int address;
    enum fetch_fault fault;
    const char *name;
};

/* Take the turns of the rows, each in a process of its own, and give the places back. */
static void
take_turns(TALLOC_CTX *mem, const char *directory, const struct turn_row *rows, size_t count)
{
    struct other *other = talloc_array(mem, struct other, (unsigned) count);
    struct op *op = talloc_array(mem, struct op, (unsigned) count);
    for (size_t i = 0; i < count; i++) {
        const struct fetch_turn turn = {browser(mem, rows[i].browser), rows[i].provider};
        op[i] = holder_op(mem, holder_pool(mem, directory, "web", 8), rows[i].address);
        other[i] = other_take(&op[i], FETCH_SAFE_HTTP, &turn);
        is_int(other[i].fault, rows[i].fault, "%s", rows[i].name);
    }
    for (size_t i = 0; i < count; i++)
        other_drop(&other[i]);
}

/* Browsers of one address take turns, and a slow provider does not take those of another one. */
static void
test_turns(TALLOC_CTX *mem)
{
    static const struct turn_row well[] = {
        {"a", "fast", 1, FETCH_OK,         "of 8 workers one fetches for a browser"     },
        {"a", "fast", 1, FETCH_FAULT_BUSY, "... and no second one for the same browser" },
        {"a", "slow", 9, FETCH_FAULT_BUSY, "... at another address and provider neither"},
        {"b", "fast", 1, FETCH_OK,         "... but for another one of the address"     },
        {"c", "fast", 1, FETCH_FAULT_BUSY, "... up to half of the places"               },
        {"d", "fast", 2, FETCH_OK,         "... and another address has the rest"       },
    };
    static const struct turn_row slow[] = {
        {"a", "slow", 1, FETCH_OK,         "at a provider that was slow one browser fetches"},
        {"b", "slow", 1, FETCH_FAULT_BUSY, "... and no second one of the address"           },
        {"c", "fast", 1, FETCH_OK,         "... but at another provider one does"           },
        {"d", "fast", 1, FETCH_OK,         "... and a second one: the share is undiminished"},
        {"e", "fast", 1, FETCH_FAULT_BUSY, "... and no third"                               },
        {"f", "slow", 2, FETCH_OK,
         "a provider is slow for the address alone whose redemption was slow"               },
    };
    static const struct turn_row common[] = {
        {"a", "slow", 1, FETCH_OK,         "two addresses at slow providers"            },
        {"b", "slow", 2, FETCH_OK,         "... take half of the places"                },
        {"c", "slow", 3, FETCH_FAULT_BUSY, "... and a third address none"               },
        {"d", "fast", 3, FETCH_OK,         "... the rest is for providers that are well"},
        {"e", "fast", 1, FETCH_OK,         "... also for the addresses of the slow ones"},
    };
    const char *directory = env_directory(mem);
    struct fetch_place place;
    take_turns(mem, directory, well, sizeof(well) / sizeof(well[0]));
    for (int address = 1; address <= 3; address++) {
        const struct fetch_turn turn = {browser(mem, talloc_asprintf(mem, "x%d", address)), "slow"};
        struct op op = holder_op(mem, holder_pool(mem, directory, "web", 8), address);
        fetch_place_take_turn(&op, &turn, &place);
        place.since -= FETCH_SLOW_MS;
        fetch_place_pause(&op, &place);
        fetch_place_drop(&place);
        if (address == 1)
            take_turns(mem, directory, slow, sizeof(slow) / sizeof(slow[0]));
    }
    take_turns(mem, directory, common, sizeof(common) / sizeof(common[0]));
}

/* A failure is slow from FETCH_SLOW_MS on, and for FETCH_SLOW_FOR_MS. */
static void
test_slow(TALLOC_CTX *mem)
{
    static const struct {
        int held;
        int64_t later;
        enum fetch_fault fault;
        const char *name;
    } rows[] = {
        {FETCH_SLOW_MS / 2, 1500,                     FETCH_OK,
         "a provider that refuses in less than FETCH_SLOW_MS is well"                                   },
        {FETCH_SLOW_MS,     1500,                     FETCH_FAULT_BUSY, "one that takes as long is slow"},
        {FETCH_SLOW_MS,     FETCH_SLOW_FOR_MS - 1000, FETCH_FAULT_BUSY, "... for its time"              },
        {FETCH_SLOW_MS,     FETCH_SLOW_FOR_MS + 1,    FETCH_OK,         "... and no longer"             },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *directory = env_directory(mem);
        struct op op = holder_op(mem, holder_pool(mem, directory, "web", 8), 1);
        struct op next = holder_op(mem, holder_pool(mem, directory, "web", 8), 1);
        const struct fetch_turn a = {browser(mem, "a"), "idp"}, b = {browser(mem, "b"), "idp"};
        struct fetch_place first, second;
        fetch_place_take_turn(&op, &a, &first);
        first.since -= rows[i].held;
        fetch_place_pause(&op, &first);
        fetch_place_drop(&first);
        op.now_ms = next.now_ms = clock_realtime_ms() + rows[i].later;
        struct other other = other_take(&op, FETCH_SAFE_HTTP, &a);
        is_int(fetch_place_take_turn(&next, &b, &second), rows[i].fault, "%s", rows[i].name);
        other_drop(&other);
        fetch_place_drop(&second);
    }
}

/* Browsers that were sent away together do not come back together. */
static void
test_refresh(TALLOC_CTX *mem)
{
    struct op op = holder_op(mem, holder_pool(mem, env_directory(mem), "web", 8), 1);
    struct fetch_place place;
    double least = 10, most = 0;
    for (int i = 0; i < 200; i++) {
        double seconds = atof(fetch_place_refresh(&op));
        least = seconds < least ? seconds : least;
        most = seconds > most ? seconds : most;
    }
    ok(least >= 1 && most < 2 && most - least > 0.5,
       "while no place changes hands, a browser comes back after 1 to 2 s (%.3f to %.3f)", least,
       most);
    fetch_place_take(&op, FETCH_SAFE_HTTP, &place);
    fetch_place_drop(&place);
    for (int i = 0; i < 200; i++) {
        double seconds = atof(fetch_place_refresh(&op));
        least = seconds < least ? seconds : least;
        most = i == 0 || seconds > most ? seconds : most;
    }
    ok(least >= 0.2 && most < 0.9 && most - least > 0.35,
       "while places change hands, after 0.2 to 0.9 s (%.3f to %.3f)", least, most);
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    plan(0);
    test_addresses(mem);
    test_address_death(mem);
    test_metadata(mem);
    test_wait(mem);
    test_waits(mem);
    test_pause(mem);
    test_turns(mem);
    test_slow(mem);
    test_refresh(mem);
    talloc_free(mem);
    return done();
}
