/* ManagedResourceDto: what each rule refuses, and where (specification 2.10,
 * gateway-admin.md 3.2, 3.3). */
#include "config.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/utf8.h"
#include "managed/document.h"
#include "tap.h"

#define REST                                                                                       \
    "\"name\":\"api\",\"displayName\":\"API\",\"upstreamType\":\"REST\",\"upstreamUrl\":\"https:/" \
    "/a.example\""
#define MCP                                                                                        \
    "\"name\":\"api\",\"displayName\":\"API\",\"upstreamType\":\"MCP\",\"upstreamUrl\":\"https://" \
    "a.example/mcp\""
#define STATIC "\"name\":\"api\",\"displayName\":\"API\",\"upstreamType\":\"STATIC\""
#define ROUTE "\"id\":\"r\",\"path\":\"/a/{x}\""
#define ROUTES(more) REST ",\"routes\":[{" ROUTE more "}]"
#define TOOLS(tool)                                                                                \
    ROUTES("") ",\"tools\":[{\"name\":\"t\",\"route\":\"r\",\"args\":{\"path\":[\"x\"]}" tool "}]"
#define AUTH(members) REST ",\"upstreamAuth\":{" members "}"

/* clang-format off */
static const struct {
    const char *members; /* of the document */
    const char *fault;   /* path of the first fault; NULL: there is none */
    const char *rule;
} rows[] = {
    {REST, NULL, "the required members alone"},
    {"\"displayName\":\"API\",\"upstreamType\":\"REST\"", "name", "name is required"},
    {"\"name\":\"mcp\",\"displayName\":\"API\",\"upstreamType\":\"REST\"", "name", "mcp is reserved"},
    {"\"name\":\"a\",\"upstreamType\":\"REST\"", "displayName", "displayName is required"},
    {"\"name\":\"a\",\"displayName\":\"A\"", "upstreamType", "upstreamType is required"},
    {"\"name\":\"a\",\"displayName\":\"A\",\"upstreamType\":\"SOAP\"", "upstreamType", "it is one of three words"},
    {REST ",\"colour\":1", "colour", "an unknown member is refused"},
    {REST ",\"status\":\"active\",\"statusReason\":\"x\",\"toolCount\":9", NULL, "what the service sets is ignored"},
    {"\"name\":\"a\",\"displayName\":\"A\",\"upstreamType\":\"REST\",\"upstreamUrl\":\"http://a.example\"", "upstreamUrl", "http is refused"},
    {"\"name\":\"a\",\"displayName\":\"A\",\"upstreamType\":\"REST\",\"upstreamUrl\":\"http://plain.example:81/x\"", NULL, "... unless the setting has the host"},
    {"\"name\":\"a\",\"displayName\":\"A\",\"upstreamType\":\"REST\",\"upstreamUrl\":\"ftp://plain.example\"", "upstreamUrl", "... and only http"},
    {"\"name\":\"a\",\"displayName\":\"A\",\"upstreamType\":\"REST\",\"upstreamUrl\":\"https://u:p@a.example\"", "upstreamUrl", "no user information"},
    {"\"name\":\"a\",\"displayName\":\"A\",\"upstreamType\":\"REST\",\"upstreamUrl\":\"https://a.example/#f\"", "upstreamUrl", "no fragment"},
    {"\"name\":\"a\",\"displayName\":\"A\",\"upstreamType\":\"REST\",\"upstreamUrl\":\"https://a.example/?q\"", "upstreamUrl", "no query"},
    {"\"name\":\"a\",\"displayName\":\"A\",\"upstreamType\":\"REST\",\"upstreamUrl\":\"https://{host}/\"", "upstreamUrl", "no variable in the host"},
    {"\"name\":\"a\",\"displayName\":\"A\",\"upstreamType\":\"REST\",\"upstreamUrl\":\"https://a.example%2eevil/\"", "upstreamUrl", "no encoded host"},
    {STATIC ",\"upstreamUrl\":\"https://a.example\"", "upstreamUrl", "STATIC has no upstream"},
    {REST ",\"defaultScope\":\"two words\"", "defaultScope", "defaultScope is one scope"},
    {REST ",\"toolPinning\":\"off\"", "toolPinning", "toolPinning is block or warn"},
    {REST ",\"toolFilter\":{\"only\":[]}", "toolFilter.only", "toolFilter has two lists"},
    {REST ",\"requestHeaders\":{\"Authorization\":\"Bearer x\"}", "requestHeaders", "a credential belongs into upstreamAuth"},
    {REST ",\"requestHeaders\":{\"X-A\":\"b\\r\\nC: d\"}", "requestHeaders", "a line end would begin another field"},
    {REST ",\"requestHeaders\":{\"X A\":\"b\"}", "requestHeaders", "no header name"},
    {REST ",\"requestHeaders\":{\"X-A\":\"b\",\"x-a\":\"c\"}", "requestHeaders", "one field twice"},

    {REST ",\"cors\":{\"origins\":[\"https://app.example\",\"http://localhost:3000\",\"https://[::1]:8443\"]}", NULL, "cors: origins as browsers write them (world.md G1)"},
    {MCP ",\"cors\":{\"origins\":[\"https://app.example\"]}", "cors", "... of REST and STATIC resources alone"},
    {REST ",\"cors\":{}", "cors.origins", "... origins are required"},
    {REST ",\"cors\":{\"origins\":[\"*\"]}", "cors.origins[0]", "no origin is a pattern"},
    {REST ",\"cors\":{\"origins\":[\"https://*.example\"]}", "cors.origins[0]", "... nor a part of one"},
    {REST ",\"cors\":{\"origins\":[\"null\"]}", "cors.origins[0]", "null is the origin of every sandboxed page"},
    {REST ",\"cors\":{\"origins\":[\"https://app.example/\"]}", "cors.origins[0]", "a slash at the end"},
    {REST ",\"cors\":{\"origins\":[\"https://App.example\"]}", "cors.origins[0]", "upper case"},
    {REST ",\"cors\":{\"origins\":[\"https://app.example:443\"]}", "cors.origins[0]", "the port that the scheme has anyway"},
    {REST ",\"cors\":{\"origins\":[\"https://u@app.example\"]}", "cors.origins[0]", "a user"},
    {REST ",\"cors\":{\"origins\":[\"ftp://app.example\"]}", "cors.origins[0]", "another scheme"},
    {REST ",\"cors\":{\"origins\":[\"https://a.example\"],\"methods\":[\"TRACE\"]}", "cors.methods[0]", "a method that no route has"},
    {REST ",\"cors\":{\"origins\":[\"https://a.example\"],\"headers\":[\"*\"]}", "cors.headers[0]", "any header"},
    {REST ",\"cors\":{\"origins\":[\"https://a.example\"],\"expose\":[\"A, B\"]}", "cors.expose[0]", "two headers in one"},
    {REST ",\"cors\":{\"origins\":[\"https://a.example\"],\"maxAge\":7200}", NULL, "two hours"},
    {REST ",\"cors\":{\"origins\":[\"https://a.example\"],\"maxAge\":7201}", "cors.maxAge", "... and no second more"},

    {ROUTES(""), NULL, "a route"},
    {REST ",\"routes\":[{\"id\":\"r\"}]", "routes[0].path", "path is required"},
    {REST ",\"routes\":[{\"path\":\"/\"}]", "routes[0].id", "id is required"},
    {REST ",\"routes\":[{" ROUTE "},{" ROUTE "}]", "routes[1].id", "an id twice"},
    {REST ",\"routes\":[7]", "routes[0]", "a route is an object"},
    {REST ",\"routes\":[{\"id\":\"a\",\"path\":\"/\"},{\"id\":\"b\",\"path\":\"/\"},{\"id\":\"c\",\"path\":\"x\"}]", "routes[2].path", "the fault names the route"},
    {REST ",\"routes\":[{\"id\":\"r\",\"path\":\"/a/**/b\"}]", "routes[0].path", "asterisks in the middle"},
    {REST ",\"routes\":[{\"id\":\"r\",\"path\":\"/a/../b\"}]", "routes[0].path", "dots"},
    {REST ",\"routes\":[{\"id\":\"r\",\"path\":\"/a//b\"}]", "routes[0].path", "an empty segment"},
    {REST ",\"routes\":[{\"id\":\"r\",\"path\":\"/a%2fb\"}]", "routes[0].path", "an encoded literal"},
    {REST ",\"routes\":[{\"id\":\"r\",\"path\":\"/{x}.json\"}]", "routes[0].path", "a variable within a segment"},
    {REST ",\"routes\":[{\"id\":\"r\",\"path\":\"/{x}/{x}\"}]", "routes[0].path", "a variable twice"},
    {REST ",\"routes\":[{\"id\":\"r\",\"path\":\"/a?b\"}]", "routes[0].path", "a query"},
    {ROUTES(",\"upstreamPath\":\"/{y}\""), "routes[0].upstreamPath", "a variable that path does not have"},
    {ROUTES(",\"upstreamPath\":\"/{x}/**\""), "routes[0].upstreamPath", "asterisks that path does not have"},
    {ROUTES(",\"methods\":[\"TRACE\"]"), "routes[0].methods[0]", "another method"},
    {ROUTES(",\"methods\":[]"), "routes[0].methods", "no method"},
    {ROUTES(",\"scopes\":[\"a b\"]"), "routes[0].scopes[0]", "two scopes in one"},
    {ROUTES(",\"query\":{}"), "routes[0].query.allow", "query without allow"},
    {ROUTES(",\"maxBodyBytes\":0"), "routes[0].maxBodyBytes", "no octets"},
    {ROUTES(",\"timeoutMs\":3600001"), "routes[0].timeoutMs", "more than an hour"},
    {ROUTES(",\"timeoutMs\":3600000"), NULL, "... which is the limit"},
    {ROUTES(",\"forwardHeaders\":[\"Idempotency-Key\"]"), NULL, "a header of the caller"},
    {ROUTES(",\"forwardHeaders\":[\"authorization\"]"), "routes[0].forwardHeaders[0]", "Authorization is never passed on"},
    {ROUTES(",\"forwardHeaders\":[\"Cookie\"]"), "routes[0].forwardHeaders[0]", "nor Cookie"},
    {ROUTES(",\"forwardHeaders\":[\"DPoP\"]"), "routes[0].forwardHeaders[0]", "nor DPoP"},
    {ROUTES(",\"forwardHeaders\":[\"Host\"]"), "routes[0].forwardHeaders[0]", "nor Host"},
    {ROUTES(",\"forwardHeaders\":[\"Transfer-Encoding\"]"), "routes[0].forwardHeaders[0]", "nor a hop-by-hop field (RFC 9110 7.6.1)"},
    {ROUTES(",\"forwardHeaders\":[\"X-Forwarded-For\"]"), "routes[0].forwardHeaders[0]", "nor X-Forwarded-*"},
    {ROUTES(",\"forwardHeaders\":[\"X_Forwarded_For\"]"), "routes[0].forwardHeaders[0]", "nor with underscores, which CGI takes for dashes (RFC 3875 4.1.18)"},
    {ROUTES(",\"forwardHeaders\":[\"Proxy\"]"), "routes[0].forwardHeaders[0]", "nor the proxy of a CGI program (CVE-2016-5385)"},
    {ROUTES(",\"forwardHeaders\":[\"X-Admin-API-Key\"]"), "routes[0].forwardHeaders[0]", "nor an admin key"},
    {ROUTES(",\"retry\":{\"attempts\":2,\"on\":[\"connect\"]}"), NULL, "two more attempts"},
    {ROUTES(",\"retry\":{\"attempts\":3}"), "routes[0].retry.attempts", "not three"},
    {ROUTES(",\"retry\":{\"attempts\":1},\"methods\":[\"POST\"]"), "routes[0].retry", "no retry of a POST (RFC 9110 9.2.2)"},
    {ROUTES(",\"successWhen\":{\"pointer\":\"/ok\",\"equals\":true}"), NULL, "successWhen"},
    {ROUTES(",\"successWhen\":{\"pointer\":\"ok\",\"equals\":true}"), "routes[0].successWhen.pointer", "no JSON Pointer (RFC 6901)"},
    {ROUTES(",\"response\":{\"json\":1}"), "routes[0].response", "an answer of a REST route"},
    {MCP ",\"routes\":[{" ROUTE "}]", "routes", "MCP has no routes"},
    {STATIC ",\"routes\":[{" ROUTE "}]", "routes[0].response", "a STATIC route needs its answer"},
    {STATIC ",\"routes\":[{" ROUTE ",\"response\":{\"json\":{}}}]", NULL, "... as JSON"},
    {STATIC ",\"routes\":[{" ROUTE ",\"response\":{\"base64\":\"AAE=\"}}]", NULL, "... or as octets"},
    {STATIC ",\"routes\":[{" ROUTE ",\"response\":{\"base64\":\"A\"}}]", "routes[0].response", "... in base64"},
    {STATIC ",\"routes\":[{" ROUTE ",\"response\":{\"json\":{},\"body\":\"x\"}}]", "routes[0].response", "one body only"},
    {STATIC ",\"routes\":[{" ROUTE ",\"response\":{\"status\":204,\"body\":\"x\"}}]", "routes[0].response", "no body with 204"},
    {STATIC ",\"routes\":[{" ROUTE ",\"response\":{\"status\":199}}]", "routes[0].response.status", "no interim status"},
    {STATIC ",\"routes\":[{" ROUTE ",\"response\":{\"headers\":{\"Set-Cookie\":\"a\"}}}]", "routes[0].response.headers", "no cookie of ours"},

    {TOOLS(""), NULL, "a tool"},
    {ROUTES("") ",\"tools\":[{\"name\":\"t\"}]", "tools[0].route", "a tool of REST needs a route"},
    {ROUTES("") ",\"tools\":[{\"name\":\"t\",\"route\":\"none\"}]", "tools[0].route", "... which exists"},
    {ROUTES("") ",\"tools\":[{\"name\":\"t\",\"route\":\"r\",\"args\":{}}]", "tools[0].args.path", "each variable needs its argument"},
    {ROUTES("") ",\"tools\":[{\"name\":\"t\",\"route\":\"r\",\"args\":{\"path\":[\"x\",\"y\"]}}]", "tools[0].args.path", "... and each argument its variable"},
    {ROUTES("") ",\"tools\":[{\"name\":\"t\",\"route\":\"r\",\"args\":{\"path\":[\"x\"],\"body\":7}}]", "tools[0].args.body", "body is a list, * or null"},
    {ROUTES("") ",\"tools\":[{\"name\":\"t\",\"route\":\"r\",\"args\":{\"path\":[\"x\"],\"header\":[\"Cookie\"]}}]", "tools[0].args.header[0]", "no argument becomes a cookie"},
    {TOOLS(",\"inputSchema\":{\"type\":\"array\"}"), "tools[0].inputSchema", "a schema is one of an object"},
    {TOOLS(",\"inputSchema\":{\"type\":\"object\",\"$ref\":\"https://x.example/s\"}"), "tools[0].inputSchema", "no reference to another document"},
    {TOOLS(",\"inputSchema\":{\"type\":\"object\",\"$ref\":\"#/$defs/a\"}"), NULL, "... but to its own definitions"},
    {TOOLS(",\"upstreamName\":\"x\""), "tools[0].upstreamName", "upstreamName is for MCP"},
    {TOOLS(",\"upstreamAnnotations\":{}"), "tools[0].upstreamAnnotations", "upstreamAnnotations is for MCP"},
    {TOOLS("},{\"name\":\"t\",\"route\":\"r\",\"args\":{\"path\":[\"x\"]}"), "tools[1].name", "a name twice"},
    {MCP ",\"tools\":[{\"name\":\"a.b\"},{\"name\":\"a_b\"}]", "tools[1].name", "two names that clients see as one"},
    {MCP ",\"tools\":[{\"name\":\"a\",\"upstreamName\":\"x\"},{\"name\":\"b\",\"upstreamName\":\"x\"}]", "tools[1].upstreamName", "an upstream name twice"},
    {MCP ",\"tools\":[{\"name\":\"a\",\"route\":\"r\"}]", "tools[0].route", "a tool of MCP has no route"},

    {AUTH("\"type\":\"none\""), NULL, "type none"},
    {AUTH("\"header\":\"X-A\""), "upstreamAuth.type", "type is required"},
    {AUTH("\"type\":\"magic\""), "upstreamAuth.type", "it is one of a list"},
    {AUTH("\"type\":\"none\",\"value\":\"s\""), "upstreamAuth.value", "a secret that nothing uses"},
    {AUTH("\"type\":\"basic\",\"username\":\"u\",\"password\":\"p\""), NULL, "basic"},
    {AUTH("\"type\":\"basic\",\"username\":\"u\",\"clientId\":\"c\""), "upstreamAuth.clientId", "a member of another type"},
    {AUTH("\"type\":\"static_header\",\"value\":7"), "upstreamAuth.value", "a secret is a text"},
    {AUTH("\"type\":\"static_header\",\"value\":\"\""), "upstreamAuth.value", "... that is not empty"},
    {AUTH("\"type\":\"static_header\",\"value\":{\"set\":true}"), NULL, "... or the object that is shown"},
    {AUTH("\"type\":\"static_header\",\"header\":\"X-Key\",\"query\":\"key\""), "upstreamAuth.query", "header and query"},
    {AUTH("\"type\":\"static_header\",\"header\":\"Host\""), "upstreamAuth.header", "no credential in Host"},
    {AUTH("\"type\":\"client_credentials\",\"tokenEndpoint\":\"http://t.example\""), "upstreamAuth.tokenEndpoint", "a token endpoint has https"},
    {AUTH("\"type\":\"client_credentials\",\"tokenParams\":{\"client_secret\":\"x\"}"), "upstreamAuth.tokenParams", "no parameter of ours"},
    {AUTH("\"type\":\"oauth_link\",\"authorizeParams\":{\"state\":\"x\"}"), "upstreamAuth.authorizeParams", "state is ours"},
    {AUTH("\"type\":\"oauth_link\",\"pkce\":\"plain\""), "upstreamAuth.pkce", "plain is no protection (RFC 9700 2.1.1)"},
    {AUTH("\"type\":\"user_secret\",\"validate\":{\"path\":\"user\"}"), "upstreamAuth.validate.path", "validate has a path"},
    {AUTH("\"type\":\"user_secret\",\"validate\":{}"), "upstreamAuth.validate.path", "... always"},
    {AUTH("\"type\":\"client_credentials\",\"privateKeyJwt\":{\"alg\":\"HS256\"}"), "upstreamAuth.privateKeyJwt.alg", "no algorithm of a shared secret"},
};

