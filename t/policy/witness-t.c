#include "config.h"

#include "policy/engine/witness.h"

#include <string.h>

#include "base/clock.h"
#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "env.h"
#include "policy/fake_engine.h"
#include "store/db/db.h"
#include "tap.h"

/* A bound that tells a cut wait from an uncut one, also on a busy machine. */
#define PATIENCE_MS 5000

#define ENTRYPOINT "svc/decision/issue"
#define OTHER_ENTRYPOINT "svc/decision/introspect"

/* A process with a witness. */
struct bench {
    TALLOC_CTX *mem;
    struct az *az;
    struct fake_engine *fake;
    struct witness_board *board;
    struct op op;
};

static struct bench
bench_new(TALLOC_CTX *mem, long rate)
{
    struct bench bench = {.mem = mem, .az = env_az(mem), .fake = fake_engine_new(mem)};
    bench.board = talloc_zero(mem, struct witness_board);
    bench.az->engine = engine_new(mem, bench.fake->url, PATIENCE_MS);
    bench.az->witness = witness_new(mem, bench.board);
    bench.az->db = db_new(mem, "postgresql:///?host=/nonexistent");
    env_settings(bench.az)->policy_witness_rate = rate;
    bench.op = env_op(mem, bench.az);
    return bench;
}

/* Offer a decision of the machine; `result` is JSON with ', or NULL. */
static void
offer(struct bench *bench, const char *result)
{
    const struct engine_answer answer = {
        .result = result != NULL ? env_json(bench->mem, result) : NULL,
        .revision = "r1",
        .asked = {.text = "{\"schema\":1} and more", .length = 12},
    };
    witness_keep(&bench->op, ENTRYPOINT, &answer);
}

/* Let the witness run with an engine that sends these answers. */
static void
run(struct bench *bench, const struct reply *replies, size_t count, bool waits)
{
    fake_engine_serve(bench->fake, replies, count);
    witness_run(&bench->op, waits);
}

static const char *
answer_of(TALLOC_CTX *mem, const char *revision, const char *result)
{
    const char *body =
        talloc_asprintf(mem, "{\"provenance\":{\"bundles\":{\"svc\":{\"revision\":\"%s\"}}}%s%s}",
                        revision, result != NULL ? ",\"result\":" : "",
                        result != NULL ? jsonx_dump(mem, env_json(mem, result)) : "");
    return fake_engine_answer(mem, "200 OK", body);
}

static struct reply
whole(const char *text)
{
    return (struct reply){.text = text, .length = strlen(text)};
}

static bool
is_distrusted(const struct bench *bench)
{
    return witness_distrusts(bench->az->witness, ENTRYPOINT, "r1");
}

/* ---- what is asked about */

static void
test_rate(TALLOC_CTX *mem)
{
    struct bench none = bench_new(mem, 0);
    for (int i = 0; i < 1000; i++)
        offer(&none, "{}");
    ok(!witness_has_kept(none.az->witness), "SVC_POLICY_WITNESS_RATE=0: no decision is kept");
    struct bench each = bench_new(mem, 1);
    offer(&each, "{}");
    ok(witness_has_kept(each.az->witness), "1: each decision is kept");
    struct bench some = bench_new(mem, 1000);
    int kept = 0;
    for (int i = 0; i < 20000; i++) {
        offer(&some, "{}");
        kept += witness_has_kept(some.az->witness);
        some.az->witness = witness_new(mem, some.board);
    }
    ok(kept > 0 && kept < 200, "1000: about 20 of 20,000 decisions are kept");
    struct bench cli = bench_new(mem, 1);
    cli.az->witness = NULL;
    offer(&cli, "{}");
    ok(!witness_has_kept(NULL) && !is_distrusted(&cli), "a process without a witness keeps none");
}

/* ---- what becomes of an answer */

/* clang-format off */
static const struct {
    const char *machine, *revision, *opa;
    bool differs;
    const char *name;
} answers[] = {
    {"{'allow':true,'scopes':['a','b']}", "r1", "{'scopes':['a','b'],'allow':true}", false, "the same answer, with its members in another order"},
    {NULL,                                "r1", NULL,                                false, "no answer by either"},
    {"{'allow':true}",                    "r1", "{'allow':false}",                   true,  "another value"},
    {"{'allow':true}",                    "r1", "{'allow':true,'ttl':1}",            true,  "a member more"},
    {"{'allow':true,'ttl':1}",            "r1", "{'allow':true}",                    true,  "a member less"},
    {"{'s':['a','b']}",                   "r1", "{'s':['b','a']}",                   true,  "another order of an array"},
    {"{'ttl':1}",                         "r1", "{'ttl':'1'}",                       true,  "another type"},
    {"{'allow':true}",                    "r1", NULL,                                true,  "OPA's answer is undefined"},
    {NULL,                                "r1", "{'allow':true}",                    true,  "the machine's answer is undefined"},
    {"{'allow':true}",                    "r2", "{'allow':false}",                   false, "another value by another revision"},
};
/* clang-format on */

