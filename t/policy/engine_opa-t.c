#include "config.h"

#include "policy/engine/engine.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json/jsonx.h"
#include "env.h"
#include "policy/fake_engine.h"
#include "tap.h"

/* Longest wait for an answer in these tests, and a bound that tells a cut wait from an uncut one,
 * also on a busy machine. Milliseconds. */
#define TIMEOUT_MS 300
#define PATIENCE_MS 5000

#define GOOD                                                                                       \
    "{\"provenance\":{\"version\":\"1.20.2\",\"bundles\":{\"svc\":{\"revision\":\"r1-0a\"}}},"     \
    "\"result\":{\"allow\":true}}"

/* The length of GOOD; main() makes sure that it is. */
#define LENGTH "Content-Length: 98"

/* Tests here ask the one engine of a process; each call is an operation of its own. */
struct bench {
    TALLOC_CTX *mem;
    struct az *az;
    struct fake_engine *fake;
    struct op op;
};

static struct bench
bench_new(TALLOC_CTX *mem, long timeout_ms)
{
    struct bench bench = {.mem = mem, .az = env_az(mem), .fake = fake_engine_new(mem)};
    bench.az->engine = engine_new(mem, bench.fake->url, timeout_ms);
    return bench;
}

static enum az_status
ask(struct bench *bench, struct engine_answer *ret)
{
    bench->op = env_op(bench->mem, bench->az);
    memset(ret, 0, sizeof(*ret));
    return engine_opa_evaluate(&bench->op, "svc/decision/issue",
                               env_json(bench->mem, "{'schema':1}"), ret);
}

static enum az_status
ask_one(struct bench *bench, const struct reply *reply, struct engine_answer *ret)
{
    fake_engine_serve(bench->fake, reply, 1);
    return ask(bench, ret);
}

static struct reply
whole(const char *text)
{
    return (struct reply){.text = text, .length = strlen(text)};
}

/* Check a refusal: 503 with a reason for the operator, and no output. */
static void
refused(struct bench *bench, const struct reply *reply, const char *detail, const char *name)
{
    struct engine_answer answer;
    enum az_status st = ask_one(bench, reply, &answer);
    bool clean = answer.result == NULL && answer.revision == NULL;
    ok(st == AZ_UNAVAILABLE && clean && bench->op.fault.status == AZ_UNAVAILABLE,
       "refused: %s (decisions.md \"Engine down, slow or answering nonsense\")", name);
    const char *head = "policy engine: ", *said = bench->op.fault.detail;
    bool told = strncmp(said, head, strlen(head)) == 0 && strlen(said) > strlen(head)
                && strstr(said, detail) != NULL;
    is_str(told ? detail : said, detail, "... and the operator reads why");
    is_bin(answer.asked.text, answer.asked.length, "{\"schema\":1}", 12,
           "... and the audit row what was asked (policy.md 6.6)");
    is_str(bench->op.fault.public_text, az_status_row(AZ_UNAVAILABLE)->description,
           "... and the caller nothing of it");
}

static void
test_good(struct bench *bench)
{
    struct engine_answer answer;
    const char *text = fake_engine_answer(bench->mem, "200 OK", GOOD);
    struct reply reply = whole(text);
    is_int(ask_one(bench, &reply, &answer), AZ_OK, "an answer");
    is_str(jsonx_dump(bench->mem, answer.result), "{\"allow\":true}", "... its result");
    is_str(answer.revision, "r1-0a", "... and the revision that decided");
    is_str(answer.engine, "opa/1.20.2", "... and the engine's version (policy.md 6.6)");
    ok(answer.us >= 0 && answer.us < PATIENCE_MS * 1000L, "... and how long it took");
    const char *seen = fake_engine_seen(bench->mem, bench->fake);
    static const char line[] =
        "POST /v1/data/svc/decision/issue/result?provenance=true HTTP/1.1\r\n";
    ok(strncmp(seen, line, strlen(line)) == 0,
       "the question goes to the entrypoint's result, with provenance (policy.md 6.3)");
    ok(strstr(seen, "\r\n\r\n{\"input\":{\"schema\":1}}") != NULL, "... as input");
    is_bin(answer.asked.text, answer.asked.length, "{\"schema\":1}", 12,
           "... and what was asked is kept for the audit row");
    ok(strstr(seen, "Content-Type: application/json\r\n") != NULL, "... as JSON");
    ok(strstr(seen, "Expect:") == NULL, "... without Expect, which costs a trip");
    reply.piece = 7;
    is_int(ask_one(bench, &reply, &answer), AZ_OK, "an answer in pieces");
    is_str(answer.revision, "r1-0a", "... is the same");
    text = fake_engine_answer(bench->mem, "200 OK",
                              "{\"provenance\":{\"bundles\":{\"svc\":{\"revision\":\"r1-0a\"}}}}");
    reply = whole(text);
    is_int(ask_one(bench, &reply, &answer), AZ_OK, "an answer without result");
    is_str(answer.engine, "opa", "... an engine need not say its version");
    ok(answer.result == NULL, "... is undefined, which decision_read() refuses (policy.md 6.2)");
}