/* What is missing, which makes a resource pending. */
static const struct {
    const char *members, *missing;
} incomplete[] = {
    {REST, NULL},
    {"\"name\":\"a\",\"displayName\":\"A\",\"upstreamType\":\"REST\"", "upstreamUrl"},
    {STATIC, NULL},
    {AUTH("\"type\":\"static_header\""), "upstreamAuth.value"},
    {AUTH("\"type\":\"basic\",\"password\":{\"set\":true}"), "upstreamAuth.username"},
    {AUTH("\"type\":\"client_credentials\",\"tokenEndpoint\":\"https://t.example\""), "upstreamAuth.clientId"},
    {AUTH("\"type\":\"client_credentials\",\"tokenEndpoint\":\"https://t.example\",\"clientId\":\"c\""), "upstreamAuth.clientSecret"},
    {AUTH("\"type\":\"client_credentials\",\"tokenEndpoint\":\"https://t.example\",\"clientId\":\"c\",\"privateKeyJwt\":{\"kid\":\"k\"}"), "upstreamAuth.privateKeyJwt.key"},
    {AUTH("\"type\":\"oauth_link\",\"clientId\":\"c\""), "upstreamAuth.authorizationEndpoint"},
    {AUTH("\"type\":\"oauth_link\",\"discovery\":\"prm\",\"registration\":\"cimd\""), NULL},
    {AUTH("\"type\":\"oauth_link\",\"discovery\":\"issuer\",\"registration\":\"dcr\""), "upstreamAuth.issuer"},
    {AUTH("\"type\":\"user_secret\""), NULL},
};
/* clang-format on */

