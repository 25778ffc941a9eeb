/* The questions about the gateway and their answers, with an engine that answers what a test wrote.
 */
#include "config.h"

#include "policy/decide/gateway.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/pack.h"
#include "env.h"
#include "policy/decide/gateway_answer.h"
#include "policy/engine/engine.h"
#include "policy/fake_engine.h"
#include "tap.h"

#define TIMEOUT_MS 2000
#define ALL                                                                                        \
    (GATEWAY_REDACT | GATEWAY_RESPONSE_MAX_BYTES | GATEWAY_APPROVE_BY_CIBA | GATEWAY_HEADERS)

struct bench {
    TALLOC_CTX *mem;
    struct az *az;
    struct fake_engine *fake;
    struct op op;
};

static const struct client client = {
    .client_id = "app", .type = "public", .registration = "CIMD", .enabled = true};

/* Return a question about one call of a tool that needs the scopes w and x; the token has m and w.
 */
static struct gateway_question
question_of(TALLOC_CTX *mem)
{
    return (struct gateway_question){
        .holder = {.frame = {.endpoint = "/gateway/mcp", .client = &client},
                   .scopes = env_json(mem,     "['m','w']"),
                   .resource = "https://as.example/gateway/mcp",
                   .issued_at = 1,
                   .expires_at = 2,
                   .mcp_version = "2026-07-28",
                   .mcp_method = "tools/call"},
        .resource = {.name = "github",                              .upstream_type = "REST", .status = "active"            },
        .action = {.kind = "tool",
                   .name = "create_issue",
                   .path = "/repos/a/b",
                   .scopes = env_json(mem, "['w','x']")},
        .arguments = env_json(mem, "{'owner':'alice','deep':{'secret':1},'list':['s']}"),
        .obligations = ALL,
    };
}

/* Let the engine give this answer to the next question; NULL: it gives none. */
static void
serve(struct bench *bench, const char *result)
{
    json_t *value = result != NULL ? env_json(bench->mem, result) : NULL;
    const char *body =
        result != NULL
            ? talloc_asprintf(bench->mem,
                              "{\"provenance\":{\"bundles\":{\"svc\":{\"revision\":\"r1-0a\"}}},"
                              "\"result\":%s}",
                              jsonx_dump(bench->mem, value))
            : "";
    const char *text = fake_engine_answer(
        bench->mem, result != NULL ? "200 OK" : "500 Internal Server Error", body);
    struct reply reply = {.text = text, .length = strlen(text)};
    fake_engine_serve(bench->fake, &reply, 1);
    bench->op = env_op(bench->mem, bench->az);
}

static enum az_status
ask(struct bench *bench, const struct gateway_question *question, const char *result,
    struct gateway_decision *decision, struct verdict *verdict)
{
    *verdict = (struct verdict){.input = NULL};
    serve(bench, result);
    return gateway_ask(&bench->op, question, decision, verdict);
}

/* Return what became of an answer: "refused: why", "deny CODES", "step up SCOPES" or "allow" with
 * the obligations. */
static const char *
outcome(struct bench *bench, const struct gateway_question *question, const char *result)
{
    static const char head[] = "policy answer refused: ";
    TALLOC_CTX *mem = bench->mem;
    struct gateway_decision decision;
    struct verdict verdict;
    enum az_status st = ask(bench, question, result, &decision, &verdict);
    if (st == AZ_UNAVAILABLE && !decision.allow && decision.reasons == NULL)
        return talloc_asprintf(mem, "refused: %s",
                               strncmp(bench->op.fault.detail, head, strlen(head)) == 0
                                   ? bench->op.fault.detail + strlen(head)
                                   : "another reason");
    if (st != AZ_OK)
        return "another status, or an answer beside the refusal";
    const char *codes = decision_codes(mem, &verdict.decision);
    if (verdict.decision.allow != decision.allow)
        return "the audit row and the decision differ";
    if (!decision.allow && decision.step_up != NULL)
        return talloc_asprintf(mem, "step up %s", jsonx_dump(mem, decision.step_up));
    if (!decision.allow)
        return talloc_asprintf(mem, "deny %s", codes != NULL ? codes : "-");
    const struct gateway_obligations *all = &decision.obligations;
    return talloc_asprintf(mem, "allow %s %lld %d %s", jsonx_dump(mem, all->redact),
                           (long long) all->response_max_bytes, all->approve_by_ciba,
                           jsonx_dump(mem, all->headers));
}