/* Send every beginning of a text from `first` octets on, each on a connection of its own. */
static void
cut_anywhere(struct bench *bench, const char *text, size_t first, const char *name)
{
    size_t length = strlen(text), refusals = 0;
    struct reply *replies = talloc_zero_array(bench->mem, struct reply, (unsigned) length);
    for (size_t cut = first; cut < length; cut++)
        replies[cut - first] = (struct reply){.text = text, .length = cut};
    fake_engine_serve(bench->fake, replies, length - first);
    for (size_t cut = first; cut < length; cut++) {
        struct engine_answer answer;
        refusals += ask(bench, &answer) == AZ_UNAVAILABLE && answer.revision == NULL;
    }
    is_int((int64_t) refusals, (int64_t) (length - first), "refused: %s anywhere", name);
}

#define CHUNKED "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

static void
test_chunked(struct bench *bench)
{
    struct engine_answer answer;
    size_t half = strlen(GOOD) / 2;
    char *text = talloc_asprintf(bench->mem, CHUNKED "%zx\r\n%.*s\r\n%zx\r\n%s\r\n0\r\n\r\n", half,
                                 (int) half, GOOD, strlen(GOOD) - half, &GOOD[half]);
    struct reply reply = whole(text);
    is_int(ask_one(bench, &reply, &answer), AZ_OK, "a chunked answer (RFC 9112 7.1)");
    is_str(answer.revision, "r1-0a", "... is put together");
    reply.piece = 1;
    is_int(ask_one(bench, &reply, &answer), AZ_OK, "... octet by octet");
    text[strlen(text) - 1] = '\0'; /* libcurl does not wait for the very last line feed */
    cut_anywhere(bench, text, 0, "a chunked answer cut short, also before its last chunk");
    reply = whole(CHUNKED "zz\r\n" GOOD "\r\n0\r\n\r\n");
    refused(bench, &reply, "", "a chunk whose size is no number");
    reply = whole(CHUNKED "fffffffffffffffff\r\n" GOOD "\r\n0\r\n\r\n");
    refused(bench, &reply, "", "a chunk larger than any number");
}

static void
test_truncated(struct bench *bench)
{
    const char *head = "HTTP/1.1 200 OK\r\n\r\n";
    cut_anywhere(bench, fake_engine_answer(bench->mem, "200 OK", GOOD), 0, "an answer cut short");
    cut_anywhere(bench, talloc_asprintf(bench->mem, "%s%s", head, GOOD), strlen(head),
                 "an answer without length cut short");
}

