/* Counting and the text of the metrics (gateway-admin.md 7.1). */
#include "config.h"

#include "metrics/metrics.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/status.h"
#include "host/file.h"
#include "tap.h"

static const struct metric_place places[] = {
    {"/token",  "POST",  true,  true,  false},
    {"/health", "GET",   false, false, false},
    {"/token",  "other", false, true,  true },
    {"/health", "other", false, false, true },
    {"(none)",  "other", false, false, true },
};
#define PLACES (sizeof(places) / sizeof(places[0]))
#define LAST (PLACES - 1)

/* Return memory that forked processes share. */
static struct host_file *
share(TALLOC_CTX *mem, size_t octets)
{
    struct host_file *memory = host_file_memory(mem, "authz-test", octets);
    if (memory == NULL)
        exit(99);
    return memory;
}

/* Return metrics in it. */
static struct metrics *
metrics_in(TALLOC_CTX *mem, struct host_file *memory)
{
    return metrics_new(mem, memory, memory->at, places, PLACES);
}

static bool
says(TALLOC_CTX *mem, const struct metrics *metrics, const char *line)
{
    const char *text = metrics_text(mem, metrics, NULL, 0);
    bool found = text != NULL && strstr(text, talloc_asprintf(mem, "\n%s\n", line)) != NULL;
    if (!found)
        printf("# no line %s\n", line);
    return found;
}

static bool
mentions(TALLOC_CTX *mem, const struct metrics *metrics, const char *words)
{
    return strstr(metrics_text(mem, metrics, NULL, 0), words) != NULL;
}

static void
decide(struct metrics *metrics, const char *evaluation, const char *outcome, const char *category)
{
    metrics_add(metrics, METRIC_DECISIONS, 0, (const char *const[]){evaluation, outcome, category});
}

static void
hold(struct metrics *metrics, const char *outcome)
{
    metrics_hold(metrics, METRIC_DECISIONS,
                 (const char *const[]){"authzen_batch", outcome, "system"});
}

static void
answer(struct metrics *metrics, size_t place, const char *code)
{
    metrics_add(metrics, METRIC_HTTP_REQUESTS, place, (const char *const[]){code});
}

static void
test_held(TALLOC_CTX *mem)
{
    struct metrics *metrics = metrics_in(mem, share(mem, metrics_octets(PLACES)));
    hold(metrics, "allowed");
    ok(!mentions(mem, metrics, "svc_decisions_total{"), "what is held is not counted");
    hold(metrics, "error");
    metrics_settle(metrics);
    ok(says(mem, metrics,
            "svc_decisions_total{evaluation=\"authzen_batch\",outcome=\"error\",reason_category="
            "\"system\"} 1"),
       "... until it is settled, as what it was last");
    ok(!mentions(mem, metrics, "outcome=\"allowed\""), "... alone");
    metrics_settle(metrics);
    hold(metrics, "error");
    metrics_hold(metrics, METRIC_DECISIONS, NULL);
    metrics_settle(metrics);
    ok(mentions(mem, metrics, "reason_category=\"system\"} 1\n"), "... and once");
}

