#include "config.h"

#include <string.h>

#include "base/b64url.h"
#include "base/json/field_rules.h"
#include "base/json/jsonx.h"
#include "base/words.h"
#include "managed/headers.h"
#include "managed/pattern.h"
#include "managed/reader.h"

/* Largest answer of a STATIC route, in octets: it is read with every request. */
#define ANSWER_MAX (256 << 10)
/* Largest body that a route may ask for, and the longest time in milliseconds. */
#define BODY_MAX (1 << 30)
#define TIMEOUT_MAX (3600 * 1000)
#define RETRIES_MAX 2

static const char *const methods[] = {"GET",   "HEAD",   "POST",    "PUT",
                                      "PATCH", "DELETE", "OPTIONS", NULL};
static const char *const origins[] = {"local", "manifest", NULL};
static const char *const retry_events[] = {"connect", NULL};

/* A route as it stands in the document. */
struct raw_route {
    struct managed_route route;
    const char *upstream_path;
    const json_t *methods, *query, *request_headers, *forward_headers, *response, *retry,
        *success_when, *mcp;
};

struct raw_answer {
    int64_t status;
    const json_t *headers, *json;
    const char *body, *base64;
};

/* Return the fault of a name in a URI template (RFC 6570 2.3), without encoded octets. */
static const char *
variable_rule(TALLOC_CTX *mem, const json_t *value)
{
    const char *text = json_string_value(value);
    (void) mem;
    return text[strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")]
                   == '\0'
               ? NULL
               : "must have letters, digits and underscores only";
}

/* clang-format off */
static const struct field query_fields[] = {
    {"allow",  FIELD_TEXT_LIST, .max = MANAGED_NAMES_MAX, .item_max = MANAGED_WORD_MAX,
     .help = "Names of the parameters that pass; all if it is left out. A rule about a parameter "
             "needs it. The gateway leaves the others out, and a door refuses the "
             "request", .example = "[\"state\", \"page\"]"},
    {"repeat", FIELD_TEXT_LIST, .max = MANAGED_NAMES_MAX, .item_max = MANAGED_WORD_MAX,
     .help = "Names of those that may come several times; policy sees an array of their values. "
             "Another one that does is answered with 400, in other spellings too: a, A, a[] and "
             "a[0] are one", .example = "[\"label\"]"},
};
static const struct field_table query_table = FIELD_TABLE(NULL, query_fields, 0);

static const struct field retry_fields[] = {
    {"attempts", FIELD_INTEGER,   .required = true, .min = 0, .max = RETRIES_MAX,
     FIELD_INTO(struct managed_route, retries), .help = "More attempts after the first",
     .example = "1"},
    {"on",       FIELD_TEXT_LIST, .words = retry_events, .max = 4,
     .help = "connect: the connection failed; the default"},
};
static const struct field_table retry_table = FIELD_TABLE(NULL, retry_fields, 0);

static const struct field success_fields[] = {
    {"pointer", FIELD_TEXT, .required = true, .max = FIELD_NAME_MAX, .rule = managed_pointer_rule,
     FIELD_INTO(struct managed_route, success_pointer),
     .help = "JSON Pointer into the answer (RFC 6901)", .example = "\"/ok\""},
    {"equals",  FIELD_ANY,  FIELD_INTO(struct managed_route, success_equals),
     .help = "Value found there in an answer that is not a failure", .example = "true"},
};
static const struct field_table success_table = FIELD_TABLE(NULL, success_fields, 0);

static const struct field answer_fields[] = {
    {"status",  FIELD_INTEGER, .min = 200, .max = 599, FIELD_INTO(struct raw_answer, status),
     .help = "Status code; 200 if it is left out"},
    {"headers", FIELD_OBJECT,  .rule = header_answer_rule, FIELD_INTO(struct raw_answer, headers),
     .help = "Header fields by name"},
    {"json",    FIELD_ANY,     FIELD_INTO(struct raw_answer, json),
     .help = "Body as JSON; json, body and base64 exclude each other"},
    {"body",    FIELD_TEXT,    .may_be_empty = true, .max = ANSWER_MAX,
     FIELD_INTO(struct raw_answer, body), .help = "Body as text"},
    {"base64",  FIELD_TEXT,    .max = ANSWER_MAX / 3 * 4 + 4, FIELD_INTO(struct raw_answer, base64),
     .help = "Body in base64"},
};
static const struct field_table answer_table = FIELD_TABLE(NULL, answer_fields, 0);

static const struct field mcp_fields[] = {
    {"name",        FIELD_TEXT,      .required = true, .max = MANAGED_WORD_MAX,
     .rule = field_rule_visible, FIELD_INTO(struct managed_route_resource, name),
     .help = "Name of the MCP resource", .example = "\"issue\""},
    {"title",       FIELD_TEXT,      .max = FIELD_NAME_MAX,
     FIELD_INTO(struct managed_route_resource, title), .help = "Title for people"},
    {"description", FIELD_TEXT,      .max = MANAGED_TEXT_MAX,
     FIELD_INTO(struct managed_route_resource, description),
     .help = "Says to models what it holds"},
    {"mimeType",    FIELD_TEXT,      .max = MANAGED_WORD_MAX, .rule = field_rule_visible,
     FIELD_INTO(struct managed_route_resource, mime_type),
     .help = "Media type of the contents; that of the answer if it is left out",
     .example = "\"application/json\""},
    {"query",       FIELD_TEXT_LIST, .max = MANAGED_VARIABLES_MAX, .item_max = MANAGED_WORD_MAX,
     .rule = variable_rule, .help = "Parameters of the query that the URI template has",
     .example = "[\"state\"]"},
};
static const struct field_table mcp_table = FIELD_TABLE(NULL, mcp_fields, 0);

static const struct field route_fields[] = {
    {"id",             FIELD_TEXT,      .required = true, .max = MANAGED_WORD_MAX,
     .rule = managed_word_rule, FIELD_INTO(struct raw_route, route.id),
     .help = "Name of the route within its resource", .example = "\"list-issues\""},
    {"methods",        FIELD_TEXT_LIST, .min = 1, .max = 7, .words = methods,
     FIELD_INTO(struct raw_route, methods), .help = "Methods; GET if it is left out",
     .example = "[\"GET\"]"},
    {"path",           FIELD_TEXT,      .required = true, .max = MANAGED_PATTERN_MAX, FIELD_INTO(struct raw_route, route.path), .help = "Path below the resource: literal segments, {variable} segments, and /** at the end", .example = "\"/repos/{owner}/{repo}/issues\""},
    {"upstreamPath",   FIELD_TEXT,      .max = MANAGED_PATTERN_MAX,
     FIELD_INTO(struct raw_route, upstream_path),
     .help = "Path below upstreamUrl, with variables of path; path if it is left out"},
    {"action",         FIELD_TEXT,      .max = MANAGED_WORD_MAX, .rule = managed_word_rule,
     FIELD_INTO(struct raw_route, route.action),
     .help = "Name of the action for policy; the id if it is left out",
     .example = "\"issues.list\""},
    {"scopes",         FIELD_TEXT_LIST, .max = MANAGED_SCOPES_MAX, .item_max = MANAGED_WORD_MAX,
     .rule = managed_scope_rule, FIELD_INTO(struct raw_route, route.scopes),
     .help = "Scopes that a request needs; defaultScope if it is left out",
     .example = "[\"github:read\"]"},
    {"query",          FIELD_OBJECT,    .shape = &query_table, FIELD_INTO(struct raw_route, query),
     .help = "Parameters of the query that pass; all if it is left out"},
    {"maxBodyBytes",   FIELD_INTEGER,   .min = 1, .max = BODY_MAX,
     FIELD_INTO(struct raw_route, route.max_body), .help = "Octets of the body of a request",
     .example = "65536"},
    {"timeoutMs",      FIELD_INTEGER,   .min = 1, .max = TIMEOUT_MAX,
     FIELD_INTO(struct raw_route, route.timeout_ms), .help = "Time for the answer, in milliseconds",
     .example = "10000"},
    {"requestHeaders", FIELD_OBJECT,    .rule = header_request_rule,
     FIELD_INTO(struct raw_route, request_headers),
     .help = "Header fields that are added to each request",
     .example = "{\"X-GitHub-Api-Version\": \"2022-11-28\"}"},
    {"forwardHeaders", FIELD_TEXT_LIST, .max = MANAGED_HEADERS_MAX, .item_max = MANAGED_WORD_MAX,
     .rule = header_forward_rule, FIELD_INTO(struct raw_route, forward_headers),
     .help = "Names of more header fields of the caller that are passed on",
     .example = "[\"Idempotency-Key\"]"},
    {"response",       FIELD_OBJECT,    .shape = &answer_table,
     FIELD_INTO(struct raw_route, response), .help = "Answer of a route of a STATIC resource"},
    {"preserveHost",   FIELD_BOOLEAN,   FIELD_INTO(struct raw_route, route.preserve_host),
     .help = "Send the host of SVC_OIDC_ISSUER as Host, in place of the upstream's"},
    {"encodedSlash",   FIELD_BOOLEAN,   FIELD_INTO(struct raw_route, route.encoded_slash),
     .help = "true: the upstream does not take %2F for a slash, so the values of variables may "
             "have it, and it makes no path ambiguous", .example = "true"},
    {"retry",          FIELD_OBJECT,    .shape = &retry_table, FIELD_INTO(struct raw_route, retry),
     .help = "Attempts of a request whose method is idempotent"},
    {"successWhen",    FIELD_OBJECT,    .shape = &success_table,
     FIELD_INTO(struct raw_route, success_when),
     .help = "Value without which an answer counts as a failure, whatever its status"},
    {"mcpResource",    FIELD_OBJECT,    .shape = &mcp_table, FIELD_INTO(struct raw_route, mcp),
     .help = "The route is an MCP resource, or a template of them, at /gateway/mcp/{name} and "
             "/gateway/mcp: a read is its GET"},
    {"obligations",    FIELD_OBJECT,    .rule = managed_object_rule,
     FIELD_INTO(struct raw_route, route.obligations),
     .help = "Obligations that are added to those of policy"},
    {"enabled",        FIELD_BOOLEAN,   FIELD_INTO(struct raw_route, route.enabled),
     .absent_is_true = true,
     .help = "false: its requests are 404, also where a wider route has their path",
     .example = "true"},
    {"origin",         FIELD_TEXT,      .words = origins,
     FIELD_INTO(struct raw_route, route.origin),
     .help = "local, or manifest: it came with a connector"},
};
const struct field_table managed_route_table = FIELD_TABLE("ManagedRoute", route_fields, 0);
/* clang-format on */

/* ---- answers of STATIC routes */

/* Take the body of an answer, which is given in exactly one form. */
static const char *
answer_body(struct reader *reader, const struct raw_answer *raw, struct managed_answer *answer)
{
    unsigned char *octets;
    if ((raw->json != NULL) + (raw->body != NULL) + (raw->base64 != NULL) > 1)
        return "must have one of json, body and base64 only";
    if (raw->json != NULL) {
        answer->body = jsonx_dump(reader->mem, raw->json);
        answer->length = answer->body != NULL ? strlen(answer->body) : 0;
        reader->lost = reader->lost || answer->body == NULL;
    } else if (raw->body != NULL) {
        answer->body = raw->body;
        answer->length = strlen(raw->body);
    } else if (raw->base64 != NULL) {
        enum az_status st = b64_decode_lenient(reader->mem, raw->base64, strlen(raw->base64),
                                               &octets, &answer->length);
        if (st != AZ_OK)
            return "has a base64 that is not base64";
        answer->body = octets;
    } else {
        answer->body = "";
    }
    return answer->length > ANSWER_MAX ? "has a body of more than 262144 octets" : NULL;
}

/* A JSON body gets the content type of JSON, unless its header fields have another. */
static struct managed_headers
answer_headers(struct reader *reader, const struct raw_answer *raw)
{
    static const struct managed_header json[] = {
        {"Content-Type", "application/json"}
    };
    static const struct managed_headers typed = {.item = json, .count = 1};
    return reader_headers(reader, "response", raw->headers, raw->json != NULL ? &typed : NULL);
}

static void
managed_read_answer(struct reader *reader, const json_t *object, struct managed_route *route)
{
    struct raw_answer raw = {.status = 200};
    struct managed_answer *answer = talloc_zero(reader->mem, struct managed_answer);
    if (answer == NULL) {
        reader->lost = true;
        return;
    }
    if (!reader_part(reader, "response", &answer_table, object, &raw))
        return;
    answer->status = (int) raw.status;
    answer->headers = answer_headers(reader, &raw);
    const char *why = answer_body(reader, &raw, answer);
    if (why == NULL && (answer->status == 204 || answer->status == 304) && answer->length > 0)
        why = "has a body, which its status does not allow";
    if (why == NULL && answer->status != 201 && answer->status / 100 != 3
        && managed_headers_have(&answer->headers, "Location"))
        why = "has a Location, which only 201 and 3xx may have (RFC 3875 6.2.2)";
    if (why != NULL)
        reader_tell(reader, "response", why);
    route->response = answer;
}

/* ---- the rules of one route */

static bool
read_pattern(struct reader *reader, const char *member, const char *text,
             struct managed_pattern *ret)
{
    const char *why = NULL;
    enum az_status st = managed_pattern_read(reader->mem, text, ret, &why);
    if (st == AZ_INVALID)
        reader_tell(reader, member, why);
    reader->lost = reader->lost || st == AZ_SERVER_ERROR;
    return st == AZ_OK;
}

/* Every variable of upstreamPath gets its value from path, so do the asterisks. */
static void
read_patterns(struct reader *reader, const struct raw_route *raw, struct managed_route *route)
{
    if (!read_pattern(reader, "path", route->path, &route->pattern))
        return;
    route->upstream_pattern = route->pattern;
    if (raw->upstream_path == NULL
        || !read_pattern(reader, "upstreamPath", raw->upstream_path, &route->upstream_pattern))
        return;
    for (size_t i = 0; i < route->upstream_pattern.count; i++) {
        const struct managed_segment *segment = &route->upstream_pattern.segment[i];
        if (segment->variable && !managed_pattern_has(&route->pattern, segment->text))
            reader_tell_text(reader, "upstreamPath", "has {%s}, which is not in path",
                             segment->text);
    }
    if (route->upstream_pattern.rest != route->pattern.rest)
        reader_tell(reader, "upstreamPath", "must end with /** exactly if path does");
}

static void
read_methods(struct reader *reader, const json_t *array, struct managed_route *route)
{
    static const char *const only_get[] = {"GET", NULL};
    route->methods = array != NULL ? reader_list(reader, array) : only_get;
}

/* A request that was sent and not answered may have been carried out (RFC 9110 9.2.2). */
static void
check_retry(struct reader *reader, const struct managed_route *route)
{
    if (route->retries > 0
        && (words_has(route->methods, "POST") || words_has(route->methods, "PATCH")))
        reader_tell(reader, "retry", "cannot be used with POST or PATCH, which are not idempotent");
}

static void
managed_read_scopes(struct reader *reader, struct managed_route *route)
{
    const char *scope = reader->resource->default_scope;
    if (route->scopes != NULL)
        return;
    route->scopes = jsonx_own(reader->mem, scope != NULL ? json_pack("[s]", scope) : json_array());
    reader->lost = reader->lost || route->scopes == NULL;
}

/* Read the route as an MCP resource. The parameters of its template must be those that pass. */
static void
read_resource(struct reader *reader, const json_t *object, struct managed_route *route)
{
    struct managed_route_resource *mcp = talloc_zero(reader->mem, struct managed_route_resource);
    reader->lost = reader->lost || mcp == NULL;
    if (object == NULL || mcp == NULL
        || !reader_part(reader, "mcpResource", &mcp_table, object, mcp))
        return;
    mcp->query = reader_list(reader, json_object_get(object, "query"));
    for (const char **name = mcp->query; name != NULL && *name != NULL; name++)
        if (route->query_allow != NULL && !words_has(route->query_allow, *name))
            reader_tell_text(reader, "mcpResource.query", "has %s, which query.allow has not",
                             *name);
    if (!reader->lost && !words_has(route->methods, "GET"))
        reader_tell(reader, "mcpResource", "is for routes with the method GET");
    route->mcp = mcp;
    reader->resource->has_resources = true;
}

/* A route of a STATIC resource has its answer; the others have an upstream. */
static void
read_side(struct reader *reader, const struct raw_route *raw, struct managed_route *route)
{
    bool is_static = reader->resource->upstream == MANAGED_STATIC;
    if (is_static && raw->response == NULL)
        reader_tell(reader, "response", "is required for a STATIC resource");
    else if (is_static)
        managed_read_answer(reader, raw->response, route);
    else if (raw->response != NULL)
        reader_tell(reader, "response", "is for STATIC resources only");
}

static void
read_route(struct reader *reader, const json_t *object, struct managed_route *route)
{
    struct raw_route raw = {
        .route = {.enabled = true, .origin = "local"}
    };
    bool good = reader_fields(reader, &managed_route_table, object, &raw);
    route->id = raw.route.id; /* for its tools and the other routes, also after a fault */
    bool whole = reader_part(reader, "query", &query_table, raw.query, NULL);
    whole = reader_part(reader, "retry", &retry_table, raw.retry, &raw.route) && whole;
    whole =
        reader_part(reader, "successWhen", &success_table, raw.success_when, &raw.route) && whole;
    if (!good || !whole)
        return;
    *route = raw.route;
    if (route->action == NULL)
        route->action = route->id;
    read_methods(reader, raw.methods, route);
    read_patterns(reader, &raw, route);
    managed_read_scopes(reader, route);
    read_side(reader, &raw, route);
    const json_t *allow = json_object_get(raw.query, "allow");
    if (raw.query != NULL && allow == NULL && json_object_get(raw.query, "repeat") == NULL)
        reader_tell(reader, "query.allow", "is required");
    route->query_allow = reader_list(reader, allow);
    route->query_allow_count = json_array_size(allow);
    route->query_repeat = reader_list(reader, json_object_get(raw.query, "repeat"));
    read_resource(reader, raw.mcp, route);
    route->forward_headers = reader_list(reader, raw.forward_headers);
    route->request_headers = reader_headers(reader, "requestHeaders", raw.request_headers,
                                            &reader->resource->request_headers);
    reader_credential_apart(reader, "requestHeaders", raw.request_headers);
    reader_credential_apart(reader, "forwardHeaders", raw.forward_headers);
    if (route->success_pointer != NULL && route->success_equals == NULL)
        reader_tell(reader, "successWhen.equals", "is required");
    if (!reader->lost)
        check_retry(reader, route);
}

/* Refuse an id twice. In a stored document both routes are left out: a rule or tool that names the
 * id could mean either. */
static void
managed_check_ids(struct reader *reader, const struct managed_route *route, size_t count,
                  struct managed_left_out *parts)
{
    static const char why[] = "is the id of another route";
    for (size_t i = 0; i < count; i++) {
        if (route[i].id == NULL || route[count].id == NULL
            || strcmp(route[i].id, route[count].id) != 0)
            continue;
        reader_tell(reader, "id", why);
        if (!reader->reading->stored)
            return;
        reader->part = &parts[i];
        reader_tell(reader, "id", why);
        reader->part = &parts[count];
    }
}

/* Make a disabled route of one that is left out: with its path and methods, so that no wider route
 * gets its requests. False: what it takes cannot be read. */
static bool
disable_route(struct reader *reader, const json_t *object, struct managed_route *route)
{
    const json_t *list = json_object_get(object, "methods");
    const char *why = NULL;
    struct managed_route closed = {.id = json_string_value(json_object_get(object, "id")),
                                   .path = json_string_value(json_object_get(object, "path")),
                                   .scopes = jsonx_own(reader->mem, json_array()),
                                   .left_out = true,
                                   .origin = "local"};
    size_t index;
    const json_t *method;
    json_array_foreach (list, index, method)
        if (!json_is_string(method))
            return false;
    if (closed.id == NULL || closed.path == NULL
        || (list != NULL && !json_is_null(list) && !json_is_array(list))
        || managed_pattern_read(reader->mem, closed.path, &closed.pattern, &why) != AZ_OK)
        return false;
    read_methods(reader, json_is_array(list) ? list : NULL, &closed);
    closed.upstream_pattern = closed.pattern;
    closed.action = closed.id;
    *route = closed;
    return true;
}

/* Disable the routes that are left out, or refuse the document. */
static void
disable_routes(struct reader *reader, const json_t *routes, struct managed_route *route,
               const struct managed_left_out *parts)
{
    size_t index;
    json_t *object;
    json_array_foreach (routes, index, object)
        if (parts[index].why != NULL && !disable_route(reader, object, &route[index])) {
            const char *at = talloc_asprintf(reader->mem, "routes[%zu]", index);
            reader_tell(reader, at != NULL ? at : "routes", parts[index].why);
        }
}

void
reader_routes(struct reader *reader, const json_t *routes)
{
    struct managed_resource *resource = reader->resource;
    size_t index;
    json_t *object;
    if (json_array_size(routes) == 0)
        return;
    if (resource->upstream == MANAGED_MCP) {
        reader_tell(reader, "routes", "are for REST and STATIC resources only");
        return;
    }
    struct managed_route *route =
        talloc_zero_array(reader->mem, struct managed_route, (unsigned) json_array_size(routes));
    if (route == NULL) {
        reader->lost = true;
        return;
    }
    struct managed_left_out *parts = reader_parts(reader, routes);
    if (parts == NULL)
        return;
    json_array_foreach (routes, index, object) {
        reader_part_begin(reader, "route", "id", routes, index, parts);
        read_route(reader, object, &route[index]);
        managed_check_ids(reader, route, index, parts);
    }
    reader_parts_end(reader, parts, json_array_size(routes));
    disable_routes(reader, routes, route, parts);
    resource->route = route;
    resource->routes = json_array_size(routes);
}
