#include "config.h"

#include "managed/document.h"

#include <string.h>

#include "base/json/field_rules.h"
#include "base/json/json_pointer.h"
#include "base/json/jsonx.h"
#include "base/uri.h"
#include "base/words.h"
#include "managed/reader.h"

#define HOST_CHARS "abcdefghijklmnopqrstuvwxyz0123456789.-_"
#define WORD_CHARS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"

/* Stands for a name that is missing or faulty, while faults are collected. */
#define NAME_UNKNOWN "unknown"

/* A document as it stands. */
struct raw_resource {
    struct managed_resource resource;
    const char *upstream_type, *pinning, *tool_list, *mcp_resources, *mcp_prompts,
        *mcp_instructions;
    const json_t *routes, *tools, *auth, *headers, *filter, *public_urls, *edge_jwt, *interaction,
        *cors;
};

struct raw_filter {
    const json_t *include, *exclude;
};

/* ---- rules of single texts */

static const char *
managed_name_rule(TALLOC_CTX *mem, const json_t *value)
{
    (void) mem;
    return managed_name_is_good(json_string_value(value))
               ? NULL
               : "must have lower-case letters, digits and inner hyphens only, and not be mcp, "
                 "link "
                 "or connect";
}

const char *
managed_scope_rule(TALLOC_CTX *mem, const json_t *value)
{
    const char *text = json_string_value(value);
    (void) mem;
    return scope_characters(text) && strchr(text, ' ') == NULL ? NULL : "must be one scope";
}

const char *
managed_word_rule(TALLOC_CTX *mem, const json_t *value)
{
    const char *text = json_string_value(value);
    (void) mem;
    return text[strspn(text, WORD_CHARS)] == '\0'
               ? NULL
               : "must have letters, digits, dots, underscores and hyphens only";
}

const char *
managed_object_rule(TALLOC_CTX *mem, const json_t *value)
{
    (void) mem;
    return json_object_size(value) <= MANAGED_MEMBERS_MAX ? NULL : "must have at most 32 members";
}

const char *
managed_pointer_rule(TALLOC_CTX *mem, const json_t *value)
{
    const char *text = json_string_value(value);
    (void) mem;
    return *text != '\0' && json_pointer_is_good(text) ? NULL : "must be a JSON Pointer";
}

static const char *
managed_uri_rule(TALLOC_CTX *mem, const json_t *value)
{
    struct uri uri;
    return uri_parse(mem, json_string_value(value), &uri) == AZ_OK && uri.fragment == NULL
               ? NULL
               : "must be an absolute URI without a fragment";
}

/* ---- the table */

/* Lifetime of the JWT for an upstream behind a web server, in seconds. The web server gets it with
 * the answer to the request that it goes with, so a minute is enough; a cache of answers may need
 * more. */
#define EDGE_LIFETIME_MIN 10
#define EDGE_LIFETIME_DEFAULT 60
#define EDGE_LIFETIME_MAX 300

/* Octets of an answer of an MCP server: a model reads some thousand, and an image has some million.
 * With the largest, a worker may hold fifty times as much for a moment (json_rpc.h). */
#define RESULT_MIN 1024
#define RESULT_DEFAULT (4 << 20)
#define RESULT_MAX (16 << 20)

static const char *const upstream_types[] = {"REST", "MCP", "STATIC", NULL};
static const char *const pinnings[] = {"block", "warn", NULL};
static const char *const list_ways[] = {"auto", "all", "search", NULL};
static const char *const resource_ways[] = {"none", "live", NULL};
static const char *const prompt_ways[] = {"none", "pinned", NULL};

extern const struct field_table managed_route_table, managed_tool_table, managed_auth_table,
    managed_interaction_table, managed_cors_table;

/* clang-format off */
static const struct field filter_fields[] = {
    {"include", FIELD_TEXT_LIST, .max = MANAGED_NAMES_MAX, .item_max = MANAGED_WORD_MAX,
     FIELD_INTO(struct raw_filter, include),
     .help = "Globs of the names that are served; all if it is left out",
     .example = "[\"list_*\"]"},
    {"exclude", FIELD_TEXT_LIST, .max = MANAGED_NAMES_MAX, .item_max = MANAGED_WORD_MAX,
     FIELD_INTO(struct raw_filter, exclude),
     .help = "Globs of the names that are not served, even if include has them",
     .example = "[\"delete_*\"]"},
};
static const struct field_table filter_table = FIELD_TABLE(NULL, filter_fields, 0);

