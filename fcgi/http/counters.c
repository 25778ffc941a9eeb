#include "config.h"

#include "http/counters.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

#include "base/buf.h"
#include "crypto/digest.h"
#include "http/address.h"
#include "http/mapped.h"
#include "http/route.h"

/* Routes that can be counted; t/http/counters-t.c checks that the routing table is shorter. */
#define ROUTES_MAX 256
/* Entries for addresses whose log lines are counted: all of them together write at most
 * COUNTERS_LINES_PER_MINUTE times as many lines in a minute. */
#define LINE_SLOTS 4096u
/* Longest text of the metrics, in octets. */
#define TEXT_MAX (256 << 10)
/* One word per entry, so that a single compare-and-swap decides: minute 40 bits | count 24 bits. */
#define COUNT_BITS 24
#define COUNT_MASK 0xffffffULL

static bool
is_audited(const struct route *route)
{
    return route->audited;
}

static bool
is_rate_limited(const struct route *route)
{
    return route->rate_limited;
}

struct metric {
    const char *name;
    const char *help;
    bool (*of)(const struct route *route); /* routes that have a number each; NULL: one number */
};

/* The counters. More of them are more rows. */
/* clang-format off */
static const struct metric metrics[COUNTERS] = {
    [COUNTER_UNAUDITED] = {"svc_unaudited_requests_total",
     "Requests to audited endpoints that left no audit row, because they proved nothing and changed nothing.", is_audited},
    [COUNTER_RATE_LIMITED] = {"svc_ratelimit_rejected_total",
     "Requests that the rate limit refused.", is_rate_limited},
    [COUNTER_LINES_LEFT_OUT] = {"svc_log_lines_left_out_total",
     "Log lines of requests without an audit row that were left out, beyond the limit per address and minute.", NULL},
};
/* clang-format on */

struct counter_map {
    struct mapped_head head;
    _Atomic uint64_t value[COUNTERS][ROUTES_MAX];
    _Atomic uint64_t left_out;         /* lines left out in one minute that nobody told yet */
    _Atomic uint64_t line[LINE_SLOTS]; /* lines written, by address */
};

struct counters {
    struct counter_map *map; /* the mapped file */
};

/* Mix a text into a number (FNV-1a). */
static uint64_t
mix(uint64_t number, const char *text)
{
    for (; *text != '\0'; text++)
        number = (number ^ (unsigned char) *text) * 0x100000001b3ULL;
    return number * 0x100000001b3ULL;
}

/* Return a number of this layout. A version with other routes or counters starts a new file, so
 * that no number counts for another route. */
static uint64_t
layout(void)
{
    uint64_t number = 0xcbf29ce484222325ULL;
    for (size_t i = 0; i < COUNTERS; i++)
        number = mix(number, metrics[i].name);
    for (const struct route *route = routes; route < routes + routes_count; route++)
        number = mix(mix(number, route->method), route->path);
    return number;
}

enum az_status
counters_open(TALLOC_CTX *mem, const char *dir, struct counters **ret, const char **ret_why)
{
    struct mapped *mapped;
    struct counters *counters = talloc_zero(mem, struct counters);
    if (counters == NULL)
        return AZ_SERVER_ERROR;
    enum az_status st =
        mapped_open(mem, dir, "counters", layout(), sizeof(struct counter_map), &mapped, ret_why);
    if (st != AZ_OK) {
        talloc_free(counters);
        return st;
    }
    talloc_steal(counters, mapped);
    counters->map = mapped->at;
    *ret = counters;
    return AZ_OK;
}

void
counters_add(struct counters *counters, enum counter counter, const struct route *route)
{
    size_t index = 0;
    if (counters == NULL)
        return;
    if (metrics[counter].of != NULL) {
        if (route < routes || route >= routes + routes_count || route - routes >= ROUTES_MAX)
            return;
        index = (size_t) (route - routes);
    }
    atomic_fetch_add_explicit(&counters->map->value[counter][index], 1, memory_order_relaxed);
}

/* Return the entry of an address. Callers without one share an entry. */
static _Atomic uint64_t *
line_slot(struct counter_map *map, const char *address)
{
    unsigned char text[MAPPED_KEY_OCTETS + ADDRESS_OCTETS_MAX] = {0}, digest[SHA256_OCTETS];
    uint32_t hash;
    memcpy(text, map->head.key, MAPPED_KEY_OCTETS);
    size_t length = address_counted(address, text + MAPPED_KEY_OCTETS);
    if (sha256(text, MAPPED_KEY_OCTETS + length, digest) != AZ_OK)
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
    counters_add(counters, COUNTER_LINES_LEFT_OUT, NULL);
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

static void
put_metric(struct buf *out, struct counter_map *map, enum counter counter)
{
    const struct metric *metric = &metrics[counter];
    buf_append_format(out, "# HELP %s %s\n# TYPE %s counter\n", metric->name, metric->help,
                      metric->name);
    if (metric->of == NULL)
        buf_append_format(out, "%s %" PRIu64 "\n", metric->name,
                          atomic_load(&map->value[counter][0]));
    for (size_t i = 0; metric->of != NULL && i < routes_count && i < ROUTES_MAX; i++)
        if (metric->of(&routes[i]))
            buf_append_format(out, "%s{route=\"%s\",method=\"%s\"} %" PRIu64 "\n", metric->name,
                              routes[i].path, routes[i].method,
                              atomic_load(&map->value[counter][i]));
}

const char *
counters_text(TALLOC_CTX *mem, struct counters *counters)
{
    BUF_AUTO out;
    buf_init(&out, mem, TEXT_MAX);
    buf_append_format(&out,
                      "# HELP svc_build_info The version that runs.\n# TYPE svc_build_info gauge\n"
                      "svc_build_info{version=\"%s\"} 1\n",
                      PACKAGE_VERSION);
    for (int i = 0; i < COUNTERS; i++)
        put_metric(&out, counters->map, (enum counter) i);
    size_t length;
    return buf_take(&out, &length);
}
