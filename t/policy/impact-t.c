/* Classes of decisions: what a candidate changes in them (policy.md I8, I9). */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "env.h"
#include "policy/impact/classes.h"
#include "policy/impact/hidden.h"
#include "tap.h"

#define INPUT                                                                                      \
    "{'evaluation':'issue','request':{'default_ttl':3600},'scopes':{'requested':['a','b','c'],"    \
    "'default':[]},'resource':{'indicator':'https://r'}}"
#define ALLOW "'allow':true,'resource':'https://r'"

/* clang-format off */
static const struct { const char *base, *candidate, *class; bool mixed; const char *name; } cases[] = {
    {"{" ALLOW ",'scopes':['a','b']}", "{" ALLOW ",'scopes':['b','a']}", "same", false, "the same scopes in another order"},
    {"{" ALLOW ",'scopes':['a','b']}", "{" ALLOW ",'scopes':['a']}", "narrowed", false, "fewer scopes"},
    {"{" ALLOW ",'scopes':['a']}", "{" ALLOW ",'scopes':['a','b']}", "widened", false, "more scopes"},
    {"{" ALLOW ",'scopes':['a']}", "{" ALLOW ",'scopes':['b']}", "widened", true, "widened_mixed: another scope"},
    {"{" ALLOW ",'scopes':['a']}", "{'allow':false,'deny_reasons':[{'code':'x','category':'policy'}]}", "newlyDenied", false, "a denial"},
    {"{'allow':false}", "{" ALLOW ",'scopes':['a']}", "newlyAllowed", false, "an allow"},
    {"{" ALLOW ",'scopes':['a']}", "{" ALLOW ",'scopes':[]}", "newlyDenied", false, "an allow without any requested scope is none"},
    {"{" ALLOW ",'scopes':['a']}", "{" ALLOW ",'scopes':['d']}", "newlyDenied", false, "answer_wider_than_input: no decision"},
    {"{" ALLOW ",'scopes':['a']}", "{" ALLOW ",'scopes':['a'],'expires_in_override':60}", "other", false, "a shorter lifetime"},
    {"{" ALLOW ",'scopes':['a']}", "{" ALLOW ",'scopes':['a'],'expires_in_override':0}", "newlyDenied", false, "no lifetime"},
    {"{" ALLOW ",'scopes':['a']}", "{" ALLOW ",'scopes':['a'],'refresh':true}", "widened", false, "a refresh token"},
    {"{'allow':false,'deny_reasons':[{'code':'x','category':'policy','message':'m'}]}", "{'allow':false,'deny_reasons':[{'code':'x','category':'policy','message':'n'}]}", "same", false, "another message"},
    {"{'allow':false,'deny_reasons':[{'code':'x','category':'policy'}]}", "{'allow':false,'deny_reasons':[{'code':'y','category':'policy'}]}", "other", false, "another reason"},
};
/* clang-format on */

/* Decisions about lists of tools: one verdict for each. */
#define TOOLS "{'evaluation':'gateway_tools','tools':[{},{}]}"
#define VERDICTS(ONE, OTHER) "{'allow':true,'verdicts':['" ONE "','" OTHER "']}"
/* clang-format off */
static const struct { const char *base, *candidate, *class; bool mixed; const char *name; } tools_cases[] = {
    {VERDICTS("allow", "deny"), VERDICTS("allow", "deny"), "same", false, "the same verdicts"},
    {VERDICTS("allow", "deny"), VERDICTS("step_up", "deny"), "narrowed", false, "tools_step_up: a tool that needs another authorization"},
    {VERDICTS("step_up", "deny"), VERDICTS("deny", "deny"), "narrowed", false, "tools_step_up: ... and one that is hidden then"},
    {VERDICTS("deny", "step_up"), VERDICTS("deny", "allow"), "widened", false, "tools_step_up: a tool that needs none any longer"},
    {VERDICTS("deny", "deny"), VERDICTS("deny", "step_up"), "widened", false, "tools_step_up: ... and one that is shown"},
    {VERDICTS("step_up", "deny"), VERDICTS("deny", "step_up"), "widened", true, "another tool"},
    {VERDICTS("step_up", "deny"), "{'allow':false}", "newlyDenied", false, "no list"},
    {VERDICTS("step_up", "deny"), VERDICTS("step_up", "perhaps"), "newlyDenied", false, "a word that is no verdict: no decision"},
};
/* clang-format on */