static void
test_answers(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        struct bench bench = bench_new(mem, 1);
        struct reply reply = whole(answer_of(mem, answers[i].revision, answers[i].opa));
        offer(&bench, answers[i].machine);
        run(&bench, &reply, 1, false);
        ok(is_distrusted(&bench) == answers[i].differs,
           answers[i].differs ? "OPA decides from now on: %s" : "the machine goes on: %s",
           answers[i].name);
        ok(!witness_has_kept(bench.az->witness), "... and the decision is asked about once");
        ok(bench.op.fault.status == AZ_OK, "... and no fault is left for what comes next");
    }
}

static void
test_question(TALLOC_CTX *mem)
{
    struct bench bench = bench_new(mem, 1);
    struct reply reply = whole(answer_of(mem, "r1", "{'allow':true}"));
    offer(&bench, "{'allow':true}");
    run(&bench, &reply, 1, false);
    const char *seen = fake_engine_seen(mem, bench.fake);
    ok(strstr(seen, "POST /v1/data/" ENTRYPOINT "/result?") == seen,
       "OPA is asked about the same entrypoint");
    ok(strstr(seen, "\r\n\r\n{\"input\":{\"schema\":1}}") != NULL, "... with the same input");
}

/* A question whose text is made for the witness. One that was changed since it was asked is not the
 * question, so it has no text. */
static void
test_document(TALLOC_CTX *mem)
{
    struct bench bench = bench_new(mem, 1);
    struct reply reply = whole(answer_of(mem, "r1", "{'allow':true}"));
    json_t *document = env_json(mem, "{'schema':1,'a':['b']}");
    struct engine_answer answer = {
        .result = env_json(mem, "{'allow':true}"),
        .revision = "r1",
        .asked = {.document = document, .length = strlen(jsonx_dump(mem, document))},
    };
    witness_keep(&bench.op, ENTRYPOINT, &answer);
    run(&bench, &reply, 1, false);
    ok(strstr(fake_engine_seen(mem, bench.fake), "\r\n\r\n{\"input\":{\"schema\":1,\"a\":[\"b\"]}}")
           != NULL,
       "OPA is asked with the text of a question that the machine got without one");
    json_object_set_new(document, "c", json_null());
    witness_keep(&bench.op, ENTRYPOINT, &answer);
    ok(!witness_has_kept(bench.az->witness), "a document that was changed meanwhile is not kept");
    ok(!question_write(mem, &answer.asked) && question_was_asked(&answer.asked),
       "... for it has no text, though it was asked");
    answer.asked.document = NULL;
    ok(!question_write(mem, &answer.asked) && !question_was_asked(&answer.asked),
       "nor has what was not asked");
}

/* An answer of 500: the policy contradicts itself. */
static void
test_error(TALLOC_CTX *mem)
{
    static const char *const revisions[] = {"r1", "r2"};
    for (size_t i = 0; i < 2; i++) {
        struct bench bench = bench_new(mem, 1);
        struct reply replies[] = {
            whole(fake_engine_answer(mem, "500 Internal Server Error",
                                     "{\"code\":\"internal_error\",\"message\":\"conflict\"}")),
            whole(fake_engine_answer(
                mem, "200 OK",
                talloc_asprintf(mem,
                                "{\"result\":{\"bundles\":{\"svc\":{\"active_revision\":\"%s\"}}}}",
                                revisions[i])))};
        offer(&bench, "{'allow':true}");
        run(&bench, replies, 2, false);
        ok(is_distrusted(&bench) == (i == 0),
           i == 0 ? "an error of OPA where the machine decided is a difference"
                  : "... but not by another revision");
    }
}

/* ---- the mark */

static void
test_mark(TALLOC_CTX *mem)
{
    struct bench bench = bench_new(mem, 1);
    struct witness *neighbour = witness_new(mem, bench.board);
    struct reply reply = whole(answer_of(mem, "r1", "{'allow':false}"));
    offer(&bench, "{'allow':true}");
    run(&bench, &reply, 1, false);
    ok(witness_distrusts(neighbour, ENTRYPOINT, "r1"), "another process knows the difference");
    ok(!witness_distrusts(neighbour, OTHER_ENTRYPOINT, "r1"), "... of that entrypoint alone");
    ok(!witness_distrusts(neighbour, ENTRYPOINT, "r2"), "... until the next revision");
    for (int i = 0; i < 3; i++) {
        offer(&bench, "{'allow':true}");
        run(&bench, &reply, 1, false);
    }
    is_int((long long) bench.board->doubts, 1, "the same difference is marked once");
}

