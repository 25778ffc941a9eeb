#include "config.h"

#include <string.h>

#include "base/clock.h"
#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "base/words.h"
#include "gateway/mcp/reads/routes.h"
#include "gateway/mcp/tools/route_answer.h"
#include "gateway/query.h"
#include "managed/choose.h"
#include "policy/decide/gateway_answer.h"
#include "store/gateway/resources.h"

/* One read of a URI. */
struct route_read {
    struct mcp_exchange *it;
    const struct managed_resource *resource;
    struct managed_choice choice;
    const char *query; /* raw */
    struct resource_call call;
    struct mcp_body body;
};

/* ---- the route */

/* True if a query has no other parameters than a template of the route has. */
static bool
query_is_known(const struct managed_route *route, json_t *query)
{
    const char *name;
    json_t *value;
    json_object_foreach (query, name, value)
        if (route->mcp->query == NULL || !words_has(route->mcp->query, name))
            return false;
    return true;
}

/* Find the route of a URI, and what policy sees of it. *ret is false if no route has the URI. */
static enum az_status
find_route(struct route_read *r, const char *uri, bool *ret)
{
    struct op *op = &r->it->req->op;
    char *begin = talloc_asprintf(op->mem, "res://%s", r->resource->name);
    size_t length = begin != NULL ? strlen(begin) : 0;
    json_t *query = NULL;
    *ret = false;
    if (begin == NULL)
        return op_no_memory(op);
    if (strncmp(uri, begin, length) != 0 || uri[length] != '/' || strchr(uri, '#') != NULL)
        return AZ_OK;
    char *path = talloc_strndup(op->mem, uri + length, strcspn(uri + length, "?"));
    const char *mark = strchr(uri, '?');
    r->query = mark != NULL ? mark + 1 : "";
    enum az_status st = path != NULL ? managed_choose(op->mem, r->resource, "GET", path, &r->choice)
                                     : AZ_SERVER_ERROR;
    if (st == AZ_OK && r->choice.route->mcp == NULL)
        st = AZ_NOT_FOUND;
    if (st == AZ_OK)
        st = gateway_query(op, r->resource, r->choice.route, r->query, &query);
    if (st == AZ_SERVER_ERROR)
        return op_fail(op, st, NULL, "out of memory for a read");
    az_fault_clear(&op->fault);
    if (st != AZ_OK || !query_is_known(r->choice.route, query))
        return AZ_OK;
    r->call.arguments =
        jsonx_own(op->mem, json_pack("{s:O,s:O}", "path", r->choice.values, "query", query));
    *ret = true;
    return r->call.arguments != NULL ? AZ_OK : op_no_memory(op);
}

/* ---- the request */

static enum az_status
send_read(struct route_read *r)
{
    struct mcp_exchange *it = r->it;
    struct op *op = &it->req->op;
    struct resource_ask *ask = &r->call.ask;
    char *path = NULL;
    size_t max = (size_t) op->az->cfg->gateway_max_body_size;
    if (r->resource->missing != NULL || r->resource->status == MANAGED_ERROR)
        return resource_ask_refuse(it, AZ_RESOURCE_UNAVAILABLE, NULL);
    enum az_status st = managed_upstream_path(op->mem, r->resource, "GET", &r->choice, &path);
    if (st == AZ_INVALID || st == AZ_INVALID_REQUEST)
        return resource_refuse_uri(it);
    if (st == AZ_OK)
        st = resource_secrets(op, r->resource, &ask->request.secrets);
    if (st != AZ_OK)
        return op_fail(op, st, NULL, "the request of a read cannot be built");
    const struct route_request request = {
        .op = op,
        .resource = r->resource,
        .route = r->choice.route,
        .secrets = ask->request.secrets,
        .caller = &ask->caller,
        .obligations = &r->call.decision.obligations,
        .method = "GET",
        .path = path,
        .query = r->query,
        .max_answer = max < ROUTE_READ_MAX ? max : ROUTE_READ_MAX,
    };
    ask->began_ms = clock_monotonic_ms();
    st = route_answer(&request, &ask->reply.credential, &r->body);
    ask->reply.status = r->body.status;
    ask->reply.octets = r->body.length;
    return st == AZ_OK ? st : resource_ask_failed(it, ask, st);
}

/* ---- the answer */

static enum az_status
show_read(struct route_read *r)
{
    struct mcp_exchange *it = r->it;
    TALLOC_CTX *mem = it->req->op.mem;
    int status = r->body.status;
    if (status == 404 || status == 410)
        return resource_refuse_uri(it);
    if (r->body.failed || status < 200 || status > 299)
        return resource_ask_refuse(it, AZ_UPSTREAM_INVALID,
                                   talloc_asprintf(mem, "The upstream answered %d", status));
    if (r->choice.route->mcp->mime_type != NULL)
        r->body.content_type = r->choice.route->mcp->mime_type;
    r->body.uri = json_string_value(json_object_get(it->message.params, "uri"));
    json_t *contents = mcp_body_contents(mem, &r->body);
    if (contents != NULL)
        it->result = mcp_list_result(mem, "contents", contents);
    return AZ_OK;
}

/* Describe the read of a URI, whose route was found, to policy. */
static void
describe_read(struct route_read *r, const char *uri)
{
    const struct managed_route *route = r->choice.route;
    r->call.action = (struct gateway_action){
        .kind = "resource",
        .name = uri,
        .uri = uri,
        .route = route->id,
        .method = "GET",
        .path = r->choice.path,
        .scopes = route->scopes,
    };
    r->call.always = route->obligations;
    r->call.obligations =
        gateway_obligations_of("http", managed_upstream_word(r->resource->upstream));
    resource_ask_begin(r->it, r->resource, r->it->message.method, &r->call.ask);
}

enum az_status
mcp_read_route(struct mcp_exchange *it, const struct managed_resource *resource, const char *uri)
{
    struct route_read r = {.it = it, .resource = resource, .call = {.it = it}};
    struct gateway_target target;
    bool found;
    enum az_status st = find_route(&r, uri, &found);
    if (st != AZ_OK)
        return st;
    if (!found)
        return resource_refuse_uri(it);
    describe_read(&r, uri);
    st = resource_call_decide(&r.call, &target);
    if (st == AZ_OK && mcp_goes_on(it))
        st = send_read(&r);
    if (st == AZ_OK && mcp_goes_on(it))
        st = show_read(&r);
    resource_call_note(&r.call);
    return st;
}

enum az_status
mcp_may_watch_route(struct mcp_exchange *it, const struct managed_resource *resource,
                    const char *uri, const char **ret_revision)
{
    struct route_read r = {.it = it, .resource = resource, .call = {.it = it}};
    bool found;
    *ret_revision = NULL;
    enum az_status st = find_route(&r, uri, &found);
    if (st != AZ_OK || !found)
        return st;
    describe_read(&r, uri);
    if (json_object_set_new(r.call.arguments, "subscribe", json_true()) != 0)
        return op_no_memory(&it->req->op);
    return resource_call_may(&r.call, ret_revision);
}
