#include "config.h"

#include "http/counters.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "crypto/digest.h"
#include "host/file.h"
#include "http/address.h"
#include "http/route.h"

/* Entries for addresses whose log lines are counted: all of them together write at most
 * COUNTERS_LINES_PER_MINUTE times as many lines in a minute. */
#define LINE_SLOTS 4096u
/* One word per entry, so that a single compare-and-swap decides: minute 40 bits | count 24 bits. */
#define COUNT_BITS 24
#define COUNT_MASK 0xffffffULL
/* Method of the place that stands for a path: requests with methods that the path does not have. */
#define METHOD_OTHER "other"
/* Path of requests that match no row, which are many: an attacker chooses their text. */
#define PATH_NONE "(none)"

struct counter_map {
    struct host_head head;
    _Atomic uint64_t left_out;         /* lines left out in one minute, not reported yet */
    _Atomic uint64_t line[LINE_SLOTS]; /* lines written, by address */
    _Atomic uint64_t metrics[];        /* for metrics_new() */
};

struct counters {
    struct counter_map *map;    /* the mapped file */
    struct metrics *metrics;    /* its last part */
    struct metric_place *place; /* a row of the routing table each, then a path each */
    size_t places;
};

/* ---- the routing table as labels */

/* Add an entry for a path, unless it has one. */
static void
add_path(struct counters *counters, const struct route *route)
{
    struct metric_place *place = counters->place + routes_count;
    const struct metric_place *end = counters->place + counters->places;
    while (place < end && strcmp(place->path, route->path) != 0)
        place++;
    if (place == end) {
        counters->places++;
        *place = (struct metric_place){route->path, METHOD_OTHER, false, false, true};
    }
    place->rate_limited = place->rate_limited || route->rate_limited;
}

/* Make a place per row, in the order of the table, and one per path. The last one is for requests
 * that match no row. */
static bool
make_places(struct counters *counters)
{
    static const struct route none = {.path = PATH_NONE};
    size_t most = 2 * routes_count + route_guards_count + 1;
    counters->place = talloc_array(counters, struct metric_place, (unsigned) most);
    if (counters->place == NULL)
        return false;
    for (size_t i = 0; i < routes_count; i++)
        counters->place[i] = (struct metric_place){
            routes[i].path, routes[i].method, routes[i].audited, routes[i].rate_limited, false};
    counters->places = routes_count;
    for (size_t i = 0; i < routes_count; i++)
        add_path(counters, &routes[i]);
    for (size_t i = 0; i < route_guards_count; i++)
        add_path(counters, &route_guards[i]);
    add_path(counters, &none);
    return true;
}

static size_t
find_path(const struct counters *counters, const char *path)
{
    size_t place = routes_count;
    while (place + 1 < counters->places && strcmp(counters->place[place].path, path) != 0)
        place++;
    return place;
}

/* Return the place of a row; one that is not of the table was made for a path with another method,
 * or for no path. */
static size_t
find_place(const struct counters *counters, const struct route *route)
{
    return route >= routes && route < routes + routes_count ? (size_t) (route - routes)
                                                            : find_path(counters, route->path);
}

/* ---- the file */

/*
 * Return a number of this layout and of this start of the machine. A version with other routes or
 * metrics starts a new file, so that no number counts for another thing. So does a machine that was
 * started again: what its file says may be older than what was read before the crash, and
 * Prometheus would take the smaller number for a reset and count the whole of it once more.
 */
static uint64_t
counters_layout(const struct counters *counters)
{
    char boot[64] = "";
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (file != NULL) {
        if (fgets(boot, sizeof(boot), file) == NULL)
            boot[0] = '\0';
        fclose(file);
    }
    return metrics_layout(metrics_mix(0xcbf29ce484222325ULL, boot), counters->place,
                          counters->places);
}

static enum az_status
map_file(TALLOC_CTX *mem, const char *dir, struct counters *counters, const char **ret_why)
{
    struct host_file *mapped;
    size_t size = sizeof(struct counter_map) + metrics_octets(counters->places);
    enum az_status st =
        host_file_open(mem, dir, "counters", counters_layout(counters), size, &mapped, ret_why);
    if (st != AZ_OK)
        return st;
    counters->map = mapped->at;
    counters->metrics =
        metrics_new(counters, mapped, counters->map->metrics, counters->place, counters->places);
    /* The metrics write to the memory when they are freed, so they own it: it goes after that. */
    talloc_steal(counters->metrics != NULL ? (void *) counters->metrics : counters, mapped);
    return counters->metrics != NULL ? AZ_OK : AZ_SERVER_ERROR;
}