struct first_fault {
    char path[160];
    char why[256];
};

static void
keep_first(void *arg, const char *path, const char *why)
{
    struct first_fault *first = arg;
    if (*first->why != '\0')
        return;
    snprintf(first->path, sizeof(first->path), "%s", path);
    snprintf(first->why, sizeof(first->why), "%s", why);
}

static enum az_status
read_text(TALLOC_CTX *mem, const char *members, struct first_fault *first,
          struct managed_resource *ret)
{
    const char *text = talloc_asprintf(mem, "{%s}", members);
    json_t *object = NULL;
    if (jsonx_parse(mem, text, strlen(text), 96, &object, NULL) != AZ_OK)
        return AZ_SERVER_ERROR;
    const struct managed_reading reading = {.mem = mem,
                                            .document = object,
                                            .insecure_hosts = "localhost,plain.example",
                                            .fault = keep_first,
                                            .fault_arg = first};
    return managed_read(&reading, ret);
}

static void
defaults(TALLOC_CTX *mem)
{
    struct managed_resource resource = {.name = NULL};
    struct first_fault first = {.why = ""};
    read_text(
        mem,
        TOOLS("") ",\"defaultScope\":\"api:read\",\"requestHeaders\":{\"A\":\"1\",\"B\":\"2\"},"
                  "\"upstreamAuth\":{\"type\":\"static_header\"}",
        &first, &resource);
    const struct managed_route *route = &resource.route[0];
    ok(resource.enabled && route->enabled && resource.tool[0].served, "enabled by default");
    is_str(route->methods[0], "GET", "methods are GET by default");
    is_str(json_string_value(json_array_get(route->scopes, 0)), "api:read",
           "scopes are defaultScope by default");
    ok(resource.tool[0].scopes == route->scopes, "a tool needs the scopes of its route");
    is_str(route->action, "r", "the action is the id by default");
    is_str(resource.auth.header, "Authorization", "a credential goes into Authorization");
    is_str(resource.auth.scheme, "Bearer", "... with Bearer");
    ok(route->request_headers.count == 2, "a route has the header fields of its resource");
    ok(resource.pinning == MANAGED_PINNING_BLOCK, "toolPinning blocks by default");
    read_text(
        mem,
        ROUTES(",\"requestHeaders\":{\"b\":\"3\"}") ",\"requestHeaders\":{\"A\":\"1\",\"B\":\"2\"}",
        &first, &resource);
    ok(resource.route[0].request_headers.count == 2
           && strcmp(resource.route[0].request_headers.item[1].value, "3") == 0,
       "... and its own win, whatever their case");
}