static const struct field edge_jwt_fields[] = {
    {"audience", FIELD_TEXT,    .required = true, .max = FIELD_URI_MAX, .rule = managed_uri_rule,
     FIELD_INTO(struct managed_resource, edge_audience),
     .help = "aud of the JWT: an absolute URI that the upstream knows as its own",
     .example = "\"https://shop.example/api\""},
    {"lifetime", FIELD_INTEGER, .min = EDGE_LIFETIME_MIN, .max = EDGE_LIFETIME_MAX,
     FIELD_INTO(struct managed_resource, edge_lifetime),
     .help = "Seconds for which it is valid, 60 by default; never longer than the access token",
     .example = "60"},
};
static const struct field_table edge_jwt_table = FIELD_TABLE(NULL, edge_jwt_fields, 0);

#define INTO(member) FIELD_INTO(struct raw_resource, member)
static const struct field resource_fields[] = {
    {"name",             FIELD_TEXT,      .max = MANAGED_NAME_MAX, .rule = managed_name_rule,
     INTO(resource.name), .help = "Name in paths: /gateway/{name}; a POST needs it",
     .example = "\"github\""},
    {"displayName",      FIELD_TEXT,      .required = true, .max = FIELD_NAME_MAX,
     .rule = field_rule_visible, INTO(resource.display_name), .help = "Name for people",
     .example = "\"GitHub\""},
    {"upstreamType",     FIELD_TEXT,      .required = true, .words = upstream_types,
     INTO(upstream_type), .help = "REST, MCP, or STATIC: the routes have their answers",
     .example = "\"REST\""},
    {"upstreamUrl",      FIELD_TEXT,      .max = FIELD_URI_MAX, INTO(resource.upstream_url),
     .help = "Address of the upstream, https unless SVC_GATEWAY_ALLOWED_INSECURE_HOSTS has its "
             "host", .example = "\"https://api.github.com\""},
    {"defaultScope",     FIELD_TEXT,      .max = MANAGED_WORD_MAX, .rule = managed_scope_rule,
     INTO(resource.default_scope), .help = "Scope of routes and tools that name none",
     .example = "\"github:read\""},
    {"resourceType",     FIELD_TEXT,      .max = FIELD_URI_MAX, .rule = field_rule_visible,
     INTO(resource.resource_type), .help = "Type URI, for policy",
     .example = "\"urn:svc:rt:github\""},
    {"enabled",          FIELD_BOOLEAN,   INTO(resource.enabled), .absent_is_true = true,
     .help = "false: the gateway answers 404, and its tools are hidden", .example = "true"},
    {"routes",           FIELD_ARRAY,     .max = MANAGED_ROUTES_MAX, .shape = &managed_route_table,
     INTO(routes), .help = "Requests that pass; any other is answered with 404"},
    {"tools",            FIELD_ARRAY,     .max = MANAGED_TOOLS_MAX, .shape = &managed_tool_table,
     INTO(tools), .help = "Tools for MCP clients; those of an MCP upstream come with a sync"},
    {"upstreamAuth",     FIELD_OBJECT,    .shape = &managed_auth_table, INTO(auth),
     .help = "Credential for the upstream; a secret is never shown, only {\"set\": true}",
     .example = "{\"type\": \"none\"}"},
    {"requestHeaders",   FIELD_OBJECT,    .rule = header_request_rule, INTO(headers),
     .help = "Header fields that are added to each request"},
    {"toolFilter",       FIELD_OBJECT,    .shape = &filter_table, INTO(filter),
     .help = "Names of the tools that are served"},
    {"toolList",         FIELD_TEXT,      .words = list_ways, INTO(tool_list),
     .help = "What tools/list of /gateway/mcp/{name} shows: all tools; with search, two tools that "
             "find and call the others; with auto, the default, the search if the caller may use "
             "more than 60", .example = "\"auto\""},
    {"toolPinning",      FIELD_TEXT,      .words = pinnings, INTO(pinning),
     .help = "MCP: with block, a tool that is new or changed is served after its approval; with "
             "warn, at once", .example = "\"block\""},
    {"mcpResources",     FIELD_TEXT,      .words = resource_ways, INTO(mcp_resources),
     .help = "MCP: with live, its resources are listed and read at /gateway/mcp/{name} and "
             "/gateway/mcp, each read decided by policy; with none, the default, there are "
             "none", .example = "\"none\""},
    {"resourceQueries",  FIELD_BOOLEAN,   INTO(resource.resource_queries),
     .help = "MCP, with mcpResources live: URIs with a query pass too; a server may ignore a "
             "query, so rules must look at the URI before it", .example = "false"},
    {"subscriptions",    FIELD_BOOLEAN,   INTO(resource.subscriptions),
     .help = "MCP, with mcpResources live: clients may subscribe to its resources, and learn when "
             "the upstream says that one changed; its credential must be no "
             "person's", .example = "false"},
    {"mcpPrompts",       FIELD_TEXT,      .words = prompt_ways, INTO(mcp_prompts),
     .help = "MCP: with pinned, a sync reads its prompts, and those that are approved are served, "
             "each decided by policy; with none, the default, there are "
             "none", .example = "\"none\""},
    {"mcpInstructions",  FIELD_TEXT,      .words = prompt_ways, INTO(mcp_instructions),
     .help = "MCP: with pinned, a sync reads what the server says to the model about its tools, "
             "and clients get it once it is approved, if policy allows; with none, the default, "
             "they get nothing of it", .example = "\"none\""},
    {"maxResultBytes",   FIELD_INTEGER,   .min = RESULT_MIN, .max = RESULT_MAX,
     INTO(resource.max_result),
     .help = "MCP: octets of one answer of the upstream, 4 MiB by default; "
             "SVC_GATEWAY_MAX_BODY_SIZE holds too"},
    {"interaction",      FIELD_OBJECT,    .shape = &managed_interaction_table, INTO(interaction),
     .help = "MCP: the questions that the upstream may ask the caller while it answers; each is "
             "decided by policy, and all are off by default", .example = "{\"form\": false}"},
    {"publicUrls",       FIELD_TEXT_LIST, .max = MANAGED_PUBLIC_URLS_MAX,
     .item_max = MANAGED_WORD_MAX, INTO(public_urls),
     .help = "REST and STATIC: addresses under which a web server serves it, which asks GET "
             "/auth/check about each request; of no other "
             "resource", .example = "[\"https://shop.example/api\"]"},
    {"edgeJwt",          FIELD_OBJECT,    .shape = &edge_jwt_table, INTO(edge_jwt),
     .help = "With publicUrls: the answer of /auth/check has a signed JWT for the upstream "
             "(X-Authz-Jwt)", .example = "{\"audience\": \"https://shop.example/api\"}"},
    {"cors",             FIELD_OBJECT,    .shape = &managed_cors_table, INTO(cors),
     .help = "REST and STATIC: the pages of other origins that may call it at /gateway/{name}; "
             "none without it", .example = "{\"origins\": [\"https://app.example\"]}"},
    {"connectorId",      FIELD_READ_ONLY, .shown = FIELD_TEXT, .help = "Connector that made it"},
    {"connectorVersion", FIELD_READ_ONLY, .shown = FIELD_TEXT, .help = "Version of that connector"},
    {"status",           FIELD_READ_ONLY, .shown = FIELD_TEXT,
     .help = "pending, active, degraded, error or disabled", .example = "\"active\""},
    {"statusReason",     FIELD_READ_ONLY, .shown = FIELD_TEXT,
     .help = "Reason why it is not active"},
    {"leftOut",          FIELD_READ_ONLY, .shown = FIELD_ARRAY,
     .help = "Tools and routes of the stored document that are not served, because today's rules "
             "or settings would refuse them: kind, name and why"},
    {"statusChangedAt",  FIELD_READ_ONLY, .shown = FIELD_TEXT,
     .help = "Time since which it has this status"},
    {"sharedRedirect",   FIELD_READ_ONLY, .shown = FIELD_BOOLEAN,
     .help = "true: people come back from its authorization server at the address that resources "
             "share (upstreamAuth.redirectUri), so an answer may be that of another resource's "
             "server"},
    {"lastProbe",        FIELD_READ_ONLY, .shown = FIELD_OBJECT,
     .help = "Outcome of the last probe: at, ok, httpStatus, latencyMs and error"},
    {"toolCount",        FIELD_READ_ONLY, .shown = FIELD_INTEGER, .help = "Number of its tools"},
    {"waitingTools",     FIELD_READ_ONLY, .shown = FIELD_INTEGER,
     .help = "Of a summary: tools that wait for an approval"},
    {"syncedAt",         FIELD_READ_ONLY, .shown = FIELD_TEXT,
     .help = "Time at which the tools of an MCP upstream were last read"},
};
const struct field_table managed_resource_table = FIELD_TABLE("ManagedResourceDto", resource_fields,
                                                              0);
