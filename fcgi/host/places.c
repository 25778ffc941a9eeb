#include "config.h"

#include "host/places.h"

#include <errno.h>
#include <time.h>

#include "base/clock.h"
#include "host/slot.h"

/* Layout of a file of places: its slots alone count. */
#define MAGIC 0x617a706c61636573ULL

struct places {
    struct host_file *file;
    const struct places_hold *kept; /* what this process keeps, or NULL */
    int64_t refused_ms;             /* clock_monotonic_ms() of the last refusal, or 0 */
    int64_t refused;                /* first slot of what was missing then */
};

struct places_hold {
    struct places *places;
    int64_t slot[PLACES_NEEDS_MAX];
    size_t slots;
};

struct places *
places_open(TALLOC_CTX *mem, const char *dir, const char *name)
{
    const char *why;
    struct places *places = talloc_zero(mem, struct places);
    if (places != NULL
        && host_file_open(places, dir, name, MAGIC, sizeof(struct host_head), &places->file, &why)
               != AZ_OK)
        TALLOC_FREE(places);
    return places;
}

bool
places_are_kept(const struct places *places)
{
    return places->kept != NULL;
}

static int
give_back(struct places_hold *hold)
{
    struct places *places = hold->places;
    for (size_t i = 0; i < hold->slots; i++)
        slot_drop(places->file, hold->slot[i]);
    if (places->kept == hold)
        places->kept = NULL;
    return 0;
}

static struct places_hold *
new_hold(TALLOC_CTX *mem, struct places *places)
{
    struct places_hold *hold = talloc_zero(mem, struct places_hold);
    if (hold != NULL) {
        hold->places = places;
        talloc_set_destructor(hold, give_back);
    }
    return hold;
}

/* Take what is still missing, up to what cannot be had. */
static enum places_end
try(struct places_hold *hold, const struct places_need *need, size_t needs, int skip)
{
    while (hold->slots < needs) {
        const struct places_need *next = &need[hold->slots];
        int64_t slot = slot_take_one(hold->places->file, next->first, next->count, skip);
        if (slot < 0)
            return errno == EAGAIN ? PLACES_FULL : PLACES_FAULT;
        hold->slot[hold->slots++] = slot;
    }
    return PLACES_TAKEN;
}

static enum places_end
try_ask(struct places_hold *hold, const struct places_ask *ask)
{
    return try(hold, ask->need, ask->needs, ask->skip);
}

/* Return the first slot of what is missing. */
static int64_t
missing(const struct places_hold *hold, const struct places_ask *ask)
{
    return ask->need[hold->slots].first;
}

/* Try again and again, while this process may. */
static enum places_end
look(struct places_hold *hold, const struct places_ask *ask)
{
    const struct timespec pause = {.tv_sec = 0, .tv_nsec = ask->look_ms * 1000000L};
    int64_t until = clock_monotonic_ms() + ask->wait_ms;
    enum places_end end = PLACES_FULL;
    while (end == PLACES_FULL && !*ask->stopping && clock_monotonic_ms() < until) {
        nanosleep(&pause, NULL);
        end = try_ask(hold, ask);
    }
    return end;
}

/* Wait for what is missing, with what a process needs that waits. */
static enum places_end
wait_for(TALLOC_CTX *mem, struct places_hold *hold, const struct places_ask *ask)
{
    const struct places *places = hold->places;
    bool refused = places->refused_ms != 0 && places->refused == missing(hold, ask)
                   && clock_monotonic_ms() - places->refused_ms < ask->full_ms;
    if (ask->wait_ms == 0 || refused)
        return PLACES_FULL;
    struct places_hold *waiting = new_hold(mem, hold->places);
    enum places_end end =
        waiting != NULL ? try(waiting, ask->wait, ask->waits, ask->skip) : PLACES_FAULT;
    if (end == PLACES_TAKEN)
        end = look(hold, ask);
    talloc_free(waiting);
    return end;
}

/* Note a refusal, or that there is a place again. */
static void
note(struct places *places, const struct places_hold *hold, const struct places_ask *ask,
     enum places_end end)
{
    if (ask->full_ms == 0)
        return;
    if (end == PLACES_FULL) {
        places->refused_ms = clock_monotonic_ms();
        places->refused = missing(hold, ask);
    } else if (places->refused == ask->need[ask->needs - 1].first) {
        places->refused_ms = 0;
    }
}

enum places_end
places_take(TALLOC_CTX *mem, struct places *places, const struct places_ask *ask,
            struct places_hold **ret, size_t *ret_lacks)
{
    struct places_hold *hold = new_hold(mem, places);
    *ret = NULL;
    *ret_lacks = 0;
    if (hold == NULL)
        return PLACES_FAULT;
    enum places_end end = try_ask(hold, ask);
    if (end == PLACES_FULL)
        end = wait_for(mem, hold, ask);
    note(places, hold, ask, end);
    *ret_lacks = hold->slots;
    if (end != PLACES_TAKEN) {
        talloc_free(hold);
        return end;
    }
    if (ask->keeps)
        places->kept = hold;
    *ret = hold;
    return end;
}