static void
pinning(TALLOC_CTX *mem)
{
    static const struct {
        const char *status, *pinning;
        bool served;
    } pins[] = {
        {"approved", "block", true },
        {"new",      "block", false},
        {"changed",  "block", false},
        {"missing",  "block", false},
        {"new",      "warn",  true },
        {"changed",  "warn",  true },
        {"missing",  "warn",  false},
    };
    struct managed_resource resource = {.name = NULL};
    struct first_fault first = {.why = ""};
    for (size_t i = 0; i < sizeof(pins) / sizeof(pins[0]); i++) {
        read_text(
            mem,
            talloc_asprintf(
                mem,
                MCP
                ",\"toolPinning\":\"%s\",\"tools\":[{\"name\":\"t\",\"pin\":{\"status\":\"%s\"}}]",
                pins[i].pinning, pins[i].status),
            &first, &resource);
        ok(resource.tool[0].served == pins[i].served,
           "toolPinning %s: a tool that is %s is %sserved", pins[i].pinning, pins[i].status,
           pins[i].served ? "" : "not ");
    }
    read_text(mem, MCP ",\"tools\":[{\"name\":\"t\"}]", &first, &resource);
    ok(!resource.tool[0].served, "a tool that no sync has seen is not served");
}

/* Build a schema that is nested or wide. */
static bool
schema_is_good(TALLOC_CTX *mem, int levels, int objects)
{
    struct managed_resource resource;
    struct first_fault first = {.why = ""};
    char *schema = talloc_strdup(mem, "{\"type\":\"object\"");
    for (int i = 1; i < levels; i++)
        schema = talloc_asprintf_append(schema, ",\"not\":{\"x\":1");
    for (int i = 1; i < objects; i++)
        schema = talloc_asprintf_append(schema, ",\"p%d\":{}", i);
    for (int i = 0; i < levels; i++)
        schema = talloc_asprintf_append(schema, "}");
    return read_text(mem, talloc_asprintf(mem, TOOLS(",\"inputSchema\":%s"), schema), &first,
                     &resource)
           == AZ_OK;
}