#define ALLOW "'allow':true,'argument_mode':'keys'"
#define DENY "'allow':false,'argument_mode':'keys'"
#define NOTHING "allow [] 0 0 {}"
#define UNMET "deny obligation_unknown"

/* clang-format off */
static const struct { unsigned able; const char *always, *answer, *wanted, *name; } answers[] = {
    {ALL, NULL, "{" ALLOW "}", NOTHING, "an allow"},
    {0, NULL, "{" ALLOW "}", NOTHING, "an allow without obligations needs nothing of the asker"},
    {ALL, NULL, "{" DENY "}", "deny -", "a deny without a reason is one"},
    {ALL, NULL, "{" DENY ",'deny_reasons':[{'code':'b','category':'scope'},{'code':'a','category':'policy'}]}", "deny b a", "a deny with reasons, in the order of their categories"},
    {ALL, NULL, "{" DENY ",'step_up':{'scopes':['x']}}", "step up [\"x\"]", "a missing scope of the operation"},
    {ALL, NULL, "{" DENY ",'step_up':null}", "deny -", "null is no step_up"},
    {ALL, NULL, "{'argument_mode':'keys'}", "refused: allow is not a boolean", "no allow"},
    {ALL, NULL, "{'allow':'true','argument_mode':'keys'}", "refused: allow is not a boolean", "an allow that is no boolean"},
    {ALL, NULL, "{'allow':1,'argument_mode':'keys'}", "refused: allow is not a boolean", "... a number"},
    {ALL, NULL, "[]", "refused: result is not an object", "an array"},
    {ALL, NULL, "{'allow':true}", "refused: argument_mode is not known", "no argument_mode"},
    {ALL, NULL, "{'allow':true,'argument_mode':'all'}", "refused: argument_mode is not known", "an unknown one"},
    {ALL, NULL, "{" ALLOW ",'step_up':{'scopes':['x']}}", "refused: step_up cannot be combined with allow", "allow and step_up"},
    {ALL, NULL, "{" DENY ",'step_up':{'scopes':['w']}}", "refused: step_up is malformed or widens the question", "step_up for a scope that the token has"},
    {ALL, NULL, "{" DENY ",'step_up':{'scopes':['y']}}", "refused: step_up is malformed or widens the question", "... for one that the operation does not need"},
    {ALL, NULL, "{" DENY ",'step_up':{'scopes':[]}}", "refused: step_up is malformed or widens the question", "... for none"},
    {ALL, NULL, "{" DENY ",'step_up':{'scopes':'x'}}", "refused: step_up is malformed or widens the question", "... for a text"},
    {ALL, NULL, "{" DENY ",'step_up':{'scopes':['x',1]}}", "refused: step_up is malformed or widens the question", "... for a number"},
    {ALL, NULL, "{" DENY ",'step_up':true}", "refused: step_up is malformed or widens the question", "a step_up that is no object"},
    {ALL, NULL, "{" ALLOW ",'obligations':[]}", "refused: obligations has a wrong type", "obligations that are no object"},
    {ALL, NULL, "{" ALLOW ",'deny_reasons':['x']}", "refused: deny_reasons contains an entry without code", "a reason that is no object"},

    {ALL, NULL, "{" ALLOW ",'obligations':{'redact':['/body/email'],'response_max_bytes':10,'approve_by_ciba':true,'headers':{'X-Purpose':'support'}}}",
     "allow [\"/body/email\"] 10 1 {\"X-Purpose\":\"support\"}", "all obligations"},
    {ALL, NULL, "{" ALLOW ",'obligations':{'log':true}}", UNMET, "an unknown obligation denies (gateway-admin.md 3.8)"},
    {ALL, NULL, "{" ALLOW ",'obligations':{'Redact':['/body/email']}}", UNMET, "... also one in another spelling"},
    {ALL, NULL, "{" ALLOW ",'obligations':{'redact':['/body/email'],'log':true}}", UNMET, "... beside a known one"},
    {ALL & ~(unsigned) GATEWAY_REDACT, NULL, "{" ALLOW ",'obligations':{'redact':['/body/email']}}", UNMET, "one that the asker cannot meet denies"},
    {ALL & ~(unsigned) GATEWAY_APPROVE_BY_CIBA, NULL, "{" ALLOW ",'obligations':{'approve_by_ciba':true}}", UNMET, "... approve_by_ciba"},
    {ALL & ~(unsigned) GATEWAY_APPROVE_BY_CIBA, NULL, "{" ALLOW ",'obligations':{'approve_by_ciba':false}}", NOTHING, "... which demands nothing if it is false"},
    {ALL & ~(unsigned) GATEWAY_HEADERS, NULL, "{" ALLOW ",'obligations':{'headers':{'X-A':'1'}}}", UNMET, "... headers"},
    {ALL & ~(unsigned) GATEWAY_RESPONSE_MAX_BYTES, NULL, "{" ALLOW ",'obligations':{'response_max_bytes':10}}", UNMET, "... response_max_bytes"},
    {ALL, NULL, "{" ALLOW ",'obligations':{'redact':'/body/email'}}", UNMET, "redact: a text"},
    {ALL, NULL, "{" ALLOW ",'obligations':{'redact':['/headers/x']}}", UNMET, "redact: a place that is not in the body"},
    {ALL, NULL, "{" ALLOW ",'obligations':{'redact':['/body']}}", UNMET, "redact: the body itself"},
    {ALL, NULL, "{" ALLOW ",'obligations':{'redact':['/body/a~2']}}", UNMET, "redact: a bad escape (RFC 6901 3)"},
    {ALL, NULL, "{" ALLOW ",'obligations':{'redact':['/body/a~']}}", UNMET, "redact: an escape that ends too soon"},
    {ALL, NULL, "{" ALLOW ",'obligations':{'redact':[1]}}", UNMET, "redact: a number"},
    {ALL, NULL, "{" ALLOW ",'obligations':{'redact':['/body/a~1b~0']}}", "allow [\"/body/a~1b~0\"] 0 0 {}", "redact: good escapes"},
    {ALL, NULL, "{" ALLOW ",'obligations':{'response_max_bytes':0}}", UNMET, "response_max_bytes: 0"},
    {ALL, NULL, "{" ALLOW ",'obligations':{'response_max_bytes':-1}}", UNMET, "response_max_bytes: negative"},
    {ALL, NULL, "{" ALLOW ",'obligations':{'response_max_bytes':'10'}}", UNMET, "response_max_bytes: a text"},
    {ALL, NULL, "{" ALLOW ",'obligations':{'response_max_bytes':1.5}}", UNMET, "response_max_bytes: a real"},
    {ALL, NULL, "{" ALLOW ",'obligations':{'approve_by_ciba':'no'}}", UNMET, "approve_by_ciba: a text"},
    {ALL, NULL, "{" ALLOW ",'obligations':{'headers':['X-A']}}", UNMET, "headers: an array"},
    {ALL, NULL, "{" ALLOW ",'obligations':{'headers':{'X-A':1}}}", UNMET, "headers: a number"},
    {ALL, NULL, "{" ALLOW ",'obligations':{'headers':{'X-A':''}}}", UNMET, "headers: an empty value"},
    {ALL, NULL, "{" ALLOW ",'obligations':{'headers':{'X-A':'1\\r\\nX-B: 2'}}}", UNMET, "headers: a line break (request smuggling)"},
    {ALL, NULL, "{" ALLOW ",'obligations':{'headers':{'X-A:':'1'}}}", UNMET, "headers: a name with a colon"},
    {ALL, NULL, "{" ALLOW ",'obligations':{'headers':{'':'1'}}}", UNMET, "headers: no name"},
    {ALL, NULL, "{" ALLOW ",'obligations':{'headers':{'authorization':'Bearer x'}}}", UNMET, "headers: a credential"},
    {ALL, NULL, "{" ALLOW ",'obligations':{'headers':{'Cookie':'x'}}}", UNMET, "headers: a cookie"},
    {ALL, NULL, "{" ALLOW ",'obligations':{'headers':{'Host':'x'}}}", UNMET, "headers: Host"},
    {ALL, NULL, "{" ALLOW ",'obligations':{'headers':{'Transfer-Encoding':'chunked'}}}", UNMET, "headers: one that frames the message"},
    {ALL, NULL, "{" ALLOW ",'obligations':{'headers':{'X-Forwarded-For':'x'}}}", UNMET, "headers: an address of the caller"},
    {ALL, NULL, "{" DENY ",'obligations':{'log':true}}", "deny -", "obligations of a deny are not read"},

    {ALL, "{'response_max_bytes':5,'redact':['/body/a'],'headers':{'X-A':'1','X-B':'1'}}", "{" ALLOW ",'obligations':{'response_max_bytes':10,'redact':['/body/b'],'headers':{'X-B':'2'}}}",
     "allow [\"/body/a\",\"/body/b\"] 5 0 {\"X-A\":\"1\",\"X-B\":\"2\"}", "obligations of the route and of policy hold together"},
    {ALL, "{'response_max_bytes':10}", "{" ALLOW ",'obligations':{'response_max_bytes':5}}", "allow [] 5 0 {}", "... the smaller limit counts"},
    {ALL, "{'approve_by_ciba':true}", "{" ALLOW ",'obligations':{'approve_by_ciba':false}}", "allow [] 0 1 {}", "... policy does not lift one of the route"},
    {ALL, "{'log':true}", "{" ALLOW "}", UNMET, "... an unknown one of the route denies too"},
};
/* clang-format on */