static void
test_labels(TALLOC_CTX *mem)
{
    struct metrics *metrics = metrics_in(mem, share(mem, metrics_octets(PLACES)));
    answer(metrics, 0, "200");
    answer(metrics, 0, "200");
    answer(metrics, 0, "429");
    answer(metrics, LAST, "404");
    ok(says(mem, metrics,
            "svc_http_requests_total{route=\"/token\",method=\"POST\",code=\"200\"} 2"),
       "an answer counts for its route, method and status");
    ok(says(mem, metrics,
            "svc_http_requests_total{route=\"/token\",method=\"POST\",code=\"429\"} 1"),
       "... each status for itself");
    ok(says(mem, metrics,
            "svc_http_requests_total{route=\"(none)\",method=\"other\",code=\"404\"} 1"),
       "... and the last place for itself");
    ok(!mentions(mem, metrics, "route=\"/health\",method=\"GET\",code"),
       "an answer that was never given is not shown");
    answer(metrics, 0, "299");
    answer(metrics, 0, "x\"} 1\nsvc_forged_total 1");
    ok(says(mem, metrics,
            "svc_http_requests_total{route=\"/token\",method=\"POST\",code=\"other\"} 2"),
       "a value that is not listed counts as other, whatever it is");
    ok(!mentions(mem, metrics, "forged"), "... and its text is not shown");
    answer(metrics, PLACES, "200");
    answer(metrics, SIZE_MAX, "200");
    ok(!mentions(mem, metrics, "code=\"200\"} 3"), "a place that is none is not counted");
    decide(metrics, "issue", "denied", "scope");
    decide(metrics, "introspect", "allowed", "none");
    decide(metrics, "of-an-operator", "denied", "of-an-operator");
    ok(says(
           mem, metrics,
           "svc_decisions_total{evaluation=\"issue\",outcome=\"denied\",reason_category=\"scope\"} "
           "1"),
       "several labels");
    ok(says(mem, metrics,
            "svc_decisions_total{evaluation=\"introspect\",outcome=\"allowed\",reason_category="
            "\"none\"} 1"),
       "... do not mix");
    ok(says(mem, metrics,
            "svc_decisions_total{evaluation=\"other\",outcome=\"denied\",reason_category=\"other\"}"
            " 1"),
       "... and unlisted words of rules count as other");
    ok(says(mem, metrics, "svc_tokens_issued_total{grant=\"refresh_token\"} 0"),
       "a number with few labels is shown before its first count");
    ok(says(mem, metrics, "svc_ratelimit_rejected_total{path=\"/token\"} 0"),
       "a number by path has the path alone");
    ok(!mentions(mem, metrics, "svc_ratelimit_rejected_total{path=\"/health\"}"),
       "... and only the paths that can be counted");
    metrics_hold(NULL, METRIC_TOKENS_ISSUED, NULL);
    metrics_settle(NULL);
    metrics_add(NULL, METRIC_TOKENS_ISSUED, 0, NULL);
    metrics_observe(NULL, METRIC_ENGINE_SECONDS, 0, 1);
    metrics_note_process(NULL, PROCESS_BUSY);
}

static void
test_histogram(TALLOC_CTX *mem)
{
    struct metrics *metrics = metrics_in(mem, share(mem, metrics_octets(PLACES)));
    metrics_observe(metrics, METRIC_HTTP_SECONDS, 0, 1000);
    metrics_observe(metrics, METRIC_HTTP_SECONDS, 0, 1001);
    metrics_observe(metrics, METRIC_HTTP_SECONDS, 0, 0);
    metrics_observe(metrics, METRIC_HTTP_SECONDS, 0, 10000001);
    metrics_observe(metrics, METRIC_HTTP_SECONDS, 0, -5);
#define SECONDS "svc_http_request_seconds"
#define TOKEN "route=\"/token\",method=\"POST\""
    ok(says(mem, metrics, SECONDS "_bucket{" TOKEN ",le=\"0.0005\"} 2"),
       "the lowest bucket; a clock that went back counts as no time");
    ok(says(mem, metrics, SECONDS "_bucket{" TOKEN ",le=\"0.001\"} 3"),
       "a bound belongs to its bucket");
    ok(says(mem, metrics, SECONDS "_bucket{" TOKEN ",le=\"0.0025\"} 4"),
       "... a microsecond more to the next one, and buckets hold the ones below");
    ok(says(mem, metrics, SECONDS "_bucket{" TOKEN ",le=\"10\"} 4"), "the highest bound");
    ok(says(mem, metrics, SECONDS "_bucket{" TOKEN ",le=\"+Inf\"} 5"), "... and beyond it");
    ok(says(mem, metrics, SECONDS "_sum{" TOKEN "} 10.002002"), "the sum in seconds");
    ok(says(mem, metrics, SECONDS "_count{" TOKEN "} 5"), "the number");
    ok(!mentions(mem, metrics, SECONDS "_count{route=\"/health\""),
       "routes without a request are left out");
    ok(says(mem, metrics, "svc_opa_seconds_count 0"), "a histogram without labels");
}

