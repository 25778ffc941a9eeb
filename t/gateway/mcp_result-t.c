#include "config.h"

#include "gateway/mcp/message/result.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "env.h"
#include "gateway/mcp/message/block.h"
#include "tap.h"

/* clang-format off */
static const struct {
    const char *type, *octets;
    size_t length; /* 0: that of the text */
    int status;
    bool failed;
    const char *wanted;
    const char *name;
} bodies[] = {
    {"application/json", "{\"a\":1}", 0, 200, false, "{'content':[{'type':'text','text':'{\\\"a\\\":1}'}],'structuredContent':{'a':1}}", "a JSON object is text and structure"},
    {"application/vnd.api+json", "{}", 0, 200, false, "{'content':[{'type':'text','text':'{}'}],'structuredContent':{}}", "... by the end of its type"},
    {"application/json", "[1]", 0, 200, false, "{'content':[{'type':'text','text':'[1]'}]}", "an array is text (MCP 2025-06-18: structuredContent is an object)"},
    {"application/json", "{\"a\"", 0, 200, false, "{'content':[{'type':'text','text':'{\\\"a\\\"'}]}", "half an object is text"},
    {"text/plain", "{\"a\":1}", 0, 200, false, "{'content':[{'type':'text','text':'{\\\"a\\\":1}'}]}", "JSON that is called text is text"},
    {"", "hello", 0, 200, false, "{'content':[{'type':'text','text':'hello'}]}", "no type, and text"},
    {"", "", 0, 204, false, "{'content':[{'type':'text','text':''}]}", "no body"},
    {"image/png", "\x89PNG", 0, 200, false, "{'content':[{'type':'image','data':'iVBORw==','mimeType':'image/png'}]}", "an image"},
    {"audio/wav", "RIFF", 0, 200, false, "{'content':[{'type':'audio','data':'UklGRg==','mimeType':'audio/wav'}]}", "a sound"},
    {"application/pdf", "%PDF", 0, 200, false, "{'content':[{'type':'resource','resource':{'uri':'u:x','mimeType':'application/pdf','blob':'JVBERg=='}}]}", "a file"},
    {"text/plain", "\xff\xfe", 0, 200, false, "{'content':[{'type':'resource','resource':{'uri':'u:x','mimeType':'text/plain','blob':'//4='}}]}", "text that is not UTF-8"},
    {"text/plain", "a\0b", 3, 200, false, "{'content':[{'type':'resource','resource':{'uri':'u:x','mimeType':'text/plain','blob':'YQBi'}}]}", "text with a NUL"},
    {"application/json", "{\"message\":\"no\"}", 0, 404, true, "{'content':[{'type':'text','text':'The upstream answered 404: {\\\"message\\\":\\\"no\\\"}'}],'isError':true}", "a failure is for the model"},
    {"", "", 0, 500, true, "{'content':[{'type':'text','text':'The upstream answered 500'}],'isError':true}", "... without a body"},
};

