#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "base/log.h"
#include "base/uri.h"
#include "gateway/mcp/message/result.h"
#include "gateway/mcp/message/scoped_uri.h"
#include "gateway/mcp/message/shown_text.h"
#include "gateway/mcp/reads/routes.h"
#include "gateway/mcp/tools/catalogue.h"

/* One of the two lists. */
struct resource_kind {
    const char *method, *member;
    const char *address; /* member of an entry: its URI or template */
    bool template;
};

static const struct resource_kind resource_entries = {"resources/list", "resources", "uri", false};
static const struct resource_kind template_entries = {"resources/templates/list",
                                                      "resourceTemplates", "uriTemplate", true};

/* The cursor of a page at the endpoint of all resources: the number of the managed resource whose
 * entries it has. The cursor has no name, because the caller may be denied all entries of the
 * resource. */
#define CURSOR_FORMAT "r%" PRId64
#define CURSOR_MAX 32

/* The entries so far. */
struct resource_listing {
    struct mcp_exchange *it;
    const struct resource_kind *kind;
    const struct managed_resource *resource; /* whose entries they are */
    const struct managed_resource *next;     /* of the next page, or NULL */
    json_t *entries;
    const struct managed_route **route; /* of each entry; NULL: the entries come from an upstream */
    size_t octets, left_out;
};

/* ---- entries */

/* Put "1", which a scheme does not begin with and every other part may have, in the place of each
 * expression of a template, behind the mark of a query or fragment that the expression begins (RFC
 * 6570 3.2.4, 3.2.8). False: its braces are no pairs, or it has a character that no template may
 * have. */
static bool
fill_template(const char *text, char ret[URI_MAX + 1])
{
    bool inside = false;
    size_t length = 0;
    for (const char *c = text; *c != '\0' && length < URI_MAX; c++) {
        if (*c <= ' ' || *c > '~' || strchr("\"'<>\\^`|", *c) != NULL || (*c == '{' && inside)
            || (*c == '}' && !inside))
            return false;
        if (*c == '{' && (c[1] == '?' || c[1] == '#') && length < URI_MAX - 1)
            ret[length++] = c[1];
        if (*c == '{')
            ret[length++] = '1';
        else if (*c != '}' && !inside)
            ret[length++] = *c;
        inside = *c == '{' || (inside && *c != '}');
    }
    ret[length] = '\0';
    return !inside;
}

bool
resource_uri_is_sound(const struct managed_resource *resource, const char *text)
{
    return uri_is_canonical(text)
           && (strchr(text, '?') == NULL || resource->upstream != MANAGED_MCP
               || resource->resource_queries);
}

bool
resource_template_is_sound(const struct managed_resource *resource, const char *text)
{
    char filled[URI_MAX + 1];
    return strlen(text) <= URI_MAX && fill_template(text, filled)
           && resource_uri_is_sound(resource, filled);
}

/* Return an entry as clients see it: a new reference, JSON null if it is malformed, or NULL if out
 * of memory. */
static json_t *
shown_entry(const struct resource_listing *listing, const json_t *entry)
{
    TALLOC_CTX *mem = listing->it->req->op.mem;
    const struct resource_kind *kind = listing->kind;
    static const char *const texts[] = {"name", "title", "description", "mimeType"};
    const char *address = json_string_value(json_object_get(entry, kind->address));
    const json_t *size = json_object_get(entry, "size");
    if (address == NULL || !json_is_string(json_object_get(entry, "name"))
        || !(kind->template ? resource_template_is_sound(listing->resource, address)
                            : resource_uri_is_sound(listing->resource, address)))
        return json_null();
    struct jsonx_build shown = {json_pack("{s:s}", kind->address, address), false};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        const char *text = json_string_value(json_object_get(entry, texts[i]));
        if (text != NULL)
            jsonx_set(&shown, texts[i], shown_text(mem, text));
    }
    if (json_is_integer(size))
        jsonx_set(&shown, "size", json_integer(json_integer_value(size)));
    if (jsonx_built(&shown) == NULL)
        json_decref(shown.value);
    return jsonx_built(&shown);
}

/* Add the entries of a page. One that is malformed, or finds no room, is left out and counted. */
static enum az_status
add_page(struct resource_listing *listing, const json_t *page)
{
    struct op *op = &listing->it->req->op;
    size_t index;
    const json_t *entry;
    json_array_foreach (page, index, entry) {
        json_t *shown = jsonx_own(op->mem, shown_entry(listing, entry));
        const char *text = shown != NULL ? jsonx_dump(op->mem, shown) : NULL;
        if (text == NULL)
            return op_no_memory(op);
        if (json_is_null(shown) || json_array_size(listing->entries) == RESOURCES_MAX
            || listing->octets + strlen(text) > RESOURCES_OCTETS_MAX) {
            listing->left_out++;
            continue;
        }
        listing->octets += strlen(text);
        json_array_append(listing->entries, shown);
    }
    return AZ_OK;
}

/* Add the routes of a resource that is no MCP server. One whose URI is not in its one spelling is
 * left out. */