/* The pointers of what a stored question lacks. */
static const struct {
    const char *input, *wanted, *name;
} lacking[] = {
    {"'action':{'kind':'tool','name':'t'},'arguments':{'a':null},'answers':{'q':null}",
     "[\"/arguments/a\",\"/answers/q\"]", "arguments and answers"                         },
    {"'action':{'kind':'roots','name':'list'},'call':{'kind':'resource','name':''},'arguments':{}",
     "[\"/call/name\"]",                  "the URI of the read for which an upstream asks"},
    {"'action':{'kind':'roots','name':'list'},'call':{'kind':'tool','name':'t'},'arguments':{}",
     "[]",                                "nothing of a question for a tool"              },
};

static void
test_not_stored(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(lacking) / sizeof(lacking[0]); i++) {
        const char *text = talloc_asprintf(mem, "{'evaluation':'gateway',%s}", lacking[i].input);
        json_t *lacks =
            gateway_not_stored(mem, env_json(mem, text), env_json(mem, "{'argument_mode':'keys'}"));
        char *shown = json_dumps(lacks, JSON_COMPACT);
        is_str(shown, lacking[i].wanted, "not stored: %s", lacking[i].name);
        free(shown);
    }
}

static void
test_answers(struct bench *bench)
{
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        struct gateway_question question = question_of(bench->mem);
        question.obligations = answers[i].able;
        question.always =
            answers[i].always != NULL ? env_json(bench->mem, answers[i].always) : NULL;
        is_str(outcome(bench, &question, answers[i].answer), answers[i].wanted, "%s",
               answers[i].name);
    }
    struct gateway_question question = question_of(bench->mem);
    is_str(outcome(bench, &question, NULL), "refused: another reason",
           "an engine that fails gives no decision (decisions.md \"Engine down, slow or answering "
           "nonsense\")");
}