static const struct {
    const char *result, *wanted;
    const char *name;
} relayed[] = {
    {"{'content':[{'type':'text','text':'a'}]}", "{\"content\":[{\"type\":\"text\",\"text\":\"a\"}]}", "content passes"},
    {"{'content':[],'structuredContent':{'a':1},'isError':false,'resultType':'complete','ttlMs':1,'_meta':{'x':1},'other':1}", "{\"content\":[],\"structuredContent\":{\"a\":1},\"isError\":false}", "... with its structure and isError, and nothing else"},
    {"{'content':'a'}", NULL, "content that is a text"},
    {"{'content':[{'text':'a'}]}", NULL, "an item without a type"},
    {"{'content':['a']}", NULL, "an item that is a text"},
    {"{'content':[{'type':'video','data':'eA==','mimeType':'video/mp4'}]}", NULL, "an item of a type that MCP does not have"},
    {"{'content':[{'type':'text'}]}", NULL, "a text without its member"},
    {"{'content':[{'type':'image','data':'eA==','mimeType':'image/png'}]}", "{\"content\":[{\"type\":\"image\",\"data\":\"eA==\",\"mimeType\":\"image/png\"}]}", "an image"},
    {"{'content':[{'type':'image','data':'*','mimeType':'image/png'}]}", NULL, "an image that is no base64"},
    {"{'content':[{'type':'audio','data':'eA=='}]}", NULL, "a sound without its media type"},
    {"{'content':[{'type':'resource','resource':{'uri':'a:b','text':'x'}}]}", "{\"content\":[{\"type\":\"resource\",\"resource\":{\"uri\":\"a:b\",\"text\":\"x\"}}]}", "an embedded text"},
    {"{'content':[{'type':'resource','resource':{'uri':'a:b','blob':'eA=='}}]}", "{\"content\":[{\"type\":\"resource\",\"resource\":{\"uri\":\"a:b\",\"blob\":\"eA==\"}}]}", "embedded octets"},
    {"{'content':[{'type':'resource','resource':{'uri':'a:b','blob':'*'}}]}", NULL, "embedded octets that are no base64"},
    {"{'content':[{'type':'resource','resource':{'uri':'a:b','text':'x','blob':'eA=='}}]}", NULL, "an embedded resource with text and octets"},
    {"{'content':[{'type':'resource','resource':{'uri':'a:b'}}]}", NULL, "an embedded resource with neither"},
    {"{'content':[{'type':'resource','resource':{'text':'x'}}]}", NULL, "an embedded resource without a URI"},
    {"{'content':[{'type':'resource_link','uri':'a:b','name':'n'}]}", "{\"content\":[{\"type\":\"resource_link\",\"uri\":\"a:b\",\"name\":\"n\"}]}", "a link"},
    {"{'content':[{'type':'resource_link','uri':'a:b'}]}", NULL, "a link without a name"},
    {"{'content':[{'type':'text','text':'a','extra':1,'uri':'x:y','data':'eA==','more':{'b':1}}]}", "{\"content\":[{\"type\":\"text\",\"text\":\"a\"}]}", "members that a text does not have do not pass"},
    {"{'content':[{'type':'image','data':'eA==','mimeType':'image/png','text':'t','extra':1}]}", "{\"content\":[{\"type\":\"image\",\"data\":\"eA==\",\"mimeType\":\"image/png\"}]}", "... nor those that an image does not have"},
    {"{'content':[{'type':'resource','more':1,'resource':{'uri':'a:b','text':'x','mimeType':'a/b','extra':1,'blob2':'y','_meta':{'a.example/k':1,'io.modelcontextprotocol/k':1,'k':1}}}]}", "{\"content\":[{\"type\":\"resource\",\"resource\":{\"uri\":\"a:b\",\"mimeType\":\"a/b\",\"text\":\"x\",\"_meta\":{\"a.example/k\":1}}}]}", "... nor those of an embedded resource"},
    {"{'content':[{'type':'resource_link','uri':'a:b','name':'n','title':'t','description':'d','mimeType':'a/b','size':7,'extra':1,'text':'t','icons':[{'src':'https://e.example/i.png'},{'src':'data:image/png;base64,eA==','extra':1}]}]}", "{\"content\":[{\"type\":\"resource_link\",\"uri\":\"a:b\",\"name\":\"n\",\"title\":\"t\",\"description\":\"d\",\"mimeType\":\"a/b\",\"size\":7,\"icons\":[{\"src\":\"data:image/png;base64,eA==\"}]}]}", "... nor those of a link; icons as those of a tool"},
    {"{'content':[{'type':'resource_link','uri':'a:b','name':'n','title':7,'size':'7','mimeType':[]}]}", "{\"content\":[{\"type\":\"resource_link\",\"uri\":\"a:b\",\"name\":\"n\"}]}", "... nor members of another type"},
    {"{'content':[{'type':'text','text':'a','_meta':{'a.example/k':{'v':1},'mcp.example/k':1,'tools.mcp.com/k':1,'modelcontextprotocol.io/k':1,'io.modelcontextprotocol/related-task':1,'k':1}}]}", "{\"content\":[{\"type\":\"text\",\"text\":\"a\",\"_meta\":{\"a.example/k\":{\"v\":1}}}]}", "of _meta the prefixes pass that are not reserved for MCP (basic, _meta)"},
    {"{'content':[{'type':'text','text':'a','annotations':{'audience':['user','root','user','assistant'],'priority':0.5,'lastModified':'2026-01-01T00:00:00Z','more':1,'x':{}}}]}", "{\"content\":[{\"type\":\"text\",\"text\":\"a\",\"annotations\":{\"audience\":[\"user\",\"assistant\"],\"priority\":0.5,\"lastModified\":\"2026-01-01T00:00:00Z\"}}]}", "annotations pass with the members of MCP"},
    {"{'content':[{'type':'text','text':'a','annotations':{'audience':'user','priority':'high','more':1}}]}", "{\"content\":[{\"type\":\"text\",\"text\":\"a\"}]}", "... of their types"},
    {"{'content':[{'type':'text','text':'a','annotations':7,'_meta':7}]}", "{\"content\":[{\"type\":\"text\",\"text\":\"a\"}]}", "... or not at all"},
    {"{}", NULL, "no content"},
    {"[]", NULL, "an array"},
    {"{'resultType':'input_required','inputRequests':{}}", NULL, "a request for input, which we said we cannot meet"},
    {"{'resultType':'input_required','content':[]}", NULL, "... with content"},
};
/* clang-format on */

