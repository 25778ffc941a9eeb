#include "config.h"

#include <string.h>

#include "base/clock.h"
#include "base/json/jsonx.h"
#include "env.h"
#include "policy/engine/engine.h"
#include "policy/fake_engine.h"
#include "tap.h"

/* Longest wait for an answer in these tests, also on a busy machine. Milliseconds. */
#define PATIENCE_MS 5000

#define PROVENANCE                                                                                 \
    "\"provenance\":{\"version\":\"1.20.2\",\"bundles\":{\"svc\":{\"revision\":\"r1-0a\"}}}"
#define GOOD "{" PROVENANCE ",\"result\":7}"

/* One engine; each trial is an operation of its own. */
struct bench {
    TALLOC_CTX *mem;
    struct az *az;
    struct fake_engine *fake;
    struct op op;
};

static struct bench
bench_new(TALLOC_CTX *mem)
{
    struct bench bench = {.mem = mem, .az = env_az(mem), .fake = fake_engine_new(mem)};
    bench.az->engine = engine_new(mem, bench.fake->url, PATIENCE_MS);
    return bench;
}

static enum az_status
try_path(struct bench *bench, const struct reply *reply, enum engine_explain explain,
         struct engine_trial *ret)
{
    bench->op = env_op(bench->mem, bench->az);
    memset(ret, 0, sizeof(*ret));
    fake_engine_serve(bench->fake, reply, 1);
    return engine_try(&bench->op, "custom/issue/deny", env_json(bench->mem, "{'a':1}"), explain,
                      ret);
}

static enum az_status
try_one(struct bench *bench, const char *status, const char *body, struct engine_trial *ret)
{
    const char *text = fake_engine_answer(bench->mem, status, body);
    struct reply reply = {.text = text, .length = strlen(text)};
    return try_path(bench, &reply, ENGINE_EXPLAIN_OFF, ret);
}

/* clang-format off */
static const struct { enum engine_explain explain; const char *query, *name; } questions[] = {
    {ENGINE_EXPLAIN_OFF,   "?provenance=true&metrics=true", "without trace"},
    {ENGINE_EXPLAIN_NOTES, "?provenance=true&metrics=true&explain=notes&pretty=true", "with notes"},
    {ENGINE_EXPLAIN_FAILS, "?provenance=true&metrics=true&explain=fails&pretty=true", "with fails"},
    {ENGINE_EXPLAIN_FULL,  "?provenance=true&metrics=true&explain=full&pretty=true",  "with the full trace"},
    {ENGINE_EXPLAIN_DEBUG, "?provenance=true&metrics=true&explain=debug&pretty=true", "with debug"},
};
/* clang-format on */

static void
test_question(struct bench *bench)
{
    struct engine_trial trial;
    const char *text = fake_engine_answer(bench->mem, "200 OK", GOOD);
    const struct reply reply = {.text = text, .length = strlen(text)};
    for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
        is_int(try_path(bench, &reply, questions[i].explain, &trial), AZ_OK, "a trial %s",
               questions[i].name);
        const char *line = talloc_asprintf(
            bench->mem, "POST /v1/data/custom/issue/deny%s HTTP/1.1\r\n", questions[i].query);
        const char *seen = fake_engine_seen(bench->mem, bench->fake);
        is_str(talloc_strndup(bench->mem, seen, strlen(line)), line,
               "... asks for the path as it stands (gateway-admin.md 3.6)");
        ok(strstr(seen, "\r\n\r\n{\"input\":{\"a\":1}}") != NULL, "... with the input");
    }
}

/* clang-format off */
static const struct { const char *body, *result, *explanation, *metrics, *name; } answers[] = {
    {GOOD, "7", NULL, NULL, "a value of any type"},
    {"{" PROVENANCE ",\"result\":{\"allow\":true},\"explanation\":[\"Enter\",\"Exit\"],\"metrics\":{\"timer_rego_query_eval_ns\":5}}", "{\"allow\":true}", "[\"Enter\",\"Exit\"]", "{\"timer_rego_query_eval_ns\":5}", "a result with trace and metrics"},
    {"{" PROVENANCE ",\"result\":null}", "null", NULL, NULL, "a rule whose value is null"},
    {"{" PROVENANCE "}", NULL, NULL, NULL, "an undefined result"},
    {"{" PROVENANCE ",\"result\":7,\"explanation\":[\"\"]}", "7", "[]", NULL, "a trace of one empty line, which is none"},
    {"{" PROVENANCE ",\"result\":7,\"explanation\":[\"a\",\"\"]}", "7", "[\"a\",\"\"]", NULL, "... of two"},
};
/* clang-format on */