/* Decisions about requests through the gateway: the obligations count that the asker could meet. */
#define ASKED(ENDPOINT, KIND, MORE)                                                                \
    "{'evaluation':'gateway','request':{'endpoint':'" ENDPOINT "'},'resource':{'upstreamType':"    \
    "'REST'},'action':{'kind':'" KIND "'" MORE ",'requiredScopes':[]},'token':{'scopes':[]}}"
#define REDACT "'allow':true,'argument_mode':'keys','obligations':{'redact':['/body/a']}"
/* clang-format off */
static const struct { const char *input, *base, *candidate, *class, *always, *header, *name; } gateway_cases[] = {
    {ASKED("/gateway/mcp", "resource", ",'route':'r'"), "{" REDACT "}", "{'allow':false,'argument_mode':'keys'}", "newlyDenied", NULL, NULL, "a route that is read as an MCP resource is redacted, as a request to it"},
    {ASKED("/gateway/mcp", "resource", ""), "{" REDACT "}", "{'allow':false,'argument_mode':'keys'}", "same", NULL, NULL, "a read of an MCP server cannot be redacted: it was denied"},
    {ASKED("/gateway/{name}/**", "http", ",'route':'r'"), "{" REDACT "}", "{'allow':true,'argument_mode':'keys'}", "other", NULL, NULL, "a request without its obligation"},
    {ASKED("/auth/check", "http", ",'route':'r'"), "{" REDACT "}", "{'allow':true,'argument_mode':'keys'}", "newlyAllowed", NULL, NULL, "a web server meets no obligation: with one it was denied"},
    {ASKED("/auth/check", "http", ",'route':'r'"), "{'allow':true,'argument_mode':'keys'}", "{'allow':true,'argument_mode':'keys','cache_seconds':30}", "other", NULL, NULL, "a web server may keep the answer"},
    {ASKED("/auth/check", "http", ",'route':'r'"), "{'allow':true,'argument_mode':'keys'}", "{'allow':true,'argument_mode':'keys','cache_seconds':0}", "same", NULL, NULL, "a web server may keep it for no time"},
    {ASKED("/gateway/{name}/**", "http", ",'route':'r'"), "{'allow':true,'argument_mode':'keys'}", "{'allow':true,'argument_mode':'keys','cache_seconds':30}", "same", NULL, NULL, "another answer is not kept"},
    {ASKED("/auth/check", "http", ",'route':'r'"), "{'allow':true,'argument_mode':'keys'}", "{'allow':false,'argument_mode':'keys'}", "same", "{'redact':['/body/a']}", NULL, "a web server cannot redact what the route wants to be redacted: it was denied"},
    {ASKED("/gateway/{name}/**", "http", ",'route':'r'"), "{'allow':true,'argument_mode':'keys'}", "{'allow':false,'argument_mode':'keys'}", "newlyDenied", "{'redact':['/body/a']}", NULL, "... which a request through the gateway is"},
    {ASKED("/gateway/{name}/**", "http", ",'route':'r'"), "{'allow':true,'argument_mode':'keys'}", "{'allow':true,'argument_mode':'keys','obligations':{'redact':['/body/a','/body/a']}}", "same", "{'redact':['/body/a']}", NULL, "policy demands what the route demands"},
    {ASKED("/gateway/{name}/**", "http", ",'route':'r'"), "{'allow':true,'argument_mode':'keys'}", "{'allow':true,'argument_mode':'keys','obligations':{'redact':['/body/b']}}", "other", "{'redact':['/body/a']}", NULL, "... or more"},
    {ASKED("/gateway/{name}/**", "http", ",'route':'r'"), "{'allow':true,'argument_mode':'keys','obligations':{'response_max_bytes':9}}", "{'allow':true,'argument_mode':'keys'}", "same", "{'response_max_bytes':5}", NULL, "the smaller limit of the route holds"},
    {ASKED("/gateway/{name}/**", "http", ",'route':'r'"), "{'allow':true,'argument_mode':'keys','obligations':{'response_max_bytes':3}}", "{'allow':true,'argument_mode':'keys'}", "other", "{'response_max_bytes':5}", NULL, "... or that of policy"},
    {ASKED("/gateway/{name}/**", "http", ",'route':'r'"), "{'allow':true,'argument_mode':'keys'}", "{'allow':false,'argument_mode':'keys'}", "same", "{'unknown':1}", NULL, "a route that demands what nothing meets"},
    {ASKED("/gateway/{name}/**", "http", ",'route':'r'"), "{'allow':true,'argument_mode':'keys'}", "{'allow':true,'argument_mode':'keys','obligations':{'headers':{'x-key':'v'}}}", "newlyDenied", NULL, "X-Key", "a header field in place of the upstream's credential"},
    {ASKED("/gateway/{name}/**", "http", ",'route':'r'"), "{'allow':true,'argument_mode':'keys'}", "{'allow':true,'argument_mode':'keys','obligations':{'headers':{'X-Other':'v'}}}", "other", NULL, "X-Key", "... and another one"},
};
/* clang-format on */