/* Build a schema with an object in a property of an object, and so on. */
static bool
properties_are_good(TALLOC_CTX *mem, int levels)
{
    struct managed_resource resource;
    struct first_fault first = {.why = ""};
    char *schema = talloc_strdup(mem, "{\"type\":\"object\"");
    for (int i = 1; i < levels; i++)
        schema = talloc_asprintf_append(schema, ",\"properties\":{\"a\":{\"type\":\"object\"");
    for (int i = 1; i < levels; i++)
        schema = talloc_asprintf_append(schema, "}}");
    return read_text(mem, talloc_asprintf(mem, TOOLS(",\"inputSchema\":%s}"), schema), &first,
                     &resource)
           == AZ_OK;
}

/* ---- a stored document: a rule about saving refuses none (managed_read()) */

/* Return the tools and routes that a stored document leaves out, as "tool a: why; ..."; "refused"
 * if it is refused. */
static const char *
left_out_of(TALLOC_CTX *mem, const char *members, struct managed_resource *ret)
{
    const char *text = talloc_asprintf(mem, "{%s}", members);
    json_t *object = NULL;
    char *list = talloc_strdup(mem, "");
    jsonx_parse(mem, text, strlen(text), 96, &object, NULL);
    const struct managed_reading reading = {.mem = mem, .document = object, .stored = true};
    if (managed_read(&reading, ret) != AZ_OK)
        return "refused";
    for (size_t i = 0; i < ret->left_outs; i++)
        list = talloc_asprintf_append(list, "%s%s %s: %s", i > 0 ? "; " : "", ret->left_out[i].kind,
                                      ret->left_out[i].name, ret->left_out[i].why);
    return list;
}