/* clang-format on */

/* ---- the members of the document */

const char *
reader_address_fault(struct reader *reader, const char *url, bool *ret_listed)
{
    struct uri uri;
    if (uri_parse(reader->mem, url, &uri) != AZ_OK || uri.host == NULL || *uri.host == '\0')
        return "is not a URL with a host";
    if (uri.userinfo != NULL || uri.fragment != NULL)
        return "must not have user information or a fragment";
    /*
     * Refuse a URL that two parsers may read differently: a trusted name could hide another
     * host.
     */
    if (strchr(uri.host, ':') == NULL && uri.host[strspn(uri.host, HOST_CHARS)] != '\0')
        return "must have a host of letters, digits, dots and hyphens";
    bool listed = uri_host_is_listed(reader->reading->insecure_hosts, uri.host);
    if (ret_listed != NULL)
        *ret_listed = listed;
    if (strcmp(uri.scheme, "https") == 0 || (strcmp(uri.scheme, "http") == 0 && listed))
        return NULL;
    return "must be an https URL; SVC_GATEWAY_ALLOWED_INSECURE_HOSTS can allow http for a host";
}

static void
read_url(struct reader *reader)
{
    struct managed_resource *resource = reader->resource;
    const char *url = resource->upstream_url;
    if (resource->upstream == MANAGED_STATIC && url != NULL)
        reader_tell(reader, "upstreamUrl", "is for REST and MCP resources only");
    if (resource->upstream == MANAGED_STATIC)
        return;
    if (url == NULL) {
        reader_missing(reader, "upstreamUrl");
        return;
    }
    const char *why = reader_address_fault(reader, url, &resource->insecure_host);
    if (why == NULL && strpbrk(url, "?{}") != NULL)
        why = "must not have a query or a variable";
    if (why != NULL)
        reader_tell(reader, "upstreamUrl", why);
}