/* Stored questions and answers, and what policy saw of them beyond that; NULL: it cannot be told.
 */
#define ACTION(REST) "'evaluation':'gateway','action':{" REST "}"
/* clang-format off */
static const struct { const char *input, *decision, *hidden, *name; } lacks[] = {
    {"{'evaluation':'issue'}", "{}", "none", "an issuance"},
    {"{" ACTION("'kind':'tool','name':'t'") ",'arguments':{'a':null}}", "{'argument_mode':'keys'}", "{\"arguments\":{\"a\":null}}", "an argument of a tool"},
    {"{" ACTION("'kind':'tool','name':'t'") ",'arguments':{'a':null}}", "{'argument_mode':'full'}", "none", "full: null is a value"},
    {"{" ACTION("'kind':'tool','name':'t'") ",'arguments':{}}", "{'argument_mode':'keys'}", "none", "no argument"},
    {"{" ACTION("'kind':'tool','name':'t'") "}", "{'argument_mode':'none'}", NULL, "none: arguments or not"},
    {"{" ACTION("'kind':'tool','name':'t'") ",'arguments':null}", "{'argument_mode':'keys'}", "{\"arguments\":null}", "arguments that are no object"},
    {"{" ACTION("'kind':'tool','name':'t','route':'r'") "}", "{'argument_mode':'keys'}", "{\"action\":{\"path\":null}}", "the path of a tool's route"},
    {"{" ACTION("'kind':'http','route':'r'") ",'arguments':{'path':{'id':null},'query':{}}}", "{'argument_mode':'keys'}", "{\"action\":{\"path\":null},\"arguments\":{\"path\":{\"id\":null},\"query\":{}}}", "a request to a route"},
    {"{" ACTION("'kind':'resource','name':''") "}", "{'argument_mode':'keys'}", "{\"action\":{\"name\":null,\"uri\":null}}", "the URI of an MCP resource"},
    {"{" ACTION("'kind':'resource','name':'','route':'r'") ",'arguments':{'path':null}}", "{'argument_mode':'keys'}", "{\"action\":{\"name\":null,\"path\":null,\"uri\":null},\"arguments\":{\"path\":null}}", "a route that is read as an MCP resource"},
    {"{" ACTION("'kind':'completion','name':'t','route':'r'") "}", "{'argument_mode':'keys'}", "none", "a completion, which has no path"},
    {"{" ACTION("'kind':'tool','name':'t'") ",'arguments':{},'answers':{'q':null}}", "{'argument_mode':'keys'}", "{\"answers\":{\"q\":null}}", "answers to questions of the upstream"},
    {"{" ACTION("'kind':'tool','name':'t'") ",'arguments':{},'answers':{'q':null}}", "{'argument_mode':'full'}", "none", "full: answers as they were"},
    {"{" ACTION("'kind':'roots','name':'list'") ",'call':{'kind':'resource','name':''},'arguments':{}}", "{'argument_mode':'keys'}", "{\"call\":{\"name\":null}}", "the URI of a read for which an upstream asks"},
    {"{" ACTION("'kind':'roots','name':'list'") ",'call':{'kind':'tool','name':'t'},'arguments':{}}", "{'argument_mode':'keys'}", "none", "the name of a tool for which an upstream asks"},
    {"{" ACTION("'kind':'prompt','name':'p'") "}", "null", "none", "a prompt without an answer"},
    {"{" ACTION("'kind':'tool','name':'t'") ",'truncated':true}", "{'argument_mode':'keys','deny_reasons':[{'code':'arguments_too_long'}]}", "none", "truncated_exact: policy saw that the arguments were too long"},
    {"{" ACTION("'kind':'tool','name':'t'") ",'truncated':true}", "{'argument_mode':'keys','deny_reasons':[{'code':'other'}]}", NULL, "names that were too long for the row"},
    {"{'evaluation':'gateway_tools','tools':[{'action':{'kind':'resource','name':''}}]}", "{}", NULL, "a list of MCP resources"},
    {"{'evaluation':'gateway_tools','tools':[{'action':{'kind':'tool','name':'t'}}]}", "{}", "none", "a list of tools"},
};
/* clang-format on */