/* clang-format off */
static const struct { const char *status, *body, *detail, *name; } answers[] = {
    {"201 Created", GOOD, "HTTP 201", "201, whatever it says"},
    {"204 No Content", "", "HTTP 204", "204"},
    {"206 Partial Content", GOOD, "HTTP 206", "a part"},
    {"301 Moved Permanently\r\nLocation: http://opa/elsewhere", GOOD, "HTTP 301", "a redirect: it is not followed"},
    {"307 Temporary Redirect\r\nLocation: http://127.0.0.1:1/", GOOD, "HTTP 307", "... nor one that repeats the question elsewhere"},
    {"400 Bad Request", "{\"code\":\"invalid_parameter\"}", "invalid_parameter", "400; the engine's words are kept for the operator"},
    {"401 Unauthorized", GOOD, "HTTP 401", "401"},
    {"404 Not Found", GOOD, "HTTP 404", "404"},
    {"500 Internal Server Error", "{\"code\":\"internal_error\"}", "HTTP 500", "500: a complete rule conflict"},
    {"503 Service Unavailable", GOOD, "HTTP 503", "503"},
    {"200 OK", "", "", "nothing"},
    {"200 OK", "<html></html>", "", "a page of another server"},
    {"200 OK", GOOD GOOD, "", "two answers in one"},
    {"200 OK", GOOD "x", "", "text after the answer"},
    {"200 OK", "\xef\xbb\xbf" GOOD, "", "a byte order mark"},
    {"200 OK", "{\"result\":\"\xff\"}", "", "octets that are no UTF-8"},
    {"200 OK", "{\"result\":{\"allow\":false},\"result\":{\"allow\":true},\"provenance\":{\"bundles\":{\"svc\":{\"revision\":\"r1\"}}}}", "", "a member twice: the last one would win"},
    {"200 OK", "{\"result\":{\"allow\":false,\"allow\":true},\"provenance\":{\"bundles\":{\"svc\":{\"revision\":\"r1\"}}}}", "", "... inside the result"},
    {"200 OK", "{\"result\":{\"expires_in_override\":9223372036854775808}}", "", "an integer beyond 64 bits"},
    {"200 OK", "{\"result\":{\"allow\":true}}", "no bundle", "no provenance: the revision that decided is unknown"},
    {"200 OK", "{\"result\":{\"allow\":true},\"provenance\":{}}", "no bundle", "a provenance without bundles"},
    {"200 OK", "{\"result\":{\"allow\":true},\"provenance\":{\"bundles\":{}}}", "no bundle", "... without ours"},
    {"200 OK", "{\"result\":{\"allow\":true},\"provenance\":{\"bundles\":{\"other\":{\"revision\":\"r1\"}}}}", "no bundle", "... with another alone"},
    {"200 OK", "{\"result\":{\"allow\":true},\"provenance\":{\"bundles\":{\"svc\":{}}}}", "no bundle", "no revision"},
    {"200 OK", "{\"result\":{\"allow\":true},\"provenance\":{\"bundles\":{\"svc\":{\"revision\":\"\"}}}}", "no bundle", "an empty revision"},
    {"200 OK", "{\"result\":{\"allow\":true},\"provenance\":{\"bundles\":{\"svc\":{\"revision\":null}}}}", "no bundle", "a revision that is null"},
    {"200 OK", "{\"result\":{\"allow\":true},\"provenance\":{\"bundles\":{\"svc\":{\"revision\":7}}}}", "no bundle", "a revision that is a number"},
    {"200 OK", "{\"result\":{\"allow\":true},\"provenance\":{\"revision\":\"r1\"}}", "no bundle", "the revision in the old place, of no bundle"},
    {"200 OK", "[]", "no bundle", "an array"},
    {"200 OK\r\nContent-Encoding: gzip", "\x1f\x8b\x08", "", "an encoding that was not requested"},
};
static const struct { const char *text, *detail, *name; } wires[] = {
    {"", "", "a connection closed without a word"},
    {"\r\n", "", "an empty line"},
    {GOOD, "", "an answer without head (HTTP/0.9)"},
    {"SSH-2.0-OpenSSH_9.2\r\n", "", "another protocol"},
    {"HTTP/1.1 abc\r\n\r\n" GOOD, "", "a status that is no number"},
    {"HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n" GOOD, "", "less than the length says"},
    {"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n" GOOD, "", "more than the length says"},
    {"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n" GOOD, "", "a negative length"},
    {"HTTP/1.1 100 Continue\r\n\r\n", "", "100 and nothing after it"},
    {"HTTP/1.1 200 OK\r\n\r\n" GOOD, "", "an answer whose end only the connection tells: it may be cut"},
    {"HTTP/1.1 200 OK\nContent-Length: 98\n\n" GOOD, "", "lines that end in LF alone"},
    {"HTTP/1.1 200 OK\r\n" LENGTH "\r\n" LENGTH "\r\n\r\n" GOOD, "", "the length twice (RFC 9112 6.3)"},
    {"HTTP/1.1 200 OK\r\n" LENGTH "\r\nContent-Length: 5\r\n\r\n" GOOD, "", "two lengths"},
    {"HTTP/1.1 200 OK\r\n" LENGTH ", 98\r\n\r\n" GOOD, "", "a list of lengths"},
    {"HTTP/1.1 200 OK\r\n" LENGTH "\r\nTransfer-Encoding: chunked\r\n\r\n" GOOD, "", "a length and chunks (RFC 9112 6.3: smuggling)"},
    {"HTTP/1.1 200 OK\r\n" LENGTH "\r\nTransfer-Encoding: identity\r\n\r\n" GOOD, "", "another transfer encoding"},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "", "... before chunks"},
    {"HTTP/1.1 200 OK\r\nContent-Length: +98\r\n\r\n" GOOD, "", "a length with a sign"},
    {"HTTP/1.1 200 OK\r\nContent-Length: 0x62\r\n\r\n" GOOD, "", "a length in hexadecimal"},
    {"HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n" GOOD, "", "an empty length"},
    {"HTTP/1.1 200 OK\r\nContent-Length : 98\r\n\r\n" GOOD, "", "a blank before the colon (RFC 9112 5.1)"},
    {"HTTP/1.1 200 OK\r\nX: a\r\n b\r\n" LENGTH "\r\n\r\n" GOOD, "", "a folded line (RFC 9112 5.2)"},
    {"HTTP/1.1 200 OK\r\nnonsense\r\n" LENGTH "\r\n\r\n" GOOD, "", "a line without colon"},
    {"HTTP/1.1 200 OK\r\n: x\r\n" LENGTH "\r\n\r\n" GOOD, "", "a field without name"},
    {"HTTP/1.1 200 OK\r\nX: a\rb\r\n" LENGTH "\r\n\r\n" GOOD, "", "a bare CR"},
    {"HTTP/1.0 200 OK\r\n" LENGTH "\r\n\r\n" GOOD, "", "HTTP/1.0"},
    {"HTTP/2 200\r\n" LENGTH "\r\n\r\n" GOOD, "", "HTTP/2 in words"},
    {"http/1.1 200 OK\r\n" LENGTH "\r\n\r\n" GOOD, "", "the protocol in small letters"},
    {"HTTP/1.1 0200 OK\r\n" LENGTH "\r\n\r\n" GOOD, "", "a status of four digits"},
    {"HTTP/1.1 20 OK\r\n" LENGTH "\r\n\r\n" GOOD, "", "... of two"},
};
/* clang-format on */