static enum az_status
add_routes(struct resource_listing *listing)
{
    struct op *op = &listing->it->req->op;
    const struct managed_resource *resource = listing->resource;
    listing->route =
        talloc_array(op->mem, const struct managed_route *, (unsigned) resource->routes + 1);
    bool lost = listing->route == NULL;
    for (size_t i = 0; !lost && i < resource->routes; i++) {
        const struct managed_route *route = &resource->route[i];
        if (!route->enabled || route->mcp == NULL
            || route_is_template(route) != listing->kind->template)
            continue;
        const char *uri = route_uri(op->mem, resource, route);
        lost = uri == NULL;
        if (!lost && !resource_template_is_sound(resource, uri)) {
            listing->left_out++;
        } else if (!lost) {
            listing->route[json_array_size(listing->entries)] = route;
            lost = json_array_append_new(listing->entries,
                                         route_entry(route, listing->kind->address, uri))
                   != 0;
        }
    }
    return lost ? op_no_memory(op) : AZ_OK;
}

/* Read the pages of the upstream. A server without this list has no entries. */
static enum az_status
read_entries(struct resource_listing *listing)
{
    struct mcp_exchange *it = listing->it;
    TALLOC_CTX *mem = it->req->op.mem;
    const char *cursor = NULL;
    struct resource_ask ask;
    if (listing->resource->upstream != MANAGED_MCP)
        return add_routes(listing);
    resource_ask_begin(it, listing->resource, listing->kind->method, &ask);
    for (size_t page = 0; page < RESOURCES_PAGES_MAX; page++) {
        ask.request.message.params =
            cursor != NULL ? jsonx_own(mem, json_pack("{s:s}", "cursor", cursor)) : NULL;
        enum az_status st = resource_ask_upstream(it, &ask);
        if (st != AZ_OK || !mcp_goes_on(it))
            return st;
        if (peer_error_is(ask.reply.error, RPC_METHOD_NOT_FOUND))
            return AZ_OK;
        const json_t *list = json_object_get(ask.reply.result, listing->kind->member);
        const json_t *next = json_object_get(ask.reply.result, "nextCursor");
        if (!json_is_array(list)
            || (json_is_string(next) && json_string_length(next) > PEER_CURSOR_MAX))
            return resource_ask_invalid(it);
        if ((st = add_page(listing, list)) != AZ_OK || !json_is_string(next))
            return st;
        cursor = json_string_value(next);
    }
    listing->left_out++;
    return AZ_OK;
}

/* ---- the question to policy */

/* Say what a read of a route asks about it, but for its path, which a template has not. */
static void
describe_route(const struct managed_route *route, struct gateway_action *action)
{
    action->route = route->id;
    action->method = "GET";
    action->scopes = route->scopes;
}

static enum az_status
decide_entries(struct resource_listing *listing, enum gateway_verdict *verdicts)
{
    struct mcp_exchange *it = listing->it;
    struct op *op = &it->req->op;
    const struct managed_resource *resource = listing->resource;
    size_t count = json_array_size(listing->entries), index;
    json_t *scopes = mcp_default_scopes(op->mem, resource);
    struct gateway_tool *tools =
        talloc_zero_array(op->mem, struct gateway_tool, (unsigned) count + 1);
    struct gateway_bearer bearer = {it->req, it->access.token};
    const struct upstream_caller caller = gateway_caller(&bearer);
    const json_t *entry;
    struct gateway_target target;
    bool linked;
    if (scopes == NULL || tools == NULL)
        return op_no_memory(op);
    enum az_status st = mcp_target(op, &caller, resource, &linked, &target);
    if (st != AZ_OK)
        return st;
    json_array_foreach (listing->entries, index, entry) {
        const char *address = json_string_value(json_object_get(entry, listing->kind->address));
        tools[index].action = (struct gateway_action){
            .kind = "resource",
            .name = address,
            .uri = listing->kind->template ? NULL : address,
            .template = listing->kind->template ? address : NULL,
            .scopes = scopes,
        };
        if (listing->route != NULL)
            describe_route(listing->route[index], &tools[index].action);
    }
    struct gateway_tools_question question = {
        .holder = {.mcp_version = it->version.name, .mcp_method = it->message.method},
        .resources = &target,
        .resource_count = 1,
        .tools = tools,
        .tool_count = count,
    };
    return gateway_decide_tools(it->req, &it->access, &question, verdicts);
}

/* ---- the answer */

/* Return an entry as clients of this endpoint see it: a new reference. */
static json_t *
scoped_entry(const struct resource_listing *listing, json_t *entry)
{
    TALLOC_CTX *mem = listing->it->req->op.mem;
    const char *address = json_string_value(json_object_get(entry, listing->kind->address));
    const char *shown = scoped_uri(mem, mcp_scope_of(listing->it, listing->resource), address);
    struct jsonx_build copy = {jsonx_copy(entry), shown == NULL};
    jsonx_set(&copy, listing->kind->address, shown != NULL ? json_string(shown) : NULL);
    if (jsonx_built(&copy) == NULL)
        json_decref(copy.value);
    else
        mcp_entry_fit(copy.value, &listing->it->version);
    return jsonx_built(&copy);
}