/* Return an answer that obliges to `count` pointers or headers. */
static const char *
many(TALLOC_CTX *mem, bool pointers, int count)
{
    char *text = talloc_asprintf(mem, "{" ALLOW ",'obligations':{%s",
                                 pointers ? "'redact':[" : "'headers':{");
    for (int i = 0; i < count; i++)
        text = talloc_asprintf_append(text, pointers ? "%s'/body/a%d'" : "%s'X-%d':'v'",
                                      i > 0 ? "," : "", i);
    return talloc_strdup_append(text, pointers ? "]}}" : "}}}");
}

static void
test_limits(struct bench *bench)
{
    struct gateway_question question = question_of(bench->mem);
    ok(strncmp(outcome(bench, &question, many(bench->mem, true, GATEWAY_POINTERS_MAX)), "allow", 5)
           == 0,
       "%d pointers", GATEWAY_POINTERS_MAX);
    is_str(outcome(bench, &question, many(bench->mem, true, GATEWAY_POINTERS_MAX + 1)), UNMET,
           "... one more denies");
    ok(strncmp(outcome(bench, &question, many(bench->mem, false, GATEWAY_HEADERS_MAX)), "allow", 5)
           == 0,
       "%d headers", GATEWAY_HEADERS_MAX);
    is_str(outcome(bench, &question, many(bench->mem, false, GATEWAY_HEADERS_MAX + 1)), UNMET,
           "... one more denies");
    for (int more = 0; more < 2; more++) {
        char *value = talloc_array(bench->mem, char, GATEWAY_HEADER_VALUE_MAX + 2);
        memset(value, 'v', GATEWAY_HEADER_VALUE_MAX + 1);
        value[GATEWAY_HEADER_VALUE_MAX + more] = '\0';
        const char *seen =
            outcome(bench, &question,
                    talloc_asprintf(bench->mem,
                                    "{" ALLOW ",'obligations':{'headers':{'X-A':'%s'}}}", value));
        ok((strncmp(seen, "allow", 5) == 0) == (more == 0), "a header value of %d octets%s",
           GATEWAY_HEADER_VALUE_MAX + more, more ? " denies" : "");
    }
}