/* 8 processes, 1000 operations each. */
static void
test_parallel(TALLOC_CTX *mem)
{
    struct host_file *at = share(mem, metrics_octets(PLACES));
    for (int i = 0; i < 8; i++)
        if (fork() == 0) {
            struct metrics *mine = metrics_in(NULL, at);
            for (int j = 0; j < 1000; j++) {
                answer(mine, (size_t) j % 2, "200");
                metrics_observe(mine, METRIC_HTTP_SECONDS, 0, j);
                decide(mine, "issue", "allowed", "none");
            }
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
    struct metrics *metrics = metrics_in(mem, at);
    ok(says(mem, metrics,
            "svc_http_requests_total{route=\"/token\",method=\"POST\",code=\"200\"} 4000"),
       "8 processes lose no count");
    ok(says(mem, metrics, SECONDS "_count{" TOKEN "} 8000"), "... no observation");
    ok(says(mem, metrics, SECONDS "_sum{" TOKEN "} 3.996000"), "... and no microsecond");
    ok(says(mem, metrics,
            "svc_decisions_total{evaluation=\"issue\",outcome=\"allowed\",reason_category=\"none\"}"
            " 8000"),
       "... nor one with more labels");
}

/* Return the number of the line that begins with a text. */
static long long
number_of(TALLOC_CTX *mem, const struct metrics *metrics, const char *begin)
{
    const char *at = strstr(metrics_text(mem, metrics, NULL, 0), begin);
    return at != NULL ? atoll(at + strlen(begin)) : 0;
}

/* A process that is killed between two additions costs one of them at most. */
static void
test_killed(TALLOC_CTX *mem)
{
    struct host_file *at = share(mem, metrics_octets(PLACES));
    struct metrics *metrics = metrics_in(mem, at);
    _Atomic long long *done = share(mem, sizeof(*done))->at;
    bool good = true;
    for (int i = 0; i < 50; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            struct metrics *mine = metrics_in(NULL, at);
            metrics_note_process(mine, PROCESS_BUSY);
            for (;;) {
                metrics_observe(mine, METRIC_HTTP_SECONDS, 0, 1);
                atomic_fetch_add(done, 1);
            }
        }
        long long before = atomic_load(done);
        while (atomic_load(done) == before) {
        }
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    long long known = atomic_load(done);
    long long counted = number_of(mem, metrics, SECONDS "_count{" TOKEN "} ");
    good = counted >= known && counted <= known + 50;
    ok(good, "50 processes that are killed while they count: %lld done, %lld counted", known,
       counted);
    is_int(number_of(mem, metrics, SECONDS "_bucket{" TOKEN ",le=\"+Inf\"} "), counted,
           "... and the buckets agree with the number");
    uint64_t counts[PROCESS_STATES];
    metrics_count_processes(metrics, counts);
    is_int((int64_t) counts[PROCESS_BUSY], 0, "... and none of them counts as busy");
}

static void
test_processes(TALLOC_CTX *mem)
{
    struct host_file *at = share(mem, metrics_octets(PLACES));
    struct metrics *metrics = metrics_in(mem, at);
    uint64_t counts[PROCESS_STATES];
    int ready[2], end[2];
    char octet = 0;
    if (pipe(ready) != 0 || pipe(end) != 0)
        exit(97);
    for (int i = 0; i < 3; i++)
        if (fork() == 0) {
            close(end[1]);
            struct metrics *mine = metrics_in(NULL, at);
            metrics_note_process(mine, PROCESS_BUSY);
            if (i > 0)
                metrics_note_process(mine, PROCESS_IDLE);
            if (write(ready[1], &octet, 1) != 1 || read(end[0], &octet, 1) != 0)
                _exit(1);
            talloc_free(mine);
            _exit(0);
        }
    for (int i = 0; i < 3; i++)
        if (read(ready[0], &octet, 1) != 1)
            exit(96);
    metrics_count_processes(metrics, counts);
    is_int((int64_t) counts[PROCESS_BUSY], 1, "a process counts in the state that it noted last");
    is_int((int64_t) counts[PROCESS_IDLE], 2, "... each for itself");
    close(end[1]);
    while (wait(NULL) > 0)
        ;
    metrics_count_processes(metrics, counts);
    is_int((int64_t) (counts[PROCESS_BUSY] + counts[PROCESS_IDLE]), 0, "... until it ends");
    metrics_note_process(metrics, PROCESS_CLOSED);
    metrics_count_processes(metrics, counts);
    is_int((int64_t) counts[PROCESS_CLOSED], 1, "words of ended processes are used again");
}

static void
test_layout(void)
{
    struct metric_place other[PLACES];
    memcpy(other, places, sizeof(places));
    uint64_t number = metrics_layout(1, places, PLACES);
    ok(number == metrics_layout(1, places, PLACES), "the same layout has the same number");
    ok(number != metrics_layout(2, places, PLACES), "... with the same seed");
    ok(number != metrics_layout(1, places, PLACES - 1), "a place less is another layout");
    other[0].method = "PUT";
    ok(number != metrics_layout(1, other, PLACES), "... so is another method");
    other[0] = places[1];
    other[1] = places[0];
    ok(number != metrics_layout(1, other, PLACES), "... or another order");
}

/* Fill all of the memory, so that each series is shown with its longest number. */
static void
test_largest(TALLOC_CTX *mem)
{
    enum { MANY = 256 };
    struct metric_place *many = talloc_zero_array(mem, struct metric_place, MANY);
    for (int i = 0; i < MANY; i++)
        many[i] = (struct metric_place){
            talloc_asprintf(mem, "/admin/api/some-long-collection-name/{someId}/%d", i), "OTHER",
            true, true, true};
    size_t octets = metrics_octets(MANY);
    struct host_file *at = share(mem, octets);
    memset(at->at, 0xff, octets);
    const char *text = metrics_text(mem, metrics_new(mem, at, at->at, many, MANY), NULL, 0);
    ok(text != NULL && strlen(text) < 2 << 20,
       "256 routes with all series fit into the text: %zu octets", text != NULL ? strlen(text) : 0);
}

/* A sample's value is escaped, as the format asks. */
static void
test_gauges(TALLOC_CTX *mem)
{
    struct metrics *metrics = metrics_in(mem, share(mem, metrics_octets(PLACES)));
    const struct metric_sample samples[] = {
        {METRIC_BUNDLE_REVISION, {"a\\b\"c\nd"}, 1},
        {METRIC_KEY_AGE,         {"oidc"},       7},
        {METRIC_KEY_AGE,         {"statement"},  8},
    };
    const char *text = metrics_text(mem, metrics, samples, 3);
    ok(strstr(text, "\nsvc_bundle_revision_info{revision=\"a\\\\b\\\"c\\nd\"} 1\n") != NULL,
       "a text of the database is escaped");
    ok(strstr(text, "# TYPE svc_key_age_seconds gauge\nsvc_key_age_seconds{use=\"oidc\"} "
                    "7\nsvc_key_age_seconds{use=\"statement\"} 8\n")
           != NULL,
       "the values of a gauge stand together");
}

/* Every status that the service answers with has a value of its own. */
static void
test_codes(void)
{
    bool all = true;
    for (int i = 0; i < AZ_STATUS_COUNT; i++) {
        char code[16];
        bool found = false;
        snprintf(code, sizeof(code), "%d", az_status_row((enum az_status) i)->http);
        for (const char *const *value = metric_table[METRIC_HTTP_REQUESTS].label[0].values;
             *value != NULL; value++)
            found = found || strcmp(*value, code) == 0;
        if (!found)
            printf("# %s is not listed\n", code);
        all = all && found;
    }
    ok(all, "each status of base/status.c is a value of the label code");
}

/* Not a test: what a count costs. */
static void
measure(TALLOC_CTX *mem)
{
    enum { TIMES = 2000000 };
    struct metrics *metrics = metrics_in(mem, share(mem, metrics_octets(PLACES)));
    int64_t began = clock_monotonic_us();
    for (int i = 0; i < TIMES; i++)
        metrics_add(metrics, METRIC_LINES_LEFT_OUT, 0, NULL);
    int64_t plain = clock_monotonic_us();
    for (int i = 0; i < TIMES; i++)
        decide(metrics, "introspect", "allowed", "none");
    int64_t labels = clock_monotonic_us();
    for (int i = 0; i < TIMES; i++)
        metrics_observe(metrics, METRIC_HTTP_SECONDS, 0, i % 3000);
    int64_t times = clock_monotonic_us();
    printf("# one count: %.1f ns, with three labels %.1f ns, a time %.1f ns\n",
           (double) (plain - began) * 1e3 / TIMES, (double) (labels - plain) * 1e3 / TIMES,
           (double) (times - labels) * 1e3 / TIMES);
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    plan(0);
    test_labels(mem);
    test_held(mem);
    test_histogram(mem);
    test_parallel(mem);
    test_killed(mem);
    test_processes(mem);
    test_layout();
    test_largest(mem);
    test_gauges(mem);
    test_codes();
    measure(mem);
    talloc_free(mem);
    return done();
}