static const char *
dump(TALLOC_CTX *mem, const json_t *value)
{
    return value != NULL ? jsonx_dump(mem, value) : NULL;
}

static void
test_answers(struct bench *bench)
{
    struct engine_trial trial;
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        is_int(try_one(bench, "200 OK", answers[i].body, &trial), AZ_OK, "%s", answers[i].name);
        is_str(dump(bench->mem, trial.result), answers[i].result, "... result");
        is_str(dump(bench->mem, trial.explanation), answers[i].explanation, "... explanation");
        is_str(dump(bench->mem, trial.metrics), answers[i].metrics, "... metrics");
        is_str(trial.revision, "r1-0a", "... revision");
        ok(trial.error == NULL, "... and no error");
    }
}

#define CONFLICT                                                                                   \
    "{\"code\":\"internal_error\",\"message\":\"error(s) occurred while evaluating query\","       \
    "\"errors\":[{\"code\":\"eval_conflict_error\",\"message\":\"complete rules must not "         \
    "produce multiple "                                                                            \
    "outputs\",\"location\":{\"file\":\"/custom/try.rego\",\"row\":4,\"col\":1}}]}"

/* clang-format off */
static const struct { const char *status, *body, *error, *message, *name; } refusals[] = {
    {"500 Internal Server Error", CONFLICT, "evaluation_failed", "custom/try.rego:4: complete rules must not produce multiple outputs", "two values of one rule, with the place"},
    {"500 Internal Server Error", "{\"code\":\"internal_error\",\"message\":\"m\",\"errors\":[{\"message\":\"div: divide by zero\"}]}", "evaluation_failed", "div: divide by zero", "an error without place"},
    {"500 Internal Server Error", "{\"code\":\"internal_error\",\"message\":\"broken \\\"x\\\"\"}", "evaluation_failed", "broken \"x\"", "a message alone, quotes and all"},
    {"400 Bad Request", "{\"code\":\"invalid_parameter\",\"message\":\"bad path\"}", "evaluation_failed", "bad path", "a question that the engine does not take"},
    {"404 Not Found", "{\"code\":\"resource_not_found\",\"message\":\"no such thing\"}", "evaluation_failed", "no such thing", "a document it does not have"},
    {"200 OK", "{" PROVENANCE ",\"result\":9223372036854775808}", "answer_unreadable", "The answer cannot be shown: JSON contains a number that is too large", "an integer beyond 64 bits"},
    {"200 OK", "{" PROVENANCE ",\"result\":\"\\u0000\"}", "answer_unreadable", "The answer cannot be shown: JSON contains a NUL character", "a NUL"},
};
static const struct { const char *status, *body, *name; } outages[] = {
    {"500 Internal Server Error", "{}", "500 without the engine's error"},
    {"500 Internal Server Error", "oops", "500 of another server"},
    {"500 Internal Server Error", "{\"code\":500,\"message\":\"x\"}", "500 with a code that is no text"},
    {"500 Internal Server Error", "{\"code\":\"internal_error\"}", "500 without message"},
    {"400 Bad Request", "<html></html>", "400 of another server"},
    {"401 Unauthorized", "{\"code\":\"unauthorized\",\"message\":\"no\"}", "401: the engine does not let us ask, which is no rule's fault"},
    {"502 Bad Gateway", CONFLICT, "502, whatever it says"},
    {"503 Service Unavailable", CONFLICT, "503"},
    {"301 Moved Permanently\r\nLocation: http://opa/", GOOD, "a redirect"},
    {"201 Created", GOOD, "201"},
    {"200 OK", "", "nothing"},
    {"200 OK", "<html></html>", "a page of another server"},
    {"200 OK", "[]", "an array"},
    {"200 OK", "{\"result\":7}", "no bundle yet"},
    {"200 OK", "{\"provenance\":{\"bundles\":{\"svc\":{\"revision\":\"\"}}},\"result\":7}", "an empty revision"},
};
/* clang-format on */