/* Add the cursor of the next page, if there is one. */
static enum az_status
add_next(const struct resource_listing *listing)
{
    struct mcp_exchange *it = listing->it;
    char cursor[CURSOR_MAX];
    if (it->result == NULL || it->access.resource != NULL || listing->next == NULL)
        return AZ_OK;
    snprintf(cursor, sizeof(cursor), CURSOR_FORMAT, listing->next->id);
    return json_object_set_new(it->result, "nextCursor", json_string(cursor)) == 0
               ? AZ_OK
               : op_no_memory(&it->req->op);
}

static enum az_status
answer_entries(struct resource_listing *listing)
{
    struct op *op = &listing->it->req->op;
    size_t index;
    json_t *entry;
    struct jsonx_build shown = {jsonx_own(op->mem, json_array()), false};
    enum gateway_verdict *verdicts = talloc_zero_array(
        op->mem, enum gateway_verdict, (unsigned) json_array_size(listing->entries) + 1);
    if (verdicts == NULL)
        return op_no_memory(op);
    enum az_status st = decide_entries(listing, verdicts);
    if (st != AZ_OK)
        return st;
    json_array_foreach (listing->entries, index, entry)
        if (verdicts[index] != GATEWAY_DENY)
            jsonx_append(&shown, scoped_entry(listing, entry));
    if (listing->left_out > 0)
        log_text(AZ_SEV_WARN, "gateway", "%s: %zu entries of %s left out", listing->resource->name,
                 listing->left_out, listing->kind->method);
    if (jsonx_built(&shown) != NULL)
        listing->it->result = mcp_list_result(op->mem, listing->kind->member, shown.value);
    return add_next(listing);
}

/* ---- pages */

/* Find the resource of the page that the cursor names, and of the page after it. False: the cursor
 * names no page. */
static bool
find_page(struct resource_listing *listing, const struct managed_resources *all)
{
    const json_t *cursor = json_object_get(listing->it->message.params, "cursor");
    const char *text = json_string_value(cursor);
    char known[CURSOR_MAX];
    for (size_t i = 0; i < all->count; i++) {
        const struct managed_resource *resource = all->item[i];
        snprintf(known, sizeof(known), CURSOR_FORMAT, resource->id);
        if (!resource->has_resources)
            continue;
        if (listing->resource != NULL && listing->next == NULL)
            listing->next = resource;
        else if (listing->resource == NULL
                 && (cursor == NULL || (text != NULL && strcmp(text, known) == 0)))
            listing->resource = resource;
    }
    return listing->resource != NULL;
}

/* At the endpoint of all resources, an upstream that fails, or has no room for this request, has
 * no entries: the others are of use without it. The audit row names it. Return the status that is
 * left of its failure. */
static enum az_status
pass_over(struct resource_listing *listing, enum az_status st)
{
    struct mcp_exchange *it = listing->it;
    struct op *op = &it->req->op;
    bool failed = st == AZ_BUSY || (st == AZ_OK && it->fault.code != 0);
    if (it->access.resource != NULL || !failed)
        return st;
    enum az_status why = op->fault.status != AZ_OK ? op->fault.status : AZ_UPSTREAM_INVALID;
    log_text(AZ_SEV_WARN, "gateway", "%s: left out of %s: %s", listing->resource->name,
             listing->kind->method, az_status_row(why)->description);
    it->fault = (struct json_rpc_fault){.code = 0};
    az_fault_clear(&op->fault);
    json_array_clear(listing->entries);
    struct jsonx_build summary = {
        jsonx_own(op->mem, json_pack("{s:s,s:s}", "left_out", listing->resource->name, "reason",
                                     az_status_row(why)->error)),
        false};
    mcp_note(it, &summary, 0, 0, 0);
    return AZ_OK;
}

static enum az_status
list_entries(struct mcp_exchange *it, const struct resource_kind *kind)
{
    struct managed_resources all;
    struct resource_listing listing = {
        .it = it, .kind = kind, .entries = jsonx_own(it->req->op.mem, json_array())};
    enum az_status st = mcp_find_resources(it, &all);
    if (st != AZ_OK)
        return st;
    if (listing.entries == NULL)
        return op_no_memory(&it->req->op);
    if (!find_page(&listing, &all)
        || (it->access.resource != NULL && json_object_get(it->message.params, "cursor") != NULL))
        return mcp_refuse(it, it->version.modern ? 400 : 200, RPC_INVALID_PARAMS, "Unknown cursor");
    if ((st = pass_over(&listing, read_entries(&listing))) != AZ_OK)
        return st;
    return mcp_goes_on(it) ? answer_entries(&listing) : AZ_OK;
}

enum az_status
mcp_list_resources(struct mcp_exchange *it)
{
    return list_entries(it, &resource_entries);
}

enum az_status
mcp_list_templates(struct mcp_exchange *it)
{
    return list_entries(it, &template_entries);
}