/* ---- the question */

/* Return a member of the question that the engine got. */
static const char *
sent(struct bench *bench, const char *name)
{
    json_t *body;
    const char *seen = fake_engine_seen(bench->mem, bench->fake), *text = strstr(seen, "\r\n\r\n");
    if (text == NULL
        || jsonx_parse(bench->mem, text + 4, strlen(text + 4), 64, &body, NULL) != AZ_OK)
        return "no question";
    json_t *value = json_object_get(json_object_get(body, "input"), name);
    return value != NULL ? jsonx_dump_sorted(bench->mem, value) : NULL;
}

/* Return a member of the question that is stored. */
static const char *
kept(struct bench *bench, const struct verdict *verdict, const char *name)
{
    char *text;
    size_t length;
    json_t *input;
    if (verdict->input == NULL
        || unpack_text(bench->mem, verdict->input, verdict->input_length, &text, &length) != AZ_OK
        || jsonx_parse(bench->mem, text, length, 64, &input, NULL) != AZ_OK)
        return "no question";
    json_t *value = json_object_get(input, name);
    return value != NULL ? jsonx_dump_sorted(bench->mem, value) : NULL;
}

#define WHOLE "{\"deep\":{\"secret\":1},\"list\":[\"s\"],\"owner\":\"alice\"}"
#define NAMES "{\"deep\":null,\"list\":null,\"owner\":null}"

static void
test_question(struct bench *bench)
{
    struct gateway_question question = question_of(bench->mem);
    struct gateway_decision decision;
    struct verdict verdict;
    bool linked = false;
    question.resource.linked = &linked;
    question.resource.connector_id = "github";
    ask(bench, &question, "{" ALLOW "}", &decision, &verdict);
    ok(strncmp(fake_engine_seen(bench->mem, bench->fake), "POST /v1/data/svc/decision/gateway/", 35)
           == 0,
       "one question to the entrypoint gateway");
    is_str(sent(bench, "evaluation"), "\"gateway\"", "... its evaluation");
    is_str(sent(bench, "token"),
           "{\"bound\":false,\"exp\":2,\"iat\":1,\"resource\":\"https://as.example/gateway/mcp\","
           "\"scopes\":[\"m\",\"w\"]}",
           "... the token, with the scopes that count now");
    is_str(sent(bench, "resource"),
           "{\"connectorId\":\"github\",\"linked\":false,\"name\":\"github\",\"status\":\"active\","
           "\"upstreamType\":\"REST\"}",
           "... the resource");
    is_str(sent(bench, "action"),
           "{\"kind\":\"tool\",\"name\":\"create_issue\",\"path\":\"/repos/a/b\","
           "\"requiredScopes\":[\"w\",\"x\"]}",
           "... the action");
    is_str(sent(bench, "arguments"), WHOLE, "... policy sees the values of arguments");
    is_str(sent(bench, "truncated"), NULL, "... which are whole");
    ok(strstr(sent(bench, "request"),
              "\"mcp\":{\"method\":\"tools/call\",\"version\":\"2026-07-28\"}")
           != NULL,
       "... the MCP request");
}

