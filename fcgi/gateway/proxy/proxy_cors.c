/* Pages of other origins at the proxy (Fetch, "CORS protocol"; world.md G1). The proxy reads no
 * cookie, so a page can send only a token that it has itself. */
#include "config.h"

#include <string.h>

#include "base/words.h"
#include "gateway/proxy/proxy_private.h"
#include "managed/names.h"
#include "store/gateway/resources.h"

static const char *
page_origin(const struct request *req)
{
    return request_header(req, "HTTP_ORIGIN");
}

/* Find the resource of the request, if it is one with `cors` that the proxy serves; else NULL. */
static enum az_status
find_resource(struct request *req, const struct managed_resource **ret)
{
    const char *name = req->path_value[0];
    *ret = NULL;
    enum az_status st = managed_name_is_good(name) ? resource_find(&req->op, name, ret) : AZ_OK;
    if (st == AZ_OK && *ret != NULL && (!(*ret)->enabled || (*ret)->cors.origins == NULL))
        *ret = NULL;
    return st;
}

/* Name the origin of the page if it is listed, and true then. Caches keep an answer for each
 * origin apart. */
static bool
name_origin(struct request *req, const struct managed_cors *cors)
{
    const char *origin = page_origin(req);
    respond_header(req, "Vary", "Origin");
    if (origin == NULL || !words_has(cors->origins, origin))
        return false;
    respond_header(req, "Access-Control-Allow-Origin", origin);
    return true;
}

enum az_status
proxy_preflight(struct request *req, bool *ret_done)
{
    const struct managed_resource *resource;
    *ret_done = false;
    if (strcmp(req->method, "OPTIONS") != 0 || page_origin(req) == NULL
        || request_header(req, "HTTP_ACCESS_CONTROL_REQUEST_METHOD") == NULL)
        return AZ_OK;
    enum az_status st = find_resource(req, &resource);
    if (st != AZ_OK || resource == NULL)
        return st;
    const struct managed_cors *cors = &resource->cors;
    *ret_done = true;
    if (name_origin(req, cors)) {
        respond_header(req, "Access-Control-Allow-Methods", cors->methods);
        respond_header(req, "Access-Control-Allow-Headers", cors->headers);
        respond_header(req, "Access-Control-Max-Age",
                       talloc_asprintf(req->op.mem, "%lld", (long long) cors->max_age));
    }
    return respond_empty(req, 204);
}

void
proxy_let_read(struct request *req, const struct managed_resource *resource)
{
    struct az_fault fault = req->op.fault;
    if (resource == NULL && page_origin(req) != NULL && find_resource(req, &resource) != AZ_OK)
        resource = NULL; /* the refusal stays, which the page cannot read then */
    req->op.fault = fault;
    if (resource != NULL && resource->cors.origins != NULL && name_origin(req, &resource->cors))
        respond_header(req, "Access-Control-Expose-Headers", resource->cors.expose);
}