static void
read_filter(struct reader *reader, const json_t *object)
{
    struct raw_filter filter = {.include = NULL};
    if (object == NULL)
        return;
    reader->at = "toolFilter.";
    if (reader_fields(reader, &filter_table, object, &filter)) {
        reader->resource->tool_include = reader_list(reader, filter.include);
        reader->resource->tool_exclude = reader_list(reader, filter.exclude);
    }
    reader->at = "";
}

/* Read the addresses of a web server in front of the resource. They have one spelling, so that a
 * request's address is compared as text. */
static void
read_public_urls(struct reader *reader, const json_t *urls)
{
    struct managed_resource *resource = reader->resource;
    size_t index;
    const json_t *url;
    json_array_foreach (urls, index, url) {
        const char *text = json_string_value(url);
        const char *why = reader_address_fault(reader, text, NULL);
        if (why == NULL
            && (!uri_is_canonical(text) || strpbrk(text, "?#{}%;") != NULL
                || strstr(strstr(text, "://") + 3, "//") != NULL || text[strlen(text) - 1] == '/'))
            why = "must be in its one spelling (RFC 3986 6.2.2), without a query, an encoding, an "
                  "empty segment or a slash at the end";
        if (why != NULL)
            reader_tell_text(reader, "publicUrls", "[%zu] %s", index, why);
    }
    if (json_array_size(urls) > 0 && resource->upstream == MANAGED_MCP)
        reader_tell(reader, "publicUrls", "is for REST and STATIC resources only");
    resource->public_urls = reader_list(reader, urls);
}

/* Read how the JWT for an upstream behind a web server is made. */
static void
read_edge_jwt(struct reader *reader, const json_t *object)
{
    struct managed_resource *resource = reader->resource;
    resource->edge_lifetime = EDGE_LIFETIME_DEFAULT;
    if (object != NULL && (resource->public_urls == NULL || *resource->public_urls == NULL))
        reader_tell(reader, "edgeJwt", "needs publicUrls");
    reader_part(reader, "edgeJwt", &edge_jwt_table, object, resource);
}