#define TOOL(name) "{\"name\":\"" name "\"},"
#define WIDE "{\"id\":\"wide\",\"path\":\"/**\"}"
#define HAS_ROUTES(more) REST ",\"routes\":[" WIDE "," more "]"

/* clang-format off */
static const struct {
    const char *members, *left_out;
    size_t tools, routes; /* that the resource has afterwards */
    const char *rule;
} stored_rows[] = {
    {MCP ",\"tools\":[" TOOL("a.b") TOOL("kept") "{\"name\":\"a_b\"}]", "tool a.b: name makes the name api__a_b, which another tool has; tool a_b: name makes the name api__a_b, which another tool has", 1, 0, "tools whose names are one today are left out, both"},
    {MCP ",\"tools\":[" TOOL("a.b") TOOL("a_b") "{\"name\":\"a/b\"}]", "tool a.b: name makes the name api__a_b, which another tool has; tool a_b: name makes the name api__a_b, which another tool has; tool a/b: name makes the name api__a_b, which another tool has", 0, 0, "... or all three"},
    {MCP ",\"tools\":[{\"name\":\"a\",\"upstreamName\":\"x\"}," TOOL("kept") "{\"name\":\"b\",\"upstreamName\":\"x\"}]", "tool a: upstreamName is that of another tool; tool b: upstreamName is that of another tool", 1, 0, "... and those that are one tool of the upstream"},
    {MCP ",\"tools\":[" TOOL("kept") "{\"name\":\"authz_find_tools\"}]", "tool authz_find_tools: name is that of a tool of the gateway", 1, 0, "a name that a release took for the gateway"},
    {MCP ",\"tools\":[" TOOL("kept") "{\"name\":\"new\",\"later\":1}]", "tool new: later", 1, 0, "a member of a later release"},
    {MCP ",\"tools\":[" TOOL("kept") "{\"name\":\"new\",\"inputSchema\":{\"type\":\"array\"}}]", "tool new: inputSchema must have the type object", 1, 0, "a schema"},
    {MCP ",\"tools\":[" TOOL("kept") "7]", "tool tools[1]: must be an object", 1, 0, "a tool without a name has its place"},
    {HAS_ROUTES("{\"id\":\"r\",\"path\":\"/a\",\"later\":1}"), "route r: later", 0, 2, "a route with a member of a later release is left out"},
    {HAS_ROUTES("{\"id\":\"wide\",\"path\":\"/a\"}"), "route wide: id is the id of another route; route wide: id is the id of another route", 0, 2, "routes of one id are left out, both"},
    {ROUTES(",\"scopes\":[\"two words\"]") ",\"tools\":[{\"name\":\"t\",\"route\":\"r\",\"args\":{\"path\":[\"x\"]}}]", "route r: scopes[0] must be one scope; tool t: route is the id of a route that is left out", 0, 1, "... and with a route its tools"},
    {HAS_ROUTES("{\"id\":\"r\",\"path\":\"no slash\"}"), "refused", 0, 0, "a route whose path cannot be read refuses the document: a wider one would get its requests"},
    {HAS_ROUTES("{\"id\":\"r\",\"path\":\"/a\",\"methods\":[7]}"), "refused", 0, 0, "... so do its methods"},
    {HAS_ROUTES("{\"path\":\"/a\"}"), "refused", 0, 0, "... and a route without an id"},
    {REST ",\"later\":1", "refused", 0, 0, "a member of the resource that this program does not know refuses the document"},
    {"\"name\":\"a\",\"displayName\":\"A\",\"upstreamType\":\"REST\",\"upstreamUrl\":\"http://a.example\"", "refused", 0, 0, "... so does an address that the settings allow no longer"},
};
/* clang-format on */