static void
test_stored(struct bench *bench)
{
    static const struct {
        const char *kind, *answer, *arguments;
        bool path;
        const char *name;
    } modes[] = {
        {"tool", "{" ALLOW "}",                                       NAMES,                                                       false, "keys: names alone"            },
        {"tool", "{'allow':true,'argument_mode':'full'}",             WHOLE,                                                       true,  "full: the arguments"          },
        {"tool", "{'allow':true,'argument_mode':'none'}",             NULL,                                                        false, "none: nothing"                },
        {"tool", "{" DENY "}",                                        NAMES,                                                       false, "keys: also of a denied call"  },
        {"tool", NULL,                                                NAMES,                                                       false, "no answer: names alone"       },
        {"tool", "{'allow':true}",                                    NAMES,                                                       false, "a refused answer: names alone"},
        {"tool", "{'allow':true,'argument_mode':'full','step_up':1}", NAMES,                                                       false,
         "a refused answer that says full: names alone"                                                                                                                  },
        {"http", "{" ALLOW "}",                                       "{\"deep\":{\"secret\":null},\"list\":null,\"owner\":null}", false,
         "a route: the names in path and query too"                                                                                                                      },
    };
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        struct gateway_question question = question_of(bench->mem);
        struct gateway_decision decision;
        struct verdict verdict;
        question.action.kind = modes[i].kind;
        ask(bench, &question, modes[i].answer, &decision, &verdict);
        is_str(kept(bench, &verdict, "arguments"), modes[i].arguments, "stored arguments: %s",
               modes[i].name);
        ok((strstr(kept(bench, &verdict, "action"), "/repos/a/b") != NULL) == modes[i].path,
           "... and the path, which has the same values, %s",
           modes[i].path ? "as it was" : "is left out");
        is_str(sent(bench, "arguments"), WHOLE, "... policy saw the values");
    }
}

/* A list of one MCP resource. */
static void
test_listed_uris(struct bench *bench, const char *answer, bool stored)
{
    const struct gateway_target target = {.name = "f", .upstream_type = "MCP", .status = "active"};
    const struct gateway_tool tool = {
        .action = {.kind = "resource",
                   .name = "file:///ann/diary",
                   .uri = "file:///ann/diary",
                   .scopes = env_json(bench->mem, "[]")}
    };
    struct gateway_tools_question question = {.holder = question_of(bench->mem).holder,
                                              .resources = &target,
                                              .resource_count = 1,
                                              .tools = &tool,
                                              .tool_count = 1};
    enum gateway_verdict verdicts[1];
    struct verdict verdict = {.input = NULL};
    serve(bench, answer);
    is_int(gateway_tools_ask(&bench->op, &question, verdicts, &verdict), AZ_OK, "a list");
    ok(strstr(sent(bench, "tools"), "diary") != NULL, "... of which policy sees the URIs");
    ok((strstr(kept(bench, &verdict, "tools"), "diary") != NULL) == stored, "... and %s stored",
       stored ? "which are" : "none is");
}

/* gateway-admin.md 1.6: the URI of an MCP resource may be a person's data. */
static void
test_uris(struct bench *bench)
{
    test_listed_uris(bench, "{'allow':true,'argument_mode':'full','verdicts':['allow']}", true);
    test_listed_uris(bench, "{'allow':true,'argument_mode':'keys','verdicts':['allow']}", false);
    test_listed_uris(bench, "{'allow':true,'verdicts':['allow']}", false);
    for (int full = 0; full < 2; full++) {
        struct gateway_question question = question_of(bench->mem);
        struct gateway_decision decision;
        struct verdict verdict;
        question.action.kind = "resource";
        question.action.name = question.action.uri = "file:///ann/diary";
        question.arguments = NULL;
        ask(bench, &question, full ? "{'allow':true,'argument_mode':'full'}" : "{" ALLOW "}",
            &decision, &verdict);
        ok(strstr(sent(bench, "action"), "\"uri\":\"file:///ann/diary\"") != NULL,
           "policy sees the URI of a resource");
        ok((strstr(kept(bench, &verdict, "action"), "diary") != NULL) == (full == 1),
           "... which is stored with argument_mode full alone: %s", full ? "full" : "keys");
    }
}