static void
test_answers(struct bench *bench)
{
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        struct reply reply =
            whole(fake_engine_answer(bench->mem, answers[i].status, answers[i].body));
        refused(bench, &reply, answers[i].detail, answers[i].name);
    }
    for (size_t i = 0; i < sizeof(wires) / sizeof(wires[0]); i++) {
        struct reply reply = whole(wires[i].text);
        refused(bench, &reply, wires[i].detail, wires[i].name);
    }
    static const char nul[] = "HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\n{\"result\":\"\0\"}";
    struct reply reply = {.text = nul, .length = sizeof(nul) - 1};
    refused(bench, &reply, "", "a NUL");
    char *deep = talloc_zero_size(bench->mem, 100001);
    memset(deep, '[', 100000);
    reply = whole(fake_engine_answer(bench->mem, "200 OK", deep));
    refused(bench, &reply, "", "100,000 open brackets");
}

/* Return the answer padded to `size` octets with blanks, which JSON ignores. */
static const char *
padded(TALLOC_CTX *mem, size_t size)
{
    char *body = talloc_zero_size(mem, size + 1);
    memset(body, ' ', size);
    memcpy(body, GOOD, strlen(GOOD));
    return body;
}

static void
test_size(struct bench *bench)
{
    struct engine_answer answer;
    size_t most = ENGINE_DECISION_MAX;
    struct reply reply = whole(fake_engine_answer(bench->mem, "200 OK", padded(bench->mem, most)));
    is_int(ask_one(bench, &reply, &answer), AZ_OK, "an answer of %zu octets", most);
    is_str(answer.revision, "r1-0a", "... is read");
    reply = whole(fake_engine_answer(bench->mem, "200 OK", padded(bench->mem, most + 1)));
    refused(bench, &reply, "", "an answer one octet larger (engine.h)");
    char *chunk = talloc_asprintf(bench->mem, "10000\r\n%s\r\n", padded(bench->mem, 0x10000));
    char *text = talloc_asprintf(bench->mem, CHUNKED "%s%s%s", chunk, chunk, chunk);
    for (int i = 0; i < 14; i++)
        text = talloc_asprintf_append_buffer(text, "%s", chunk);
    reply = whole(text);
    refused(bench, &reply, "", "an answer that is too large in chunks");
    reply = whole(talloc_asprintf(bench->mem, "HTTP/1.1 200 OK\r\n\r\n%s", chunk));
    reply.endless = true;
    refused(bench, &reply, "", "an answer that never ends");
    reply = whole(talloc_asprintf(bench->mem, "HTTP/1.1 200 OK\r\nX: %.60000s\r\n", chunk + 5));
    reply.endless = true;
    refused(bench, &reply, "", "a head that never ends");
}