static void
test_refusals(struct bench *bench)
{
    struct engine_trial trial;
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        is_int(try_one(bench, refusals[i].status, refusals[i].body, &trial), AZ_UNPROCESSABLE,
               "refused as the rule's fault: %s", refusals[i].name);
        is_str(trial.error, refusals[i].error, "... error");
        is_str(trial.message, refusals[i].message, "... message");
        ok(trial.result == NULL, "... and no result");
    }
    try_one(bench, "500 Internal Server Error", CONFLICT, &trial);
    is_int((int64_t) json_array_size(trial.errors), 1, "the engine's errors are handed on");
    try_one(bench, "500 Internal Server Error", refusals[2].body, &trial);
    ok(trial.errors == NULL, "... when there are any");
    for (size_t i = 0; i < sizeof(outages) / sizeof(outages[0]); i++) {
        is_int(try_one(bench, outages[i].status, outages[i].body, &trial), AZ_UNAVAILABLE,
               "refused as an outage: %s", outages[i].name);
        ok(trial.error == NULL && trial.result == NULL && trial.revision == NULL,
           "... and nothing of it is handed on");
        const char *head = "policy engine: ";
        ok(strncmp(bench->op.fault.detail, head, strlen(head)) == 0, "... but to the operator");
    }
}

/* A decision is not a trial: an error that only an operator may see stays an outage. */
static void
test_decisions(struct bench *bench)
{
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        struct engine_answer answer = {.result = NULL};
        const char *text = fake_engine_answer(bench->mem, refusals[i].status, refusals[i].body);
        const struct reply reply = {.text = text, .length = strlen(text)};
        fake_engine_serve(bench->fake, &reply, 1);
        bench->op = env_op(bench->mem, bench->az);
        is_int(engine_opa_evaluate(&bench->op, "svc/decision/issue", env_json(bench->mem, "{}"),
                                   &answer),
               AZ_UNAVAILABLE, "a decision fails closed: %s (policy.md 1)", refusals[i].name);
    }
}

static enum az_status
ask_query(struct bench *bench, const char *status, const char *body, struct engine_trial *ret)
{
    const char *text = fake_engine_answer(bench->mem, status, body);
    const struct reply reply = {.text = text, .length = strlen(text)};
    fake_engine_serve(bench->fake, &reply, 1);
    bench->op = env_op(bench->mem, bench->az);
    return engine_query(&bench->op, "x := data.a \"b\"\ny", 0, ret);
}

#define TYPE_ERROR                                                                                 \
    "{\"code\":\"invalid_parameter\",\"message\":\"m\",\"errors\":[{\"code\":\"rego_type_error\"," \
    "\"message\":\"and: invalid\",\"location\":{\"file\":\"\",\"row\":2,\"col\":1}}]}"

/* A query is no decision either: its answer names no revision. */
static void
test_queries(struct bench *bench)
{
    static const char asked[] = "\r\n\r\n{\"query\":\"x := data.a \\\"b\\\"\\ny\"}";
    struct engine_trial trial;
    is_int(ask_query(bench, "200 OK", "{\"result\":[{\"x\":1}]}", &trial), AZ_OK, "a query");
    is_str(dump(bench->mem, trial.result), "[{\"x\":1}]", "... and its answer");
    const char *seen = fake_engine_seen(bench->mem, bench->fake);
    ok(strncmp(seen, "POST /v1/query HTTP/1.1\r\n", 25) == 0 && strstr(seen, asked) != NULL,
       "... is asked as a JSON text");
    is_int(ask_query(bench, "200 OK", "{}", &trial), AZ_OK, "a query without an answer");
    ok(trial.result == NULL, "... has none");
    is_int(ask_query(bench, "400 Bad Request", TYPE_ERROR, &trial), AZ_UNPROCESSABLE,
           "a query with a type error");
    is_int((int64_t) json_array_size(trial.errors), 1, "... hands it on");
    is_int(ask_query(bench, "400 Bad Request", "oops", &trial), AZ_UNAVAILABLE,
           "a query: 400 of another server is an outage");
    is_int(ask_query(bench, "200 OK", "[", &trial), AZ_UNAVAILABLE, "a query: no JSON");
}

/* Return GOOD padded to `size` octets with blanks, which JSON ignores. */
static const char *
padded(TALLOC_CTX *mem, size_t size)
{
    char *body = talloc_zero_size(mem, size + 1);
    memset(body, ' ', size);
    memcpy(body, GOOD, strlen(GOOD));
    return body;
}

