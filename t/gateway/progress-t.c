#include "config.h"

#include "gateway/mcp/peer/progress.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "env.h"
#include "tap.h"

/* What the caller was told, one after the other. */
struct heard {
    TALLOC_CTX *mem;
    char *text;
    int times;
    bool gone;
};

static bool
note_progress(void *arg, const json_t *progress)
{
    struct heard *heard = arg;
    heard->text = talloc_asprintf_append(heard->text, "%s", jsonx_dump(heard->mem, progress));
    heard->times++;
    return !heard->gone;
}

/* clang-format off */
static const struct {
    const char *method, *params, *told;
    const char *name;
} cases[] = {
    {"notifications/progress", "{'progressToken':1,'progress':1}", "{\"progress\":1}", "progress of our request"},
    {"notifications/progress", "{'progressToken':1,'progress':0.5,'total':2,'message':'half','_meta':{}}",
     "{\"progress\":0.5,\"total\":2,\"message\":\"half\"}", "... with total and message, and nothing else"},
    {"notifications/progress", "{'progressToken':1,'progress':1,'total':'2','message':3}", "{\"progress\":1}",
     "... a total that is no number and a message that is no text are left out"},
    {"notifications/progress", "{'progressToken':1,'progress':1,'message':'a\\u0007b\\u202ec'}",
     "{\"progress\":1,\"message\":\"abc\"}", "... without control characters and those that reorder text"},
    {"notifications/progress", "{'progressToken':2,'progress':1}", "", "another token is dropped (MCP, progress)"},
    {"notifications/progress", "{'progressToken':'1','progress':1}", "", "... a text"},
    {"notifications/progress", "{'progress':1}", "", "... none"},
    {"notifications/progress", "{'progressToken':1,'progress':'1'}", "", "progress that is no number"},
    {"notifications/progress", "{'progressToken':1}", "", "... or absent"},
    {"notifications/message", "{'progressToken':1,'progress':1}", "", "another notification"},
};
/* clang-format on */

static struct peer_progress
begin(TALLOC_CTX *mem, struct heard *heard)
{
    *heard = (struct heard){.mem = mem, .text = talloc_strdup(mem, "")};
    return (struct peer_progress){.tell = note_progress, .arg = heard};
}

static bool
take(TALLOC_CTX *mem, struct peer_progress *progress, int64_t now_ms, double value)
{
    json_t *params = jsonx_own(mem, json_pack("{s:i,s:f}", "progressToken", 1, "progress", value));
    const struct json_rpc message = {.method = "notifications/progress", .params = params};
    return peer_progress_take(mem, progress, now_ms, &message);
}

static void
test_cases(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct heard heard;
        struct peer_progress progress = begin(mem, &heard);
        const struct json_rpc message = {.method = cases[i].method,
                                         .params = env_json(mem, cases[i].params)};
        ok(peer_progress_take(mem, &progress, 0, &message), "%s", cases[i].name);
        is_str(heard.text, cases[i].told, "... what is told");
    }
}

/* MCP, progress: the value MUST increase. */
static void
test_rising(TALLOC_CTX *mem)
{
    static const double values[] = {-1, -1, -2, 0, 0.5, 0.5, 0.25, 7};
    struct heard heard;
    struct peer_progress progress = begin(mem, &heard);
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
        take(mem, &progress, 0, values[i]);
    is_str(heard.text, "{\"progress\":-1.0}{\"progress\":0.0}{\"progress\":0.5}{\"progress\":7.0}",
           "progress that does not rise is dropped");
}

static void
test_rate(TALLOC_CTX *mem)
{
    struct heard heard;
    struct peer_progress progress = begin(mem, &heard);
    for (int i = 0; i < PROGRESS_RATE; i++)
        take(mem, &progress, 5000, i);
    ok(heard.times == PROGRESS_RATE, "so many notifications in one second pass");
    take(mem, &progress, 5999, PROGRESS_RATE);
    ok(heard.times == PROGRESS_RATE, "... one more is dropped");
    take(mem, &progress, 6000, PROGRESS_RATE + 1);
    ok(heard.times == PROGRESS_RATE + 1, "... in the next second they pass again");
    heard.gone = true;
    ok(!take(mem, &progress, 7000, PROGRESS_RATE + 2), "a caller that has gone ends it");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    test_cases(mem);
    test_rising(mem);
    test_rate(mem);
    talloc_free(mem);
    return done();
}