/* More differences than there is room for: the oldest are of revisions that are gone. */
static void
test_many_marks(TALLOC_CTX *mem)
{
    struct bench bench = bench_new(mem, 1);
    for (int i = 0; i <= WITNESS_DOUBTS_MAX; i++) {
        const char *revision = talloc_asprintf(mem, "r%d", i);
        const struct engine_answer answer = {
            .result = env_json(mem, "{}"),
            .revision = revision,
            .asked = {.text = "{}", .length = 2}
        };
        struct reply reply = whole(answer_of(mem, revision, "{'allow':false}"));
        witness_keep(&bench.op, ENTRYPOINT, &answer);
        run(&bench, &reply, 1, false);
    }
    ok(!witness_distrusts(bench.az->witness, ENTRYPOINT, "r0"),
       "one mark too many replaces the oldest");
    ok(is_distrusted(&bench) && witness_distrusts(bench.az->witness, ENTRYPOINT, "r32"),
       "... and no other");
}

/* ---- an engine that is away, and requests that wait */

static void
test_silence(TALLOC_CTX *mem)
{
    struct bench bench = bench_new(mem, 1);
    int64_t started = clock_monotonic_ms();
    offer(&bench, "{'allow':true}");
    offer(&bench, "{'allow':true}");
    witness_run(&bench.op, false);
    ok(clock_monotonic_ms() - started < PATIENCE_MS,
       "an OPA that is silent holds the worker for WITNESS_WAIT_MS, not SVC_POLICY_TIMEOUT_MS");
    ok(!is_distrusted(&bench) && !witness_has_kept(bench.az->witness), "... and changes nothing");
    struct reply reply = whole(answer_of(mem, "r1", "{'allow':false}"));
    atomic_store(&bench.board->quiet_until_ms, clock_monotonic_ms() + WITNESS_PAUSE_MS);
    offer(&bench, "{'allow':true}");
    run(&bench, &reply, 1, false);
    ok(!is_distrusted(&bench), "... it is left alone for WITNESS_PAUSE_MS");
    atomic_store(&bench.board->quiet_until_ms, clock_monotonic_ms() - 1);
    offer(&bench, "{'allow':true}");
    const struct reply replies[] = {reply, reply}; /* one for the connection that was given up */
    run(&bench, replies, 2, false);
    ok(is_distrusted(&bench), "... and asked again then");
    struct bench booted = bench_new(mem, 1);
    atomic_store(&booted.board->quiet_until_ms, clock_monotonic_ms() + 1000000);
    offer(&booted, "{'allow':true}");
    run(&booted, &reply, 1, false);
    ok(is_distrusted(&booted), "a pause from before the machine was started does not count");
}

/* Keep a decision though it is one in 1,000. */
static void
offer_chosen(struct bench *bench, const char *result)
{
    env_settings(bench->az)->policy_witness_rate = 1;
    offer(bench, result);
    env_settings(bench->az)->policy_witness_rate = 1000;
}

static void
test_waiting(TALLOC_CTX *mem)
{
    struct bench bench = bench_new(mem, 1);
    struct reply reply = whole(answer_of(mem, "r1", "{'allow':false}"));
    offer_chosen(&bench, "{'allow':true}");
    for (int i = 0; i < WITNESS_POSTPONED_MAX; i++)
        run(&bench, &reply, 1, true);
    ok(!is_distrusted(&bench) && witness_has_kept(bench.az->witness),
       "requests that wait go first, 16 times");
    run(&bench, &reply, 1, true);
    ok(is_distrusted(&bench), "... but not 17 times");
    struct bench idle = bench_new(mem, 1);
    offer_chosen(&idle, "{'allow':true}");
    run(&idle, &reply, 1, false);
    ok(is_distrusted(&idle), "OPA is asked at once if none waits");
    struct bench each = bench_new(mem, 1);
    offer(&each, "{'allow':true}");
    run(&each, &reply, 1, true);
    ok(is_distrusted(&each), "... and always if each decision is asked about");
}

static void
test_room(TALLOC_CTX *mem)
{
    struct bench bench = bench_new(mem, 1);
    struct reply same = whole(answer_of(mem, "r1", "{'allow':true}")), replies[WITNESS_KEPT_MAX];
    for (size_t i = 0; i < WITNESS_KEPT_MAX; i++)
        replies[i] = same;
    replies[WITNESS_KEPT_MAX - 1] = whole(answer_of(mem, "r1", "{'allow':false}"));
    for (int i = 0; i < WITNESS_KEPT_MAX; i++)
        offer(&bench, "{'allow':true}");
    offer(&bench, "{'one':'too many'}");
    run(&bench, replies, WITNESS_KEPT_MAX, false);
    ok(is_distrusted(&bench), "OPA is asked about the last of 8 decisions of a request too");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    test_rate(mem);
    test_answers(mem);
    test_question(mem);
    test_document(mem);
    test_error(mem);
    test_mark(mem);
    test_many_marks(mem);
    test_silence(mem);
    test_waiting(mem);
    test_room(mem);
    talloc_free(mem);
    return done();
}