/* Read what MCP upstreams alone have. */
static void
read_mcp(struct reader *reader, const struct raw_resource *raw)
{
    struct managed_resource *resource = reader->resource;
    bool other = resource->upstream != MANAGED_MCP;
    resource->live_resources =
        raw->mcp_resources != NULL && strcmp(raw->mcp_resources, "live") == 0;
    resource->has_resources = resource->live_resources;
    resource->pinned_prompts = raw->mcp_prompts != NULL && strcmp(raw->mcp_prompts, "pinned") == 0;
    if (resource->live_resources && other)
        reader_tell(reader, "mcpResources", "is for MCP resources only");
    if (resource->resource_queries && !resource->live_resources)
        reader_tell(reader, "resourceQueries", "needs mcpResources live");
    if (resource->pinned_prompts && other)
        reader_tell(reader, "mcpPrompts", "is for MCP resources only");
    resource->pinned_instructions =
        raw->mcp_instructions != NULL && strcmp(raw->mcp_instructions, "pinned") == 0;
    if (resource->pinned_instructions && other)
        reader_tell(reader, "mcpInstructions", "is for MCP resources only");
    if (resource->max_result != 0 && other)
        reader_tell(reader, "maxResultBytes", "is for MCP resources only");
    if (resource->max_result == 0)
        resource->max_result = RESULT_DEFAULT;
    reader_interaction(reader, raw->interaction);
}

/* Check that changes can be heard: by a connection that is no person's, of resources that are
 * served. */
static void
read_subscriptions(struct reader *reader)
{
    const struct managed_resource *resource = reader->resource;
    enum managed_auth_type type = resource->auth.type;
    if (!resource->subscriptions)
        return;
    if (!resource->live_resources)
        reader_tell(reader, "subscriptions", "needs mcpResources live");
    if (type != MANAGED_AUTH_NONE && !managed_auth_is_shared(type))
        reader_tell(reader, "subscriptions",
                    "needs an upstreamAuth that is the same for all persons");
}

enum az_status
managed_read(const struct managed_reading *reading, struct managed_resource *ret)
{
    struct raw_resource raw = {.resource = {.enabled = true}};
    struct managed_resource *resource = &raw.resource;
    struct reader reader = {
        .reading = reading, .mem = reading->mem, .resource = resource, .at = ""};
    reader_fields(&reader, &managed_resource_table, reading->document, &raw);
    /* Not in the table: a PUT has it in its path. */
    const json_t *name = json_object_get(reading->document, "name");
    if (name == NULL || json_is_null(name))
        reader_tell(&reader, "name", "is required");
    /* Continue after a fault, so that one answer has all faults; without a name by another one, and
     * not without the type, which says what may be there. */
    if (resource->name == NULL)
        resource->name = NAME_UNKNOWN;
    if (raw.upstream_type != NULL) {
        resource->upstream = managed_upstream_of(raw.upstream_type);
        resource->pinning = raw.pinning != NULL && strcmp(raw.pinning, "warn") == 0
                                ? MANAGED_PINNING_WARN
                                : MANAGED_PINNING_BLOCK;
        resource->tool_list =
            raw.tool_list != NULL ? managed_tool_list_of(raw.tool_list) : MANAGED_LIST_AUTO;
        read_mcp(&reader, &raw);
        read_url(&reader);
        read_public_urls(&reader, raw.public_urls);
        read_edge_jwt(&reader, raw.edge_jwt);
        reader_cors(&reader, raw.cors);
        resource->request_headers = reader_headers(&reader, "requestHeaders", raw.headers, NULL);
        reader_auth(&reader, raw.auth);
        reader_credential_apart(&reader, "requestHeaders", raw.headers);
        read_subscriptions(&reader);
        read_filter(&reader, raw.filter);
        reader_routes(&reader, raw.routes);
        reader_tools(&reader, raw.tools);
    }
    if (reader.lost)
        return AZ_SERVER_ERROR;
    if (reader.faulty)
        return AZ_INVALID;
    *ret = raw.resource;
    return AZ_OK;
}