enum az_status
counters_open(TALLOC_CTX *mem, const char *dir, struct counters **ret, const char **ret_why)
{
    struct counters *counters = talloc_zero(mem, struct counters);
    *ret_why = "out of memory";
    if (counters == NULL)
        return AZ_SERVER_ERROR;
    enum az_status st =
        make_places(counters) ? map_file(mem, dir, counters, ret_why) : AZ_SERVER_ERROR;
    if (st != AZ_OK) {
        talloc_free(counters);
        return st;
    }
    *ret = counters;
    return AZ_OK;
}

struct metrics *
counters_metrics(const struct counters *counters)
{
    return counters->metrics;
}

/* ---- counting */

void
counters_add(struct counters *counters, enum metric metric, const struct route *route)
{
    if (counters == NULL)
        return;
    metrics_add(counters->metrics, metric,
                metric_table[metric].routes == ROUTES_BY_PATH ? find_path(counters, route->path)
                                                              : find_place(counters, route),
                NULL);
}

void
counters_answered(struct counters *counters, const struct route *route, int status, int64_t us)
{
    char code[16];
    if (counters == NULL)
        return;
    metrics_settle(counters->metrics);
    size_t place = find_place(counters, route);
    snprintf(code, sizeof(code), "%d", status);
    metrics_add(counters->metrics, METRIC_HTTP_REQUESTS, place, (const char *const[]){code});
    metrics_observe(counters->metrics, METRIC_HTTP_SECONDS, place, us);
}

/* ---- log lines */

/* Return the entry of an address. Callers without one share an entry. */
static _Atomic uint64_t *
line_slot(struct counter_map *map, const char *address)
{
    unsigned char text[HOST_KEY_OCTETS + ADDRESS_OCTETS_MAX] = {0}, digest[SHA256_OCTETS];
    uint32_t hash;
    memcpy(text, map->head.key, HOST_KEY_OCTETS);
    size_t length = address_counted(address, text + HOST_KEY_OCTETS);
    if (sha256(text, HOST_KEY_OCTETS + length, digest) != AZ_OK)
        return &map->line[0]; /* all addresses share one entry then, and the limit still holds */
    memcpy(&hash, digest, sizeof(hash));
    return &map->line[hash % LINE_SLOTS];
}

/* Count in a word of the minute. False: the minute has `limit` already. */
static bool
count_in_minute(_Atomic uint64_t *word, uint64_t minute, uint64_t limit)
{
    uint64_t now = atomic_load_explicit(word, memory_order_relaxed), next;
    do {
        uint64_t count = now >> COUNT_BITS == minute ? now & COUNT_MASK : 0;
        if (count >= limit)
            return false;
        next = minute << COUNT_BITS | (count + 1);
    } while (!atomic_compare_exchange_weak(word, &now, next));
    return true;
}

static uint64_t
minute_of(int64_t now)
{
    return (uint64_t) (now / 60) & (UINT64_MAX >> COUNT_BITS);
}

bool
counters_admit_line(struct counters *counters, const char *address, int64_t now)
{
    struct counter_map *map = counters->map;
    if (count_in_minute(line_slot(map, address), minute_of(now), COUNTERS_LINES_PER_MINUTE))
        return true;
    metrics_add(counters->metrics, METRIC_LINES_LEFT_OUT, 0, NULL);
    count_in_minute(&map->left_out, minute_of(now), COUNT_MASK);
    return false;
}

uint64_t
counters_take_left_out(struct counters *counters, int64_t now)
{
    _Atomic uint64_t *word = &counters->map->left_out;
    uint64_t left_out = atomic_load_explicit(word, memory_order_relaxed);
    if (left_out == 0 || left_out >> COUNT_BITS == minute_of(now)
        || !atomic_compare_exchange_strong(word, &left_out, 0))
        return 0;
    return left_out & COUNT_MASK;
}
