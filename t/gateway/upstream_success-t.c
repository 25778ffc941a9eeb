/* successWhen and the redaction of answers. */
#include "config.h"

#include "gateway/upstream/success.h"

#include <stdlib.h>
#include <string.h>
#include <talloc.h>

#include "base/json/jsonx.h"
#include "managed/managed.h"
#include "tap.h"

static TALLOC_CTX *mem;

/* clang-format off */
static const struct {
    const char *document, *pointers, *result, *name;
} redactions[] = {
    {"{\"a\":1,\"b\":2}", "[\"/body/a\"]", "{\"b\":2}", "a member is removed"},
    {"{\"a\":{\"b\":1,\"c\":2}}", "[\"/body/a/b\"]", "{\"a\":{\"c\":2}}", "... a deeper one"},
    {"[1,2,3]", "[\"/body/1\"]", "[1,null,3]", "an element becomes null"},
    {"{\"a\":1}", "[\"/body/x\",\"/body/a/b\",\"/body/a\"]", "{}", "what is not there needs no removal"},
    {"{\"a/b\":1}", "[\"/body/a~1b\"]", "{}", "an escaped name"},
    {"{\"a\":1}", "[\"/body\"]", NULL, "the whole, which can only be denied"},
    {"{\"a\":1}", "[\"/a\"]", NULL, "a pointer that does not begin with /body"},
    {"{\"a\":1}", "[\"/bodya\"]", NULL, "... nor with a whole token of it"},
    {"{\"a\":1}", "[\"/body/a~2\"]", NULL, "a malformed pointer"},
    {"{\"a\":1}", "[7]", NULL, "a pointer that is no text"},
};

static const struct {
    const char *body;
    bool failure;
    const char *name;
} answers[] = {
    {"{\"ok\":true}",        false, "the wanted value"},
    {"{\"ok\":false}",       true,  "another value"},
    {"{\"ok\":\"true\"}",    true,  "a value of another type"},
    {"{\"error\":\"x\"}",    true,  "no value"},
    {"[]",                   true,  "no object"},
    {"ok",                   true,  "no JSON"},
    {"",                     true,  "nothing"},
};
/* clang-format on */

static json_t *
parsed(const char *text)
{
    return json_loads(text, JSON_DECODE_ANY, NULL);
}

int
main(void)
{
    mem = talloc_new(NULL);
    plan(0);
    for (size_t i = 0; i < sizeof(redactions) / sizeof(redactions[0]); i++) {
        json_t *value = parsed(redactions[i].document), *pointers = parsed(redactions[i].pointers);
        bool good = upstream_redact(value, pointers);
        char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
        is_str(good ? text : NULL, redactions[i].result, "%s: %s",
               redactions[i].result != NULL ? "redaction" : "refused", redactions[i].name);
        free(text);
        json_decref(value);
        json_decref(pointers);
    }
    json_t *yes = json_true();
    struct managed_route route = {.success_pointer = "/ok", .success_equals = yes};
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
        ok(upstream_is_failure(mem, &route, answers[i].body, strlen(answers[i].body))
               == answers[i].failure,
           "successWhen: %s", answers[i].name);
    for (int over = 0; over <= 1; over++) {
        static const char head[] = "{\"ok\":true,\"deep\":";
        char deep[2 * UPSTREAM_JSON_DEPTH_MAX + sizeof(head) + 1], *end = deep + sizeof(head) - 1;
        size_t levels = (size_t) (UPSTREAM_JSON_DEPTH_MAX - 1 + over);
        memcpy(deep, head, sizeof(head));
        memset(end, '[', levels);
        memset(end + levels, ']', levels);
        end[2 * levels] = '}';
        ok(upstream_is_failure(mem, &route, deep, (size_t) (end - deep) + 2 * levels + 1)
               == (over == 1),
           "successWhen: %d levels of nesting%s", UPSTREAM_JSON_DEPTH_MAX + over,
           over ? " are a failure" : "");
    }
    route.success_pointer = NULL;
    ok(!upstream_is_failure(mem, &route, "x", 1),
       "a route without successWhen has no such failures");
    ok(!upstream_is_failure(mem, NULL, "x", 1), "... nor has a request without a route");
    talloc_free(mem);
    return done();
}
