#include "config.h"

#include "gateway/mcp/subscribe.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "crypto/digest.h"
#include "gateway/mcp/listen.h"
#include "gateway/mcp/reads/resources.h"

#define SUBSCRIBE "resources/subscribe"

/* Return the URI of a request about a subscription of a session. NULL: the request is refused. */
static const char *
find_uri(struct mcp_exchange *it)
{
    const char *uri = json_string_value(json_object_get(it->message.params, "uri"));
    if (!mcp_holds_streams(it->req))
        mcp_refuse(it, 200, RPC_METHOD_NOT_FOUND, "Unknown method");
    else if (!it->session.named)
        mcp_refuse(it, 400, RPC_INVALID_REQUEST,
                   "A subscription is of a session: send the " MCP_SESSION_FIELD
                   " of the answer to initialize");
    else if (uri == NULL)
        mcp_refuse(it, 200, RPC_INVALID_PARAMS, "params.uri is not a URI");
    return it->fault.code == 0 ? uri : NULL;
}

/* Note the URI, as its resource knows it, for the audit row. */
static void
note_subscription(struct mcp_exchange *it, const struct managed_resource *resource, const char *uri)
{
    char sha256[SHA256_HEX_SIZE];
    const char *name = resource != NULL ? resource->name : NULL;
    bool hashed = sha256_hex(uri, strlen(uri), sha256) == AZ_OK;
    struct jsonx_build summary = {
        jsonx_own(it->req->op.mem,
                  json_pack("{s:s*,s:s,s:s*,s:s}", "resource", name, "kind", "subscription",
                            "uri_sha256", hashed ? sha256 : NULL, "mcp_version", it->version.name)),
        false};
    mcp_note(it, &summary, 0, 0, 0);
}

static enum az_status
keep_subscription(struct mcp_exchange *it, const char *uri)
{
    bool full;
    enum az_status st = session_watch(&it->req->op, &it->session.key, uri, &full);
    if (st == AZ_OK && full)
        return mcp_refuse(it, 200, RPC_INVALID_PARAMS,
                          "A session has at most 50 subscriptions, of 8,192 octets together");
    if (st == AZ_OK)
        it->result = jsonx_own(it->req->op.mem, json_object());
    return st;
}

enum az_status
mcp_subscribe(struct mcp_exchange *it)
{
    struct mcp_subscribed subscribed = {.topics = 0};
    const struct managed_resource *resource = NULL;
    const char *uri = find_uri(it), *there;
    bool watched = false;
    if (uri == NULL)
        return AZ_OK;
    enum az_status st = resource_of_uri(it, uri, &resource, &there);
    if (st == AZ_OK && resource != NULL) {
        note_subscription(it, resource, there);
        if (!mcp_is_watched(resource))
            return mcp_refuse(it, 200, RPC_INVALID_PARAMS,
                              "Changes of this resource cannot be watched: it is at an upstream");
        st = mcp_watch(it, &subscribed, json_object_get(it->message.params, "uri"), &watched);
    }
    if (st == AZ_OK && subscribed.full)
        mcp_refuse(it, 200, RPC_INVALID_PARAMS,
                   "As many URIs of this resource are watched as may be; try again later");
    if (st != AZ_OK || !mcp_goes_on(it))
        return st;
    return watched ? keep_subscription(it, uri) : resource_refuse_uri(it);
}

enum az_status
mcp_unsubscribe(struct mcp_exchange *it)
{
    const struct managed_resource *resource;
    const char *uri = find_uri(it), *there;
    bool was = false;
    if (uri == NULL)
        return AZ_OK;
    enum az_status st = resource_of_uri(it, uri, &resource, &there);
    if (st == AZ_OK) {
        note_subscription(it, resource, there);
        st = session_unwatch(&it->req->op, &it->session.key, uri, &was);
    }
    if (st == AZ_OK && !was)
        return mcp_refuse(it, 200, RPC_INVALID_PARAMS, "The session has no such subscription");
    if (st == AZ_OK)
        it->result = jsonx_own(it->req->op.mem, json_object());
    return st;
}

enum az_status
mcp_find_subscribed(struct mcp_exchange *it, struct mcp_subscribed *subscribed)
{
    struct op *op = &it->req->op;
    const char **uris = NULL;
    bool watched;
    enum az_status st = it->session.row.watches ? session_uris(op, &it->session.key, &uris) : AZ_OK;
    it->message.method = SUBSCRIBE; /* what policy is asked about */
    for (size_t i = 0; st == AZ_OK && uris != NULL && uris[i] != NULL; i++) {
        json_t *uri = jsonx_own(op->mem, json_string(uris[i]));
        st = uri != NULL ? mcp_watch(it, subscribed, uri, &watched) : op_no_memory(op);
    }
    return st;
}