static void
test_bodies(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        const struct mcp_body body = {
            .content_type = bodies[i].type,
            .octets = bodies[i].octets,
            .length = bodies[i].length != 0 ? bodies[i].length : strlen(bodies[i].octets),
            .uri = "u:x",
            .status = bodies[i].status,
            .failed = bodies[i].failed,
        };
        is_str(jsonx_dump(mem, mcp_body_result(mem, &body)),
               jsonx_dump(mem, env_json(mem, bodies[i].wanted)), "%s", bodies[i].name);
    }
}

static void
test_relayed(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(relayed) / sizeof(relayed[0]); i++) {
        json_t *result = mcp_relayed_result(mem, NULL, env_json(mem, relayed[i].result));
        is_str(result != NULL ? jsonx_dump(mem, result) : NULL, relayed[i].wanted, "%s",
               relayed[i].name);
    }
}

/* The same result in both eras. */
static void
test_eras(TALLOC_CTX *mem)
{
    const struct mcp_version modern = {.modern = true, .name = "2026-07-28"},
                             legacy = {.name = "2025-11-25"};
    const struct mcp_features tools = {.resources = false},
                              all = {.resources = true, .prompts = true},
                              prompts = {.prompts = true};
    json_t *result = mcp_list_result(mem, "tools", env_json(mem, "[]"));
    ok(mcp_result_finish(result, &modern), "tools/list for a modern client");
    is_str(jsonx_dump(mem, result),
           "{\"tools\":[],\"ttlMs\":30000,\"cacheScope\":\"private\",\"resultType\":\"complete\"}",
           "... with resultType, ttlMs and a cacheScope of private");
    ok(mcp_result_finish(result, &legacy), "tools/list for an older client");
    is_str(jsonx_dump(mem, result), "{\"tools\":[]}", "... without them");
    result = mcp_elicit_url_result(mem, "link_a", "https://as.example/l", "Connect.", "s");
    ok(mcp_result_finish(result, &modern), "a link for a modern client");
    is_str(json_string_value(json_object_get(result, "resultType")), "input_required",
           "... keeps its resultType");
    result = mcp_discover_result(mem, &tools);
    is_str(json_string_value(json_array_get(json_object_get(result, "supportedVersions"), 0)),
           "2026-07-28", "server/discover: the version");
    ok(json_object_get(json_object_get(result, "capabilities"), "tools") != NULL
           && json_object_size(json_object_get(result, "capabilities")) == 1,
       "... tools alone are declared");
    result = mcp_discover_result(mem, &all);
    is_str(jsonx_dump(mem, json_object_get(result, "capabilities")),
           "{\"tools\":{},\"resources\":{},\"prompts\":{},\"completions\":{}}",
           "... and what else there is");
    result = mcp_discover_result(mem, &prompts);
    is_str(jsonx_dump(mem, json_object_get(result, "capabilities")),
           "{\"tools\":{},\"prompts\":{},\"completions\":{}}", "... completions for prompts alone");
    result = mcp_initialize_result(mem, "2025-06-18", &tools);
    is_str(json_string_value(json_object_get(result, "protocolVersion")), "2025-06-18",
           "initialize: the agreed version");
    result = mcp_text_result(mem, "no", true);
    is_str(jsonx_dump(mem, result),
           "{\"content\":[{\"type\":\"text\",\"text\":\"no\"}],\"isError\":true}",
           "an error that the model reads");
}