static void
too_large(struct bench *bench, const char *text, enum engine_explain explain, const char *advice,
          const char *name)
{
    struct engine_trial trial;
    const struct reply reply = {.text = text, .length = strlen(text)};
    is_int(try_path(bench, &reply, explain, &trial), AZ_UNPROCESSABLE, "refused: %s", name);
    is_str(trial.error, "answer_too_large", "... error");
    ok(trial.message != NULL && strstr(trial.message, advice) != NULL, "... advice: %s", advice);
    is_int(bench->op.fault.status, AZ_UNPROCESSABLE, "... and not as an outage");
}

static void
test_size(struct bench *bench)
{
    struct engine_trial trial;
    const size_t most = ENGINE_TRIAL_MAX;
    TALLOC_CTX *mem = bench->mem = talloc_new(bench->mem);
    is_int(try_one(bench, "200 OK", padded(mem, most), &trial), AZ_OK, "an answer of %zu octets",
           most);
    is_str(trial.revision, "r1-0a", "... is read");
    const char *over = fake_engine_answer(mem, "200 OK", padded(mem, most + 1));
    too_large(bench, over, ENGINE_EXPLAIN_FULL, "notes", "one octet more, with a trace");
    too_large(bench, over, ENGINE_EXPLAIN_OFF, "further down", "... without a trace");
    const char *chunks = talloc_asprintf(
        mem,
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n200000\r\n%s\r\n200000\r\n%*s\r\n",
        padded(mem, 0x200000), 0x200000, "");
    const char *whole = talloc_asprintf(mem, "%s0\r\n\r\n", chunks);
    const struct reply reply = {.text = whole, .length = strlen(whole)};
    is_int(try_path(bench, &reply, ENGINE_EXPLAIN_FULL, &trial), AZ_OK, "as many octets in chunks");
    too_large(bench, talloc_asprintf(mem, "%s1\r\n \r\n0\r\n\r\n", chunks), ENGINE_EXPLAIN_FULL,
              "notes", "one octet more in chunks");
    is_int(try_one(bench, "200 OK", GOOD, &trial), AZ_OK, "... and the next trial is heard");
    is_str(dump(mem, trial.result), "7", "... with its own answer");
}

/* A trial may take longer than a decision, up to a limit. */
static void
test_slow(TALLOC_CTX *mem)
{
    struct bench bench = bench_new(mem);
    struct engine_trial trial;
    struct engine_answer answer;
    const char *text = fake_engine_answer(mem, "200 OK", GOOD);
    const struct reply reply = {.text = text, .length = strlen(text), .pause_ms = 600};
    bench.az->engine = engine_new(mem, bench.fake->url, 300);
    is_int(try_path(&bench, &reply, ENGINE_EXPLAIN_FULL, &trial), AZ_OK,
           "a trial waits longer than a decision: being traced takes time");
    fake_engine_serve(bench.fake, &reply, 1);
    bench.op = env_op(mem, bench.az);
    is_int(engine_opa_evaluate(&bench.op, "svc/decision/issue", env_json(mem, "{}"), &answer),
           AZ_UNAVAILABLE, "... which does not wait any longer for that");
    const struct reply never = {.text = text, .length = strlen(text) - 1, .keep = true};
    int64_t started = clock_monotonic_ms();
    is_int(try_path(&bench, &never, ENGINE_EXPLAIN_FULL, &trial), AZ_UNAVAILABLE,
           "refused: an answer that is never whole");
    int64_t waited = clock_monotonic_ms() - started;
    ok(waited >= ENGINE_TRIAL_WAIT_MS && waited < 2 * ENGINE_TRIAL_WAIT_MS,
       "... after ENGINE_TRIAL_WAIT_MS");
}

static void
test_away(TALLOC_CTX *mem)
{
    struct bench bench = bench_new(mem);
    struct engine_trial trial;
    bench.az->engine = engine_new(mem, "unix:/nonexistent/opa.sock", PATIENCE_MS);
    bench.op = env_op(mem, bench.az);
    is_int(engine_try(&bench.op, "custom/x", env_json(mem, "{}"), ENGINE_EXPLAIN_OFF, &trial),
           AZ_UNAVAILABLE, "refused: no engine");
    ok(trial.error == NULL && trial.result == NULL, "... which is no rule's fault");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct bench bench = bench_new(mem);
    plan(0);
    test_question(&bench);
    test_answers(&bench);
    test_refusals(&bench);
    test_decisions(&bench);
    test_queries(&bench);
    test_size(&bench);
    test_slow(mem);
    test_away(mem);
    talloc_free(mem);
    return done();
}
