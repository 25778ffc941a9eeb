#include "config.h"

#include "http/counters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "env.h"
#include "http/route.h"
#include "tap.h"

/* A moment at which a minute begins. */
#define START 1795258800L
#define LIMIT COUNTERS_LINES_PER_MINUTE

static struct counters *
open_at(TALLOC_CTX *mem, const char *dir)
{
    struct counters *counters = NULL;
    const char *why = "";
    if (counters_open(mem, dir, &counters, &why) != AZ_OK) {
        fprintf(stderr, "%s\n", why);
        exit(99);
    }
    return counters;
}

static const struct route *
route_of(const char *method, const char *path)
{
    for (const struct route *row = routes; row < routes + routes_count; row++)
        if (strcmp(row->method, method) == 0 && strcmp(row->path, path) == 0)
            return row;
    exit(98);
}

/* True if the text has the line. */
static bool
says(TALLOC_CTX *mem, struct counters *counters, const char *line)
{
    const char *text = counters_text(mem, counters);
    const char *at = text != NULL ? strstr(text, talloc_asprintf(mem, "\n%s\n", line)) : NULL;
    if (at == NULL)
        printf("# no line %s\n", line);
    return at != NULL;
}

static int
admitted(struct counters *counters, const char *address, int64_t now, int count)
{
    int in = 0;
    for (int i = 0; i < count; i++)
        in += counters_admit_line(counters, address, now);
    return in;
}

static void
test_counts(TALLOC_CTX *mem)
{
    const char *dir = talloc_asprintf(mem, "%s/run", env_directory(mem));
    struct counters *counters = open_at(mem, dir);
    ok(routes_count <= 256, "every row of the routing table can be counted (ROUTES_MAX)");
    ok(says(mem, counters, "svc_unaudited_requests_total{route=\"/logout\",method=\"GET\"} 0"),
       "a counter begins at 0 and is shown from the start");
    for (int i = 0; i < 3; i++)
        counters_add(counters, COUNTER_UNAUDITED, route_of("GET", "/logout"));
    counters_add(counters, COUNTER_RATE_LIMITED, route_of("POST", "/token"));
    ok(says(mem, counters, "svc_unaudited_requests_total{route=\"/logout\",method=\"GET\"} 3"),
       "a request counts for its row");
    ok(says(mem, counters, "svc_unaudited_requests_total{route=\"/logout\",method=\"POST\"} 0"),
       "... not for another method");
    ok(says(mem, counters, "svc_ratelimit_rejected_total{route=\"/token\",method=\"POST\"} 1"),
       "... each counter for itself");
    const struct route other = *route_of("GET", "/logout");
    counters_add(counters, COUNTER_UNAUDITED, &other);
    ok(says(mem, counters, "svc_unaudited_requests_total{route=\"/logout\",method=\"GET\"} 3"),
       "a row that is not of the table is not counted");
    counters_add(NULL, COUNTER_UNAUDITED, NULL);
    ok(strstr(counters_text(mem, counters), "route=\"/health\"") == NULL,
       "routes that are never counted are not shown");
    ok(says(mem, counters, "svc_build_info{version=\"" PACKAGE_VERSION "\"} 1"), "the version");
    ok(says(mem, open_at(mem, dir),
            "svc_unaudited_requests_total{route=\"/logout\",method=\"GET\"} 3"),
       "another process finds the same numbers, as the next CGI request does");
    FILE *file = fopen(talloc_asprintf(mem, "%s/counters", dir), "r+e");
    fputs("other", file);
    fclose(file);
    ok(says(mem, open_at(mem, dir),
            "svc_unaudited_requests_total{route=\"/logout\",method=\"GET\"} 0"),
       "a file of another layout is replaced");
}

static void
test_lines(TALLOC_CTX *mem)
{
    struct counters *counters = open_at(mem, talloc_asprintf(mem, "%s/run", env_directory(mem)));
    is_int(admitted(counters, "192.0.2.1", START, LIMIT), LIMIT,
           "an address writes %d lines in a minute", LIMIT);
    is_int(admitted(counters, "192.0.2.1", START + 59, 100), 0, "... and not one more");
    is_int((int64_t) counters_take_left_out(counters, START + 59), 0,
           "the left out ones are not told before the minute is over");
    ok(admitted(counters, "192.0.2.2", START + 59, 1) == 1, "another address has its own lines");
    is_int((int64_t) counters_take_left_out(counters, START + 60), 100, "... then all are told");
    is_int((int64_t) counters_take_left_out(counters, START + 60), 0, "... once");
    ok(says(mem, counters, "svc_log_lines_left_out_total 100"), "... and stay counted");
    is_int(admitted(counters, "192.0.2.1", START + 60, LIMIT + 1), LIMIT,
           "the next minute has the same number again");
    is_int(admitted(counters, "2001:db8::1", START, LIMIT + 1), LIMIT, "an IPv6 address");
    is_int(admitted(counters, "2001:db8::ffff", START, 1), 0, "... shares with its /64");
    is_int(admitted(counters, NULL, START, LIMIT + 1), LIMIT, "callers without an address share");
    int in = 0;
    for (int i = 0; i < 200000; i++)
        in += counters_admit_line(
            counters, talloc_asprintf(mem, "2001:db8:%x:%x::1", i >> 16, i & 0xffff), START + 120);
    ok(in > 4096 && in <= 4096 * LIMIT,
       "200,000 addresses write a bounded number of lines together: %d", in);
}

static void
test_parallel(TALLOC_CTX *mem)
{
    const char *dir = talloc_asprintf(mem, "%s/run", env_directory(mem));
    const struct route *route = route_of("GET", "/logout");
    struct counters *counters = open_at(mem, dir);
    int in[2], sum = 0, part;
    if (pipe(in) != 0)
        exit(97);
    for (int i = 0; i < 4; i++)
        if (fork() == 0) {
            struct counters *mine = open_at(mem, dir);
            for (int j = 0; j < 10000; j++)
                counters_add(mine, COUNTER_UNAUDITED, route);
            part = admitted(mine, "192.0.2.1", START, 1000);
            _exit(write(in[1], &part, sizeof(part)) == sizeof(part) ? 0 : 1);
        }
    for (int i = 0; i < 4 && read(in[0], &part, sizeof(part)) == sizeof(part); i++)
        sum += part;
    while (wait(NULL) > 0)
        ;
    is_int(sum, LIMIT, "four processes write the lines of one, together");
    is_int((int64_t) counters_take_left_out(counters, START + 60), 4000 - LIMIT,
           "... and none is lost");
    ok(says(mem, counters, "svc_unaudited_requests_total{route=\"/logout\",method=\"GET\"} 40000"),
       "... no count either");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    plan(0);
    test_counts(mem);
    test_lines(mem);
    test_parallel(mem);
    talloc_free(mem);
    return done();
}