/* A block of octets has at most 8 MiB of base64 (gateway-admin.md 1.5). */
static void
test_base64_limit(TALLOC_CTX *mem)
{
    char *data = talloc_array(mem, char, MCP_BASE64_MAX + 5);
    memset(data, 'A', MCP_BASE64_MAX + 4);
    data[MCP_BASE64_MAX + 4] = '\0';
    json_t *text = jsonx_own(mem, json_stringn(data, MCP_BASE64_MAX));
    ok(mcp_is_base64(mem, text), "the longest base64");
    text = jsonx_own(mem, json_string(data));
    ok(!mcp_is_base64(mem, text), "four octets more");
    json_t *block = jsonx_own(
        mem, json_pack("{s:s,s:s,s:O}", "type", "image", "mimeType", "image/png", "data", text));
    ok(!mcp_content_is_sound(mem, block), "... no block has them");
}

/* What a revision has not is not shown to its clients (MCP changelogs of 2025-06-18, 2025-11-25 and
 * 2026-07-28). */
/* clang-format off */
static const struct {
    const char *version, *entry, *wanted;
    const char *name;
} entries[] = {
    {"2026-07-28", "{'name':'a','title':'A','icons':[],'_meta':{},'outputSchema':{'type':'array'}}", "{'name':'a','title':'A','icons':[],'_meta':{},'outputSchema':{'type':'array'}}", "2026-07-28 has all"},
    {"2025-11-25", "{'name':'a','icons':[],'outputSchema':{'type':'array'}}", "{'name':'a','icons':[]}", "before it a result is an object"},
    {"2025-11-25", "{'name':'a','outputSchema':{'type':'object'}}", "{'name':'a','outputSchema':{'type':'object'}}", "... and may have a schema"},
    {"2025-06-18", "{'name':'a','title':'A','icons':[],'_meta':{}}", "{'name':'a','title':'A','_meta':{}}", "2025-06-18 has no icons"},
    {"2025-03-26", "{'name':'a','title':'A','icons':[],'_meta':{},'annotations':{},'outputSchema':{'type':'object'}}", "{'name':'a','annotations':{}}", "2025-03-26 has no title, _meta or outputSchema"},
};
static const struct {
    const char *version, *result, *wanted;
    const char *name;
} results[] = {
    {"2026-07-28", "{'content':[],'structuredContent':[1]}", "{'content':[],'structuredContent':[1],'resultType':'complete'}", "2026-07-28: any value is structured"},
    {"2025-11-25", "{'content':[],'structuredContent':[1]}", "{'content':[]}", "before it, an object alone"},
    {"2025-11-25", "{'content':[],'structuredContent':{'a':1}}", "{'content':[],'structuredContent':{'a':1}}", "... which passes"},
    {"2025-06-18", "{'content':[{'type':'resource_link','uri':'a:b','name':'n'}]}", "{'content':[{'type':'resource_link','uri':'a:b','name':'n'}]}", "2025-06-18 has links"},
    {"2025-03-26", "{'content':[{'type':'text','text':'t'},{'type':'resource_link','uri':'a:b','name':'n'}],'structuredContent':{'a':1}}", "{'content':[{'type':'text','text':'t'},{'type':'text','text':'n: a:b'}]}", "2025-03-26: a link is a text, and nothing is structured"},
    {"2025-03-26", "{'messages':[{'role':'user','content':{'type':'resource_link','uri':'a:b','name':'n'}}]}", "{'messages':[{'role':'user','content':{'type':'text','text':'n: a:b'}}]}", "... in messages too"},
};
/* clang-format on */

static void
test_revisions(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
        const struct mcp_version version = {.modern = strcmp(entries[i].version, "2026-07-28") == 0,
                                            .name = entries[i].version};
        json_t *entry = env_json(mem, entries[i].entry);
        mcp_entry_fit(entry, &version);
        is_str(jsonx_dump(mem, entry), jsonx_dump(mem, env_json(mem, entries[i].wanted)), "%s",
               entries[i].name);
    }
    for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
        const struct mcp_version version = {.modern = strcmp(results[i].version, "2026-07-28") == 0,
                                            .name = results[i].version};
        json_t *result = env_json(mem, results[i].result);
        ok(mcp_result_finish(result, &version), "a result");
        is_str(jsonx_dump(mem, result), jsonx_dump(mem, env_json(mem, results[i].wanted)), "%s",
               results[i].name);
    }
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    test_bodies(mem);
    test_relayed(mem);
    test_eras(mem);
    test_base64_limit(mem);
    test_revisions(mem);
    talloc_free(mem);
    return done();
}