static void
test_truncated(struct bench *bench)
{
    for (int more = 0; more < 2; more++) {
        struct gateway_question question = question_of(bench->mem);
        struct gateway_decision decision;
        struct verdict verdict;
        size_t length = GATEWAY_ARGUMENTS_MAX - strlen("{\"a\":\"\"}") + (size_t) more;
        char *text = talloc_array(bench->mem, char, (unsigned) length + 1);
        memset(text, 'x', length);
        text[length] = '\0';
        question.arguments = env_json(bench->mem, talloc_asprintf(bench->mem, "{'a':'%s'}", text));
        ask(bench, &question, "{" ALLOW "}", &decision, &verdict);
        is_str(sent(bench, "truncated"), more ? "true" : NULL,
               "arguments of %d octets are %s (gateway-admin.md 3.8)", GATEWAY_ARGUMENTS_MAX + more,
               more ? "left out" : "whole");
        ok((sent(bench, "arguments") != NULL) == !more, "... and the mark says so");
    }
}

/* A caller chooses the names as well: what a row stores of them is bounded. */
static void
test_many_names(struct bench *bench)
{
    for (int more = 0; more < 2; more++) {
        struct gateway_question question = question_of(bench->mem);
        struct gateway_decision decision;
        struct verdict verdict;
        size_t length = GATEWAY_NAMES_MAX - strlen("{\"\":null}") + (size_t) more;
        char *name = talloc_array(bench->mem, char, (unsigned) length + 1);
        memset(name, 'x', length);
        name[length] = '\0';
        question.arguments = env_json(bench->mem, talloc_asprintf(bench->mem, "{'%s':1}", name));
        ask(bench, &question, "{" ALLOW "}", &decision, &verdict);
        is_str(kept(bench, &verdict, "truncated"), more ? "true" : NULL,
               "names of %d octets are %s (gateway-admin.md 3.8)", GATEWAY_NAMES_MAX + more,
               more ? "left out of the row" : "stored");
        is_str(sent(bench, "truncated"), NULL, "... policy has the arguments");
    }
}

/* ---- tools */

static const char *
list_of(struct bench *bench, size_t tools, const char *answer)
{
    static const char *const words[] = {"deny", "step_up", "allow"};
    TALLOC_CTX *mem = bench->mem;
    struct gateway_target targets[2] = {
        {.name = "a", .upstream_type = "REST", .status = "active"},
        {.name = "b", .upstream_type = "MCP",  .status = "active"}
    };
    struct gateway_tool *tool = talloc_zero_array(mem, struct gateway_tool, (unsigned) tools + 1);
    enum gateway_verdict *verdicts =
        talloc_zero_array(mem, enum gateway_verdict, (unsigned) tools + 1);
    struct verdict verdict = {.input = NULL};
    for (size_t i = 0; i < tools; i++)
        tool[i] = (struct gateway_tool){
            .resource = i % 2,
            .action = {.kind = "tool", .name = "t", .scopes = env_json(mem, "['w']")}
        };
    struct gateway_tools_question question = {
        .holder = question_of(mem).holder,
        .resources = targets,
        .resource_count = 2,
        .tools = tool,
        .tool_count = tools,
    };
    serve(bench, answer);
    enum az_status st = gateway_tools_ask(&bench->op, &question, verdicts, &verdict);
    if (st != AZ_OK)
        return bench->op.fault.detail;
    char *text = talloc_strdup(mem, "");
    for (size_t i = 0; i < tools; i++)
        text = talloc_asprintf_append(text, " %s", words[verdicts[i]]);
    return text;
}