static void
test_hidden(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(lacks) / sizeof(lacks[0]); i++) {
        json_t *hidden = NULL;
        bool told = impact_find_hidden(mem, env_json(mem, lacks[i].input),
                                       env_json(mem, lacks[i].decision), &hidden);
        char *text = hidden != NULL ? json_dumps(hidden, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
        if (lacks[i].hidden == NULL)
            ok(!told, "hidden values cannot be told: %s", lacks[i].name);
        else
            is_str(told && text != NULL ? text : "none", lacks[i].hidden, "hidden values: %s",
                   lacks[i].name);
        free(text);
    }
}

static const struct effect_route no_route = {.obligations = NULL};

static struct effect
effect_of(struct op *op, const char *input, const struct effect_route *route, const char *text)
{
    const struct effect_facts facts = {.route = *route};
    struct effect effect = {.outcome = EFFECT_NONE};
    effect_find(op, env_json(op->mem, input), &facts, env_json(op->mem, text), &effect);
    return effect;
}

static void
test_tools(struct op *op)
{
    for (size_t i = 0; i < sizeof(tools_cases) / sizeof(tools_cases[0]); i++) {
        struct effect base = effect_of(op, TOOLS, &no_route, tools_cases[i].base),
                      candidate = effect_of(op, TOOLS, &no_route, tools_cases[i].candidate);
        struct impact_difference difference = impact_compare(&base, &candidate);
        is_str(impact_class_names[difference.class], tools_cases[i].class, "%s",
               tools_cases[i].name);
        ok(difference.mixed == tools_cases[i].mixed, "... mixed or not");
    }
}

static void
test_gateway(struct op *op)
{
    for (size_t i = 0; i < sizeof(gateway_cases) / sizeof(gateway_cases[0]); i++) {
        const char *always = gateway_cases[i].always, *input = gateway_cases[i].input;
        const struct effect_route route = {always != NULL ? env_json(op->mem, always) : NULL,
                                           gateway_cases[i].header};
        struct effect base = effect_of(op, input, &route, gateway_cases[i].base),
                      candidate = effect_of(op, input, &route, gateway_cases[i].candidate);
        struct impact_difference difference = impact_compare(&base, &candidate);
        is_str(impact_class_names[difference.class], gateway_cases[i].class, "%s",
               gateway_cases[i].name);
    }
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct az *az = env_az(mem);
    struct op op = env_op(mem, az);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct effect base = effect_of(&op, INPUT, &no_route, cases[i].base),
                      candidate = effect_of(&op, INPUT, &no_route, cases[i].candidate);
        struct impact_difference difference = impact_compare(&base, &candidate);
        is_str(impact_class_names[difference.class], cases[i].class, "%s", cases[i].name);
        ok(difference.mixed == cases[i].mixed, "... mixed or not");
    }
    test_tools(&op);
    test_gateway(&op);
    test_hidden(mem);
    talloc_free(mem);
    return done();
}