static void
test_slow(struct bench *bench, struct bench *patient)
{
    const char *text = fake_engine_answer(bench->mem, "200 OK", GOOD);
    struct reply reply = {.text = text, .length = strlen(text), .pause_ms = TIMEOUT_MS * 20};
    int64_t started = clock_monotonic_ms();
    refused(bench, &reply, "", "an engine that does not answer in time");
    reply.piece = 40, reply.pause_ms = TIMEOUT_MS / 2;
    refused(bench, &reply, "", "one that sends a little again and again: the whole counts");
    reply = (struct reply){.text = text, .length = strlen(text) - 1, .keep = true};
    refused(bench, &reply, "", "one that keeps back the last octet");
    ok(clock_monotonic_ms() - started < PATIENCE_MS,
       "... none of them is waited for longer than SVC_POLICY_TIMEOUT_MS (decisions.md \"Engine "
       "down, slow or answering nonsense\")");
    struct engine_answer answer;
    reply = (struct reply){.text = text, .length = strlen(text), .pause_ms = TIMEOUT_MS};
    is_int(ask_one(patient, &reply, &answer), AZ_OK, "one that is slow and in time is heard");
}

/* Octets left on a kept connection are not read as the next answer. */
static void
test_kept_connection(struct bench *bench)
{
    struct engine_answer answer;
    const char *deny = "{\"provenance\":{\"bundles\":{\"svc\":{\"revision\":\"r2\"}}},"
                       "\"result\":{\"allow\":false}}";
    const char *first = fake_engine_answer(bench->mem, "200 OK", GOOD),
               *second = fake_engine_answer(bench->mem, "200 OK", deny),
               *both = talloc_asprintf(bench->mem, "%s%s", first, first);
    struct reply replies[] = {whole(first), whole(second), whole(both), whole(second),
                              whole(first)};
    replies[0].keep = replies[1].keep = replies[2].keep = replies[3].keep = true;
    fake_engine_serve(bench->fake, replies, 5);
    ask(bench, &answer);
    is_str(answer.revision, "r1-0a", "the first question of a connection");
    ask(bench, &answer);
    is_str(answer.revision, "r2", "the second has its own answer");
    is_int(ask(bench, &answer), AZ_UNAVAILABLE, "refused: an answer with a second one behind it");
    ask(bench, &answer);
    is_str(answer.revision, "r2", "... which is not the answer to the next question");
    struct reply again = whole(first);
    is_int(ask_one(bench, &again, &answer), AZ_OK,
           "a new engine behind the same socket is found when the old connection is dead");
}

/* Octets between an answer and the next question belong to neither and are discarded. */
static void
test_late_octets(struct bench *bench)
{
    struct engine_answer answer;
    const char *first = fake_engine_answer(bench->mem, "200 OK", GOOD);
    const char *deny = "{\"provenance\":{\"bundles\":{\"svc\":{\"revision\":\"r2\"}}}}";
    struct reply replies[] = {whole(talloc_asprintf(bench->mem, "%s%s", first, first)),
                              whole(fake_engine_answer(bench->mem, "200 OK", deny))};
    int gate[2];
    char octet = '.';
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, gate) != 0)
        exit(99);
    replies[0].piece = strlen(first);
    replies[0].gate = gate[1];
    replies[0].keep = true;
    fake_engine_serve(bench->fake, replies, 2);
    is_int(ask(bench, &answer), AZ_OK, "an answer behind which another one comes later");
    ok(write(gate[0], &octet, 1) == 1 && read(gate[0], &octet, 1) == 1, "... is there now");
    is_int(ask(bench, &answer), AZ_OK, "... the next question");
    is_str(answer.revision, "r2", "... gets its own answer");
    close(gate[0]);
    close(gate[1]);
}

