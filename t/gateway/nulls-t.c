/* Members of MCP that are null (decisions.md "Gateway"). */
#include "config.h"

#include "gateway/mcp/message/nulls.h"

#include <talloc.h>

#include "base/json/jsonx.h"
#include "env.h"
#include "tap.h"

/* clang-format off */
static const struct {
    const char *message, *left, *name;
} cases[] = {
    {"{'id':null,'error':{'code':1,'data':null}}", "{'id':null,'error':{'code':1}}", "the id of an error stays"},
    {"{'id':1,'result':{},'error':null}", "{'id':1,'result':{}}", "an error beside a result"},
    {"{'id':1,'method':'tools/list','params':null}", "{'id':1,'method':'tools/list'}", "params"},
    {"{'params':{'cursor':null,'name':'a'}}", "{'params':{'name':'a'}}", "a cursor"},
    {"{'result':{'content':[{'type':'text','text':'t','annotations':null}]}}", "{'result':{'content':[{'type':'text','text':'t'}]}}", "null_annotations: of a block"},
    {"{'result':{'content':[{'resource':{'uri':'a','text':'t','blob':null}}]}}", "{'result':{'content':[{'resource':{'uri':'a','text':'t'}}]}}", "null_blob: of an embedded resource"},
    {"{'result':{'structuredContent':{'a':null,'b':[{'c':null}]}}}", "{'result':{'structuredContent':{'a':null,'b':[{'c':null}]}}}", "null_in_data: structuredContent"},
    {"{'params':{'arguments':{'a':null}}}", "{'params':{'arguments':{'a':null}}}", "null_in_data: arguments"},
    {"{'params':{'_meta':{'a':null}}}", "{'params':{'_meta':{'a':null}}}", "null_in_data: _meta"},
    {"{'result':{'tools':[{'inputSchema':{'default':null},'title':null}]}}", "{'result':{'tools':[{'inputSchema':{'default':null}}]}}", "null_in_data: the schema of a tool"},
    {"{'result':{'structuredContent':null,'_meta':null}}", "{'result':{}}", "data that is null as a whole"},
    {"{'result':{'contents':[null]}}", "{'result':{'contents':[null]}}", "an element of an array stays, and is refused"},
    {"{'params':{'inputResponses':null}}", "{'params':{'inputResponses':null}}", "the answers of a person stay, and are refused"},
    {"{'params':{'inputResponses':{'a':{'content':{'b':null}}}}}", "{'params':{'inputResponses':{'a':{'content':{'b':null}}}}}", "... and what they hold"},
    {"{'result':null}", "{}", "a result that is null is none"},
    {"{'params':[null]}", "{'params':[null]}", "params that are no object"},
    {"[]", "[]", "no message"},
};
/* clang-format on */

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    plan(0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        json_t *message = env_json(mem, cases[i].message);
        nulls_drop(message);
        is_str(jsonx_dump_sorted(mem, message),
               jsonx_dump_sorted(mem, env_json(mem, cases[i].left)), "M8 %s", cases[i].name);
    }
    talloc_free(mem);
    return done();
}
