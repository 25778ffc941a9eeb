#include "config.h"

#include "gateway/mcp/message/version.h"

#include <string.h>

#include "env.h"
#include "tap.h"

#define META(version, more)                                                                        \
    "{'_meta':{'io.modelcontextprotocol/protocolVersion':'" version "'" more "}"
#define GOOD META("2026-07-28", ",'io.modelcontextprotocol/clientCapabilities':{}")
#define URLS                                                                                       \
    META("2026-07-28", ",'io.modelcontextprotocol/clientCapabilities':{'elicitation':{'url':{}}}")

/* clang-format off */
static const struct {
    const char *method, *params;
    bool notification;
    struct mcp_headers headers;
    int code;            /* of the fault; 0: none */
    const char *version; /* that is followed */
    const char *name;
} cases[] = {
    {"tools/list", GOOD "}", false, {"2026-07-28", "tools/list", NULL}, 0, "2026-07-28", "the modern revision"},
    {"tools/call", GOOD ",'name':'a'}", false, {"2026-07-28", "tools/call", "a"}, 0, "2026-07-28", "... with the name of a tool"},
    {"tools/call", GOOD ",'name':'\xc3\xa4'}", false, {"2026-07-28", "tools/call", "=?base64?w6Q=?="}, 0, "2026-07-28", "... in base64"},
    {"nothing/such", GOOD "}", false, {"2026-07-28", "nothing/such", NULL}, 0, "2026-07-28", "... an unknown method has a revision too"},
    {"tools/list", GOOD "}", false, {NULL, "tools/list", NULL}, RPC_HEADER_MISMATCH, NULL, "no MCP-Protocol-Version"},
    {"tools/list", GOOD "}", false, {"2025-11-25", "tools/list", NULL}, RPC_HEADER_MISMATCH, NULL, "... an older one"},
    {"tools/list", GOOD "}", false, {"2026-07-28", NULL, NULL}, RPC_HEADER_MISMATCH, NULL, "no Mcp-Method"},
    {"tools/call", GOOD ",'name':'a'}", false, {"2026-07-28", "tools/list", "a"}, RPC_HEADER_MISMATCH, NULL, "... another one: a proxy may have let that through"},
    {"tools/call", GOOD ",'name':'a'}", false, {"2026-07-28", "Tools/call", "a"}, RPC_HEADER_MISMATCH, NULL, "... in other letters"},
    {"tools/call", GOOD ",'name':'a'}", false, {"2026-07-28", "tools/call", NULL}, RPC_HEADER_MISMATCH, NULL, "no Mcp-Name"},
    {"tools/call", GOOD ",'name':'a'}", false, {"2026-07-28", "tools/call", "b"}, RPC_HEADER_MISMATCH, NULL, "... of another tool"},
    {"tools/call", GOOD ",'name':'a'}", false, {"2026-07-28", "tools/call", "=?base64?YQ?"}, RPC_HEADER_MISMATCH, NULL, "... in half of base64"},
    {"tools/call", GOOD ",'name':'a'}", false, {"2026-07-28", "tools/call", "=?base64?!!?="}, RPC_HEADER_MISMATCH, NULL, "... in no base64"},
    {"tools/call", GOOD ",'name':'a'}", false, {"2026-07-28", "tools/call", "=?base64?YQBi?="}, RPC_HEADER_MISMATCH, NULL, "... with a NUL"},
    {"tools/call", GOOD "}", false, {"2026-07-28", "tools/call", "a"}, RPC_HEADER_MISMATCH, NULL, "... that the body lacks"},
    {"resources/read", GOOD ",'uri':'u:x'}", false, {"2026-07-28", "resources/read", "u:y"}, RPC_HEADER_MISMATCH, NULL, "Mcp-Name of a resource is its uri"},
    {"tools/list", META("2026-07-28", "") "}", false, {"2026-07-28", "tools/list", NULL}, RPC_INVALID_PARAMS, NULL, "no client capabilities"},
    {"tools/list", META("2099-01-01", "") "}", false, {"2099-01-01", "tools/list", NULL}, RPC_UNSUPPORTED_VERSION, NULL, "a version to come"},
    {"tools/list", META("2025-11-25", "") "}", false, {"2025-11-25", "tools/list", NULL}, RPC_UNSUPPORTED_VERSION, NULL, "an older version in _meta, which those did not have"},
    {"tools/list", "{'_meta':{'io.modelcontextprotocol/protocolVersion':7}}", false, {NULL, NULL, NULL}, RPC_INVALID_PARAMS, NULL, "a version that is a number"},
    {"tools/list", "{}", false, {"2026-07-28", NULL, NULL}, RPC_INVALID_PARAMS, NULL, "no _meta beside a modern header (gateway-admin.md 1.1)"},
    {"notifications/cancelled", "{}", true, {"2026-07-28", NULL, NULL}, 0, "2026-07-28", "... but a notification needs none"},
    {"initialize", "{'protocolVersion':'2025-11-25'}", false, {NULL, NULL, NULL}, 0, "2025-03-26", "an older client begins"},
    {"initialize", "{'protocolVersion':'2099-01-01'}", false, {"2099-01-01", NULL, NULL}, 0, "2099-01-01", "... with a version that is agreed on by the answer"},
    {"tools/list", "{}", false, {"2025-11-25", NULL, NULL}, 0, "2025-11-25", "an older client goes on"},
    {"tools/list", "{}", false, {"2025-06-18", NULL, NULL}, 0, "2025-06-18", "... a still older one"},
    {"tools/list", "{}", false, {NULL, NULL, NULL}, 0, "2025-03-26", "... and one without the header (MCP 2025-06-18)"},
    {"tools/list", "{}", false, {"2024-11-05", NULL, NULL}, RPC_UNSUPPORTED_VERSION, NULL, "a version of the old transport"},
    {"tools/list", "{}", false, {"", NULL, NULL}, RPC_UNSUPPORTED_VERSION, NULL, "an empty one"},
    {"tools/list", URLS "}", false, {"2026-07-28", "tools/list", NULL}, 0, "2026-07-28", "a client that opens addresses"},
};
/* clang-format on */