/* A kept connection may close at any moment; the request is sent once more. */
static void
test_dead_connection(struct bench *bench)
{
    struct engine_answer answer;
    struct reply good = whole(fake_engine_answer(bench->mem, "200 OK", GOOD)), none = whole("");
    struct reply half = {.text = good.text, .length = good.length / 2};
    good.keep = true;
    fake_engine_serve(bench->fake, (struct reply[]){good, none, good, none, none, good}, 6);
    is_int(ask(bench, &answer), AZ_OK, "a question");
    is_int(ask(bench, &answer), AZ_OK,
           "the connection dies with the next one in it: it is asked again on another");
    is_int(ask(bench, &answer), AZ_UNAVAILABLE, "refused: ... a second time it is not");
    is_int(ask(bench, &answer), AZ_OK, "... and the question after that is heard");
    fake_engine_serve(bench->fake, (struct reply[]){good, half, good}, 3);
    is_int(ask(bench, &answer), AZ_OK, "a question");
    is_int(ask(bench, &answer), AZ_UNAVAILABLE,
           "refused: half an answer on a kept connection is not asked for again");
}

static void
test_away(TALLOC_CTX *mem)
{
    struct bench bench = bench_new(mem, TIMEOUT_MS);
    struct engine_answer answer;
    struct engine_status status;
    is_int(ask(&bench, &answer), AZ_UNAVAILABLE, "refused: a socket that accepts no connection");
    bench.az->engine = engine_new(mem, "unix:/nonexistent/opa.sock", TIMEOUT_MS);
    is_int(ask(&bench, &answer), AZ_UNAVAILABLE, "refused: no socket");
    is_int(engine_revision(&bench.op, 0, &status), AZ_UNAVAILABLE, "... for the status too");
    is_str(bench.op.fault.detail,
           "policy engine: No such file or directory (unix:/nonexistent/opa.sock)",
           "... and the log names the socket, not a host and port");
    bench.az->engine = engine_new(mem, "foo", TIMEOUT_MS);
    ok(bench.az->engine != NULL, "an address of no known form does not look like lack of memory");
    is_int(ask(&bench, &answer), AZ_UNAVAILABLE, "... but nothing is asked there");
    is_str(bench.op.fault.detail, "policy engine: SVC_OPA_URL is not an address (foo)",
           "... and the log names the setting");
    bench.az->engine = engine_new(mem, "http://127.0.0.1:1", TIMEOUT_MS);
    is_int(ask(&bench, &answer), AZ_UNAVAILABLE, "refused: a port without a listener");
    bench = bench_new(mem, PATIENCE_MS);
    setenv("http_proxy", "http://127.0.0.1:1", 1);
    setenv("ALL_PROXY", "http://127.0.0.1:1", 1);
    bench.az->engine = engine_new(mem, bench.fake->url, PATIENCE_MS);
    struct reply reply = whole(fake_engine_answer(mem, "200 OK", GOOD));
    is_int(ask_one(&bench, &reply, &answer), AZ_OK,
           "no proxy variable moves the question elsewhere (decisions.md \"No proxy variable is "
           "honoured\")");
    unsetenv("http_proxy");
    unsetenv("ALL_PROXY");
}

/* clang-format off */
static const struct { const char *bundle, *revision, *code, *message, *name; } states[] = {
    {"{'active_revision':'r1'}", "r1", "", "", "an active bundle"},
    {"{}", "", "", "", "none yet"},
    {"[]", "", "", "", "no object"},
    {"{'active_revision':7,'code':{},'message':null}", "", "", "", "other types are absent"},
    {"{'active_revision':'r1','code':'bundle_error','message':'no good'}", "r1", "bundle_error", "no good", "a failed activation"},
    {"{'code':'bundle_error','message':'m','errors':[{'message':'var x is unsafe','location':{'file':'/svc/a.rego','row':3}},{'message':'second'}]}", "", "bundle_error", "svc/a.rego:3: var x is unsafe", "... with the place of the first error"},
    {"{'code':'bundle_error','errors':[{'message':'var x is unsafe'}]}", "", "bundle_error", "var x is unsafe", "... an error without place"},
    {"{'code':'bundle_error','message':'m','errors':[{'message':'n','location':{'file':'a','row':1e308}}]}", "", "bundle_error", "a:0: n", "... or a row beyond all files"},
    {"{'code':'bundle_error','message':'m','errors':[{'location':{'file':'a','row':1}}]}", "", "bundle_error", "m", "... a place without error"},
    {"{'code':'bundle_error','message':'m','errors':'x'}", "", "bundle_error", "m", "... errors that are no list"},
};
/* clang-format on */

