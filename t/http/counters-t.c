#include "config.h"

#include "http/counters.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
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
    const char *text = metrics_text(mem, counters_metrics(counters), NULL, 0);
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
    ok(says(mem, counters, "svc_unaudited_requests_total{route=\"/logout\",method=\"GET\"} 0"),
       "a counter begins at 0 and is shown from the start");
    for (int i = 0; i < 3; i++)
        counters_add(counters, METRIC_UNAUDITED, route_of("GET", "/logout"));
    counters_add(counters, METRIC_RATE_LIMITED, route_of("POST", "/token"));
    ok(says(mem, counters, "svc_unaudited_requests_total{route=\"/logout\",method=\"GET\"} 3"),
       "a request counts for its row");
    ok(says(mem, counters, "svc_unaudited_requests_total{route=\"/logout\",method=\"POST\"} 0"),
       "... not for another method");
    ok(says(mem, counters, "svc_ratelimit_rejected_total{path=\"/token\"} 1"),
       "... each counter for itself");
    const struct route other = {.method = "BREW", .path = "/authorize"},
                       made = {.method = "GET", .path = "/no/such/path"};
    counters_add(counters, METRIC_RATE_LIMITED, &other);
    counters_add(counters, METRIC_RATE_LIMITED, route_of("GET", "/authorize"));
    counters_add(counters, METRIC_RATE_LIMITED, route_of("POST", "/authorize"));
    ok(says(mem, counters, "svc_ratelimit_rejected_total{path=\"/authorize\"} 3"),
       "... by path, for all of its methods");
    counters_answered(counters, &other, 405, 1);
    ok(says(mem, counters,
            "svc_http_requests_total{route=\"/authorize\",method=\"other\",code=\"405\"} 1"),
       "a method that the path does not have counts as other, and its text is not shown");
    counters_answered(counters, &made, 404, 1);
    ok(says(mem, counters,
            "svc_http_requests_total{route=\"(none)\",method=\"other\",code=\"404\"} 1"),
       "a path without a row counts as none, and its text is not shown");
    const struct route guard = {.method = "GET", .path = "/admin/"};
    counters_answered(counters, &guard, 401, 1);
    ok(says(mem, counters,
            "svc_http_requests_total{route=\"/admin/\",method=\"other\",code=\"401\"} 1"),
       "... unless it lies below a guarded prefix");
    counters_answered(counters, route_of("POST", "/token"), 200, 1500);
    ok(says(mem, counters,
            "svc_http_requests_total{route=\"/token\",method=\"POST\",code=\"200\"} 1"),
       "an answer counts for its row");
    ok(says(mem, counters,
            "svc_http_request_seconds_bucket{route=\"/token\",method=\"POST\",le=\"0.0025\"} 1"),
       "... with its time");
    counters_add(NULL, METRIC_UNAUDITED, NULL);
    counters_answered(NULL, NULL, 200, 1);
    ok(strstr(metrics_text(mem, counters_metrics(counters), NULL, 0), "route=\"/health\"") == NULL,
       "routes that were never counted are not shown");
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

/* Processes that start at once and find a file of another layout. */
static void
test_starts(TALLOC_CTX *mem)
{
    const char *dir = talloc_asprintf(mem, "%s/run", env_directory(mem));
    const struct route *route = route_of("GET", "/logout");
    int gate[2], lost = 0;
    char octet;
    for (int round = 0; round < 20; round++) {
        talloc_free(open_at(mem, dir));
        FILE *file = fopen(talloc_asprintf(mem, "%s/counters", dir), "r+e");
        fputs("other", file);
        fclose(file);
        if (pipe(gate) != 0)
            exit(97);
        for (int i = 0; i < 8; i++)
            if (fork() == 0) {
                close(gate[1]);
                if (read(gate[0], &octet, 1) != 0)
                    _exit(1);
                counters_add(open_at(NULL, dir), METRIC_UNAUDITED, route);
                _exit(0);
            }
        close(gate[0]);
        close(gate[1]);
        while (wait(NULL) > 0)
            ;
        lost += !says(mem, open_at(mem, dir),
                      "svc_unaudited_requests_total{route=\"/logout\",method=\"GET\"} 8");
    }
    is_int(lost, 0, "8 processes that start at once replace a file of another layout once");
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
                counters_add(mine, METRIC_UNAUDITED, route);
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

/* Tell this process that the machine was started again: put another file over the boot id, in a
 * mount namespace of its own. False: it may not. */
static bool
boot_again(TALLOC_CTX *mem)
{
    const char *name = talloc_asprintf(mem, "%s/boot", env_directory(mem));
    FILE *file = fopen(name, "we");
    fputs("00000000-0000-4000-8000-000000000000\n", file);
    fclose(file);
    return unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0
           && mount(name, "/proc/sys/kernel/random/boot_id", NULL, MS_BIND, NULL) == 0;
}

static void
test_restart(TALLOC_CTX *mem)
{
    enum { BEGINS_AGAIN, GOES_ON, CANNOT };
    const char *dir = talloc_asprintf(mem, "%s/run", env_directory(mem));
    int status = 0;
    counters_add(open_at(mem, dir), METRIC_UNAUDITED, route_of("GET", "/logout"));
    if (fork() == 0) {
        bool may = boot_again(mem);
        bool zero = says(mem, open_at(mem, dir),
                         "svc_unaudited_requests_total{route=\"/logout\",method=\"GET\"} 0");
        _exit(!may ? CANNOT : zero ? BEGINS_AGAIN : GOES_ON);
    }
    wait(&status);
    if (WEXITSTATUS(status) == CANNOT)
        ok(true, "a restart of the machine # SKIP only root can pretend one");
    else
        is_int(WEXITSTATUS(status), BEGINS_AGAIN,
               "numbers of before the machine was started again do not count");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    plan(0);
    test_counts(mem);
    test_starts(mem);
    test_lines(mem);
    test_parallel(mem);
    test_restart(mem);
    talloc_free(mem);
    return done();
}
