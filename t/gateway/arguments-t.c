#include "config.h"

#include "gateway/mcp/tools/arguments.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "env.h"
#include "tap.h"

/* clang-format off */
static const struct {
    const char *args, *arguments;
    const char *path, *query, *fields, *body; /* wanted; path NULL: refused */
    const char *why;
    const char *name;
} cases[] = {
    {"{'path':['owner','repo'],'query':['state'],'body':null}", "{'owner':'a','repo':'b','state':'open'}", "{\"owner\":\"a\",\"repo\":\"b\"}", "state=open", "{}", NULL, NULL, "path and query (gateway-admin.md 1.5)"},
    {"{'path':['id']}", "{'id':7}", "{\"id\":\"7\"}", "", "{}", NULL, NULL, "a number in the path"},
    {"{'path':['id']}", "{}", "{}", "", "{}", NULL, NULL, "a value that is missing is the route's affair"},
    {"{'path':['id']}", "{'id':''}", NULL, NULL, NULL, NULL, "The argument id must be a text or a number that is not empty", "an empty value in the path"},
    {"{'path':['id']}", "{'id':{'a':1}}", NULL, NULL, NULL, NULL, "The argument id must be a text or a number that is not empty", "an object in the path"},
    {"{'path':['id']}", "{'id':'../x'}", "{\"id\":\"../x\"}", "", "{}", NULL, NULL, "what a path must not hold is the route's affair"},
    {"{'query':['q']}", "{'q':'a b&c=d#e'}", "{}", "q=a%20b%26c%3Dd%23e", "{}", NULL, NULL, "a query is escaped"},
    {"{'query':['f[x]']}", "{'f[x]':true}", "{}", "f%5Bx%5D=true", "{}", NULL, NULL, "... its names too"},
    {"{'query':['q','r']}", "{'q':['a',2],'r':1.5}", "{}", "q=a&q=2&r=1.5", "{}", NULL, NULL, "a list is sent as several parameters"},
    {"{'query':['q']}", "{'q':[]}", "{}", "", "{}", NULL, NULL, "an empty list"},
    {"{'query':['q']}", "{'q':null}", "{}", "", "{}", NULL, NULL, "null counts as absent"},
    {"{'query':['q']}", "{'q':[['a']]}", NULL, NULL, NULL, NULL, "The argument q must be a text, a number, or a list of them", "a list of lists"},
    {"{'header':['X-Trace']}", "{'X-Trace':'a b'}", "{}", "", "{\"X-Trace\":\"a b\"}", NULL, NULL, "a header field"},
    {"{'header':['X-Trace']}", "{'X-Trace':'a\\r\\nHost: evil'}", NULL, NULL, NULL, NULL, "The argument X-Trace must not have control characters", "a line end in a header field (smuggling)"},
    {"{'header':['X-Trace']}", "{'X-Trace':['a']}", NULL, NULL, NULL, NULL, "The argument X-Trace must be a text or a number", "a list in a header field"},
    {"{'body':['a']}", "{'a':{'b':1},'c':2}", "{}", "", "{}", "{\"a\":{\"b\":1}}", NULL, "a body of the named arguments"},
    {"{'body':['a']}", "{}", "{}", "", "{}", "{}", NULL, "... which may be empty"},
    {"{'path':['p'],'body':'*'}", "{'p':'x','a':1,'b':null}", "{\"p\":\"x\"}", "", "{}", "{\"a\":1,\"b\":null}", NULL, "a body of the rest"},
    {"{'body':'all'}", "{'a':1}", "{}", "", "{}", NULL, NULL, "a body that is no list and no star"},
    {"{}", "{'a':1}", "{}", "", "{}", NULL, NULL, "what has no place goes nowhere"},
};
/* clang-format on */

static void
test_cases(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tool_request request = {.path = NULL};
        const char *why = NULL;
        is_int(arguments_place(mem, env_json(mem, cases[i].args), env_json(mem, cases[i].arguments),
                               &request, &why),
               cases[i].path != NULL ? AZ_OK : AZ_INVALID, "%s", cases[i].name);
        is_str(why, cases[i].why, "... its fault");
        if (request.path == NULL)
            continue;
        is_str(jsonx_dump(mem, request.path), cases[i].path, "... path");
        is_str(request.query, cases[i].query, "... query");
        is_str(jsonx_dump(mem, request.fields), cases[i].fields, "... fields");
        is_str(request.body, cases[i].body, "... body");
        is_int((int64_t) request.body_length,
               (int64_t) (cases[i].body != NULL ? strlen(cases[i].body) : 0), "... its length");
    }
}

static void
test_limits(TALLOC_CTX *mem)
{
    struct tool_request request;
    const char *why = NULL;
    char *value = talloc_zero_array(mem, char, ARGUMENTS_QUERY_MAX);
    memset(value, 'v', ARGUMENTS_QUERY_MAX - 2);
    json_t *args = env_json(mem, "{'query':['q']}");
    json_t *arguments = jsonx_own(mem, json_pack("{s:s}", "q", value));
    is_int(arguments_place(mem, args, arguments, &request, &why), AZ_OK, "the longest query");
    value[ARGUMENTS_QUERY_MAX - 2] = 'v';
    value = talloc_asprintf(mem, "%.*s", ARGUMENTS_QUERY_MAX - 1, value);
    arguments = jsonx_own(mem, json_pack("{s:s}", "q", value));
    is_int(arguments_place(mem, args, arguments, &request, &why), AZ_INVALID, "one octet more");
    is_str(why, "The argument q makes the address too long", "... it says so");
    is_int(arguments_place(mem, NULL, NULL, &request, &why), AZ_OK, "no args and no arguments");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    test_cases(mem);
    test_limits(mem);
    talloc_free(mem);
    return done();
}