/* clang-format off */
static const struct { size_t tools; const char *answer, *wanted, *name; } lists[] = {
    {3, "{'allow':true,'verdicts':['allow','step_up','deny']}", " allow step_up deny", "a verdict for each"},
    {0, "{'allow':true,'verdicts':[]}", "", "no tools"},
    {2, "{'allow':false}", " deny deny", "a deny of all"},
    {2, "{'allow':false,'verdicts':['allow','allow']}", " deny deny", "... whatever stands beside it"},
    {2, "{'allow':true,'verdicts':['allow']}", "policy answer refused: verdicts does not have one verdict for each tool", "too few"},
    {2, "{'allow':true,'verdicts':['allow','allow','allow']}", "policy answer refused: verdicts does not have one verdict for each tool", "too many"},
    {2, "{'allow':true,'verdicts':{'0':'allow','1':'allow'}}", "policy answer refused: verdicts does not have one verdict for each tool", "an object"},
    {2, "{'allow':true}", "policy answer refused: verdicts does not have one verdict for each tool", "none"},
    {2, "{'allow':true,'verdicts':['allow','yes']}", "policy answer refused: verdicts has a word that is no verdict", "an unknown word"},
    {2, "{'allow':true,'verdicts':['allow',true]}", "policy answer refused: verdicts has a word that is no verdict", "a boolean"},
    {2, "{'allow':true,'verdicts':['allow',null]}", "policy answer refused: verdicts has a word that is no verdict", "null"},
};
/* clang-format on */

static void
test_tools(struct bench *bench)
{
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        is_str(list_of(bench, lists[i].tools, lists[i].answer), lists[i].wanted, "tools: %s",
               lists[i].name);
    char *answer = talloc_strdup(bench->mem, "{'allow':true,'verdicts':['allow'");
    for (int i = 1; i < GATEWAY_TOOLS_MAX; i++)
        answer = talloc_strdup_append_buffer(answer, ",'allow'");
    answer = talloc_strdup_append_buffer(answer, "]}");
    const char *most = list_of(bench, GATEWAY_TOOLS_MAX, answer);
    ok(strncmp(most, " allow allow", 12) == 0, "tools: %d are one question", GATEWAY_TOOLS_MAX);
    ok(strstr(list_of(bench, GATEWAY_TOOLS_MAX + 1, answer), "verdicts does not have one") != NULL,
       "... one more are asked about by resource and scopes (gateway-admin.md 1.5)");
    const char *grouped = list_of(bench, GATEWAY_TOOLS_MAX + 1,
                                  "{'allow':true,'grouped':true,'verdicts':['allow','deny']}");
    ok(strncmp(grouped, " allow deny allow deny", 22) == 0,
       "... each has the verdict of its group");
    is_str(sent(bench, "grouped"), "true", "... and policy is told");
    is_str(
        sent(bench, "tools"),
        "[{\"action\":{\"kind\":\"tool\",\"name\":\"\",\"requiredScopes\":[\"w\"]},\"resource\":0},"
        "{\"action\":{\"kind\":\"tool\",\"name\":\"\",\"requiredScopes\":[\"w\"]},\"resource\":1}]",
        "... of each group, without names");
    ok(strstr(list_of(bench, GATEWAY_TOOLS_MAX + 1, "{'allow':true,'verdicts':['allow','deny']}"),
              "the limit is")
           != NULL,
       "... and not by a policy that looks at each");
    ok(strstr(list_of(bench, GATEWAY_TOOLS_MAX + 1, "{'allow':false}"), "the limit is") != NULL,
       "... nor by one that denies all of it");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct bench bench = {.mem = mem, .az = env_az(mem), .fake = fake_engine_new(mem)};
    bench.az->engine = engine_new(mem, bench.fake->url, TIMEOUT_MS);
    test_not_stored(bench.mem);
    test_answers(&bench);
    test_limits(&bench);
    test_question(&bench);
    test_stored(&bench);
    test_uris(&bench);
    test_truncated(&bench);
    test_many_names(&bench);
    test_tools(&bench);
    talloc_free(mem);
    return done();
}