static void
test_cases(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct mcp_version version = {.name = NULL};
        struct json_rpc_fault fault = {.code = 0};
        const struct json_rpc message = {
            .kind = cases[i].notification ? JSON_RPC_NOTIFICATION : JSON_RPC_REQUEST,
            .method = cases[i].method,
            .params = env_json(mem, cases[i].params),
        };
        is_int(mcp_version_find(mem, &message, &cases[i].headers, &version, &fault),
               cases[i].code == 0 ? AZ_OK : AZ_INVALID, "%s", cases[i].name);
        is_int(fault.code, cases[i].code, "... code");
        is_str(version.name, cases[i].version, "... version");
        ok(fault.code == 0 || fault.http == 400, "... HTTP 400 for a fault");
        ok(version.opens_urls == (strstr(cases[i].params, "'url'") != NULL),
           "... elicitation by url");
        ok(version.modern == (cases[i].code == 0 && strstr(cases[i].params, "_meta") != NULL),
           "... modern by its body");
        if (cases[i].code == RPC_UNSUPPORTED_VERSION)
            is_str(json_string_value(json_array_get(json_object_get(fault.data, "supported"), 0)),
                   "2026-07-28", "... and names what is supported");
    }
}

static void
test_versions(void)
{
    is_str(mcp_legacy_version("2025-06-18"), "2025-06-18", "initialize: a known version");
    is_str(mcp_legacy_version("2025-03-26"), "2025-03-26", "... the oldest");
    is_str(mcp_legacy_version("2026-07-28"), "2025-11-25", "... the modern one has no initialize");
    is_str(mcp_legacy_version("x"), "2025-11-25", "... an unknown one");
    is_str(mcp_legacy_version(NULL), "2025-11-25", "... none");
    is_str(mcp_known_version("2026-07-28"), "2026-07-28", "the modern one is known");
    is_str(mcp_known_version("2024-11-05"), NULL, "one before all of ours is not");
    json_t *versions = mcp_versions();
    is_int((int64_t) json_array_size(versions), 4, "all revisions");
    is_str(json_string_value(json_array_get(versions, 0)), "2026-07-28", "... the newest first");
    json_decref(versions);
}

static void
test_capabilities(TALLOC_CTX *mem)
{
    const json_t *has = env_json(mem, "{'elicitation':{'form':{}},'roots':{}}");
    ok(mcp_has_capabilities(has, env_json(mem, "{}")), "no capability is needed");
    ok(mcp_has_capabilities(has, env_json(mem, "{'roots':{}}")), "one that the client has");
    ok(mcp_has_capabilities(has, env_json(mem, "{'elicitation':{'form':{}}}")),
       "... with its part");
    ok(!mcp_has_capabilities(has, env_json(mem, "{'elicitation':{'url':{}}}")), "another part");
    ok(!mcp_has_capabilities(has, env_json(mem, "{'sampling':{}}")), "another one");
    ok(!mcp_has_capabilities(NULL, env_json(mem, "{'sampling':{}}")), "no capabilities");
}

static void
test_values(TALLOC_CTX *mem)
{
    static const char *const texts[] = {
        "plain",           "two words",  " led by a space", "\xc3\xa4", "line\nend",
        "=?base64?YQ==?=", "ends in \t", "=?base64?open",   "~"};
    is_str(mcp_header_value(mem, "list_issues"), "list_issues", "a plain name stays");
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        const char *value = mcp_header_value(mem, texts[i]);
        is_str(mcp_header_text(mem, value), texts[i], "a text survives the header");
        ok(value[strcspn(value, "\r\n\t\xc3")] == '\0', "... which is ASCII without line ends");
    }
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    test_cases(mem);
    test_versions();
    test_capabilities(mem);
    test_values(mem);
    talloc_free(mem);
    return done();
}