/* A message of one octet more is cut before the code point that does not fit. */
static void
test_long_message(struct bench *bench)
{
    struct engine_status status;
    char text[ENGINE_MESSAGE_MAX + 3];
    for (size_t over = 0; over <= 1; over++) {
        size_t length = ENGINE_MESSAGE_MAX + over;
        memset(text, 'x', sizeof(text));
        memcpy(text + length - 2, "\xc3\xa4", 2);
        text[length] = '\0';
        json_t *bundle = jsonx_own(bench->mem, json_pack("{s:s}", "message", text));
        engine_read_status(bench->mem, bundle, &status);
        is_int((int64_t) strlen(status.message), ENGINE_MESSAGE_MAX - (int64_t) over,
               over ? "limit: one octet more is cut, between two code points"
                    : "limit: a message of 4096 octets is kept");
    }
}

static void
test_status(struct bench *bench)
{
    struct engine_status status;
    test_long_message(bench);
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        const char *text = jsonx_dump(bench->mem, env_json(bench->mem, states[i].bundle));
        json_t *bundle =
            jsonx_own(bench->mem, json_loads(text, ENGINE_STATUS_FLAGS, NULL)); /* as pushed */
        engine_read_status(bench->mem, bundle, &status);
        is_str(status.active_revision, states[i].revision, "status: %s", states[i].name);
        is_str(status.code, states[i].code, "... code");
        is_str(status.message, states[i].message, "... message");
    }
    bench->op = env_op(bench->mem, bench->az);
    struct reply reply = whole(fake_engine_answer(
        bench->mem, "200 OK",
        "{\"result\":{\"bundles\":{\"svc\":{\"active_revision\":\"r7\"}},\"metrics\":{\"limit\":"
        "9223372036854776000}}}"));
    fake_engine_serve(bench->fake, &reply, 1);
    is_int(engine_revision(&bench->op, 0, &status), AZ_OK,
           "the status is read although its metrics hold an integer beyond 64 bits");
    is_str(status.active_revision, "r7", "... with the active revision");
    const char *seen = fake_engine_seen(bench->mem, bench->fake);
    ok(strncmp(seen, "GET /v1/status HTTP/1.1\r\n", 25) == 0, "... by GET, after a POST too");
    reply = whole(fake_engine_answer(bench->mem, "500 Internal Server Error", "{}"));
    fake_engine_serve(bench->fake, &reply, 1);
    is_int(engine_revision(&bench->op, 0, &status), AZ_UNAVAILABLE, "refused: a status of 500");
    reply = whole(fake_engine_answer(bench->mem, "200 OK", "{}"));
    fake_engine_serve(bench->fake, &reply, 1);
    bench->op = env_op(bench->mem, bench->az);
    is_int(engine_revision(&bench->op, 0, &status), AZ_OK, "an engine without bundles");
    is_str(status.active_revision, "", "... has no active revision");
    struct engine_answer answer;
    reply = whole(fake_engine_answer(bench->mem, "200 OK", GOOD));
    is_int(ask_one(bench, &reply, &answer), AZ_OK, "questions are asked by POST after a GET");
    ok(strncmp(fake_engine_seen(bench->mem, bench->fake), "POST ", 5) == 0, "... as before");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    plan(0);
    is_int(strlen(GOOD), 98, "the length in these tests is the answer's");
    struct reply control = whole("HTTP/1.1 200 OK\r\n" LENGTH "\r\n\r\n" GOOD);
    struct bench bench = bench_new(mem, PATIENCE_MS), hasty = bench_new(mem, TIMEOUT_MS);
    struct engine_answer answer;
    is_int(ask_one(&bench, &control, &answer), AZ_OK, "... and an answer with it is taken");
    test_good(&bench);
    test_chunked(&bench);
    test_truncated(&bench);
    test_answers(&bench);
    test_size(&bench);
    test_kept_connection(&bench);
    test_late_octets(&bench);
    test_dead_connection(&bench);
    test_status(&bench);
    test_slow(&hasty, &bench);
    test_away(mem);
    talloc_free(mem);
    return done();
}