static void
stored_documents(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(stored_rows) / sizeof(stored_rows[0]); i++) {
        struct managed_resource resource = {.name = NULL};
        const char *left = left_out_of(mem, stored_rows[i].members, &resource);
        ok(strncmp(left, stored_rows[i].left_out, strlen(stored_rows[i].left_out)) == 0,
           "stored: %s (%s)", stored_rows[i].rule, left);
        ok(resource.tools == stored_rows[i].tools && resource.routes == stored_rows[i].routes,
           "... %zu tools and %zu routes stay", resource.tools, resource.routes);
        for (size_t t = 0; t < resource.tools; t++)
            is_str(resource.tool[t].name, "kept", "... the tool without a fault");
    }
    struct managed_resource resource = {.name = NULL};
    left_out_of(mem, HAS_ROUTES("{\"id\":\"r\",\"path\":\"/a\",\"later\":1}"), &resource);
    ok(!resource.route[1].enabled && resource.route[0].enabled,
       "a route that is left out is disabled, the others are not");
}

/* A member that is not known is named as far as there is room, and not to within a character. */
static void
long_names(TALLOC_CTX *mem)
{
    for (size_t letters = 0; letters < 4; letters++) {
        struct managed_resource resource = {.name = NULL};
        struct first_fault first = {.why = ""};
        char *name = talloc_strndup(mem, "xxx", letters);
        for (size_t i = 0; i < 60; i++)
            name = talloc_strdup_append(name, "\u20ac");
        read_text(mem, talloc_asprintf(mem, TOOLS("") ",\"%s\":1", name), &first, &resource);
        size_t length = strlen(first.path);
        ok(length > 150 && strncmp(first.path, name, length) == 0 && utf8_valid(first.path, length),
           "an unknown member with %zu letters and many characters of three octets is named",
           letters);
    }
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    long_names(mem);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct first_fault first = {.why = ""};
        struct managed_resource resource = {.name = NULL};
        enum az_status st = read_text(mem, rows[i].members, &first, &resource);
        ok(st == (rows[i].fault != NULL ? AZ_INVALID : AZ_OK), "%s: %s", rows[i].rule, first.why);
        is_str(first.path, rows[i].fault != NULL ? rows[i].fault : "", "... where it is");
    }
    for (size_t i = 0; i < sizeof(incomplete) / sizeof(incomplete[0]); i++) {
        struct first_fault first = {.why = ""};
        struct managed_resource resource = {.name = NULL};
        ok(read_text(mem, incomplete[i].members, &first, &resource) == AZ_OK,
           "an incomplete resource is accepted %s", first.path);
        is_str(resource.missing, incomplete[i].missing, "... and names what is missing");
    }
    defaults(mem);
    pinning(mem);
    stored_documents(mem);
    ok(schema_is_good(mem, 32, 1), "limit: a schema of 32 levels (gateway-admin.md 1.5)");
    ok(!schema_is_good(mem, 33, 1), "... not of 33");
    ok(properties_are_good(mem, 32), "... also of objects in properties");
    ok(!properties_are_good(mem, 33), "... not of 33");
    ok(schema_is_good(mem, 1, 2000), "limit: 2000 sub-schemas");
    ok(!schema_is_good(mem, 1, 2001), "... not 2001");
    talloc_free(mem);
    return done();
}
