#include "config.h"

#include "gateway/mcp/listen.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "crypto/digest.h"
#include "gateway/mcp/held.h"
#include "gateway/mcp/reads/routes.h"
#include "gateway/mcp/tools/catalogue.h"
#include "gateway/process/gateway_process.h"

/* ---- events */

/* Return the result that ends the subscription, as an event. */
static const char *
closing_events(const struct mcp_exchange *it)
{
    const json_t *id = it->message.id;
    return mcp_event_text(it,
                          json_rpc_result(id, json_pack("{s:s,s:{s:O}}", "resultType", "complete",
                                                        "_meta", MCP_META_SUBSCRIPTION, id)));
}

/* ---- the stream */

bool
mcp_is_watched(const struct managed_resource *resource)
{
    return resource->has_resources
           && (resource->upstream == MANAGED_STATIC || resource->subscriptions);
}

enum az_status
mcp_listen_watches(struct mcp_exchange *it, bool *ret)
{
    struct managed_resources all;
    enum az_status st = mcp_find_resources(it, &all);
    *ret = false;
    for (size_t i = 0; st == AZ_OK && i < all.count; i++)
        *ret = *ret || mcp_is_watched(all.item[i]);
    return st;
}

/* Name the reader: the person of the token, by whatever client, or the client without one. */
static enum az_status
reader_of(const struct mcp_exchange *it, unsigned char ret[FEED_READER_OCTETS])
{
    const struct token_row *row = &it->access.token->lookup.row;
    const char *name =
        row->idp != NULL ? talloc_asprintf(it->req->op.mem, "person %s %s", row->idp, row->subject)
                         : talloc_asprintf(it->req->op.mem, "client %s", row->client.client_id);
    return name != NULL ? sha256(name, strlen(name), ret) : AZ_SERVER_ERROR;
}

/* Let a feeder hear of a URI at an upstream. ret->id 0: it hears of as many as it may, in all or
 * for this reader. */
static enum az_status
want_uri(struct mcp_exchange *it, struct mcp_subscribed *subscribed,
         const struct managed_resource *resource, const char *uri, struct feed_mark *ret)
{
    unsigned char reader[FEED_READER_OCTETS];
    if (reader_of(it, reader) != AZ_OK)
        return op_no_memory(&it->req->op);
    enum az_status st = feed_want(&it->req->op, resource->id, uri, reader, ret);
    if (st != AZ_OK)
        return st;
    subscribed->full = subscribed->full || ret->id == 0;
    relay_ring(it->req->op.az->gateway->relay);
    return AZ_OK;
}

/* Find the resource of a URI whose changes the caller may learn of; *ret is NULL if there is no
 * such resource. */
static enum az_status
find_watched(struct mcp_exchange *it, const char *text, struct mcp_subscribed *subscribed,
             const struct managed_resource **ret, struct feed_mark *ret_fed)
{
    const struct managed_resource *resource;
    const char *uri, *revision = NULL;
    enum az_status st = resource_of_uri(it, text, &resource, &uri);
    *ret = NULL;
    if (st != AZ_OK || resource == NULL || !mcp_is_watched(resource)
        || !resource_uri_is_sound(resource, uri))
        return st;
    bool at_upstream = resource->upstream != MANAGED_STATIC;
    st = at_upstream ? mcp_may_watch_resource(it, resource, uri, &revision)
                     : mcp_may_watch_route(it, resource, uri, &revision);
    if (st == AZ_OK && revision != NULL && at_upstream)
        st = want_uri(it, subscribed, resource, uri, ret_fed);
    if (st != AZ_OK || revision == NULL || (at_upstream && ret_fed->id == 0))
        return st;
    *ret = resource;
    if (subscribed->revision == NULL)
        subscribed->revision = revision;
    else if (strcmp(subscribed->revision, revision) != 0)
        subscribed->revision = "";
    return st;
}

/* Add a URI to the contents of the stream, unless the URI is there already or the list is full. */
static enum az_status
add_watched(struct mcp_exchange *it, struct mcp_subscribed *subscribed, json_t *uri,
            const struct managed_resource *resource, const struct feed_mark *fed)
{
    size_t index;
    const json_t *other;
    const char *event =
        mcp_notification(it, "notifications/resources/updated", "uri", json_incref(uri));
    if (event == NULL)
        return op_no_memory(&it->req->op);
    json_array_foreach (subscribed->uris, index, other)
        if (json_equal(other, uri))
            return AZ_OK;
    if (strlen(subscribed->updates) + strlen(event) > RELAY_UPDATES_MAX)
        return AZ_OK;
    subscribed->watched[json_array_size(subscribed->uris)] = resource->id;
    subscribed->fed[json_array_size(subscribed->uris)] = *fed;
    subscribed->updates = talloc_strdup_append_buffer(subscribed->updates, event);
    return subscribed->updates != NULL && json_array_append(subscribed->uris, uri) == 0
               ? AZ_OK
               : op_no_memory(&it->req->op);
}

enum az_status
mcp_watch(struct mcp_exchange *it, struct mcp_subscribed *subscribed, json_t *uri, bool *ret)
{
    TALLOC_CTX *mem = it->req->op.mem;
    const struct managed_resource *resource;
    struct feed_mark fed = {.id = 0};
    enum az_status st = find_watched(it, json_string_value(uri), subscribed, &resource, &fed);
    *ret = st == AZ_OK && resource != NULL;
    if (!*ret)
        return st;
    if (subscribed->uris == NULL) {
        subscribed->uris = jsonx_own(mem, json_array());
        subscribed->updates = talloc_strdup(mem, "");
    }
    return subscribed->uris != NULL && subscribed->updates != NULL
               ? add_watched(it, subscribed, uri, resource, &fed)
               : op_no_memory(&it->req->op);
}

/* Find the URIs that the client asks for and may learn of. */
static enum az_status
choose_uris(struct mcp_exchange *it, const json_t *filter, struct mcp_subscribed *subscribed)
{
    const json_t *asked = json_object_get(filter, "resourceSubscriptions");
    size_t index;
    json_t *uri;
    if (asked != NULL && (!jsonx_is_texts(asked) || json_array_size(asked) > RELAY_URIS_MAX))
        return mcp_refuse(it, 400, RPC_INVALID_PARAMS,
                          "resourceSubscriptions is not a list of at most 50 URIs");
    if (!mcp_holds_streams(it->req))
        return AZ_OK;
    json_array_foreach (asked, index, uri) {
        bool watched;
        enum az_status st = mcp_watch(it, subscribed, uri, &watched);
        if (st != AZ_OK)
            return st;
    }
    return AZ_OK;
}

/* Answer with a stream that ends at once. */
static enum az_status
end_at_once(struct mcp_exchange *it, const char *first, const char *last)
{
    const char *text = talloc_asprintf(it->req->op.mem, "%s%s", first, last);
    if (text == NULL)
        return op_no_memory(&it->req->op);
    respond_header(it->req, "X-Accel-Buffering", "no");
    return respond_octets(it->req, 200, "text/event-stream", text, strlen(text));
}

enum az_status
mcp_listen(struct mcp_exchange *it)
{
    const json_t *filter = json_object_get(it->message.params, "notifications");
    struct mcp_subscribed subscribed = {.topics = 0};
    if (!json_is_object(filter))
        return mcp_refuse(it, 400, RPC_INVALID_PARAMS, "notifications is not an object");
    enum az_status st = AZ_OK;
    if (mcp_holds_streams(it->req))
        st = mcp_find_topics(it, filter, &subscribed.topics);
    if (st == AZ_OK)
        st = choose_uris(it, filter, &subscribed);
    if (st != AZ_OK || !mcp_goes_on(it))
        return st;
    const char *first = mcp_notification(it, "notifications/subscriptions/acknowledged",
                                         "notifications", mcp_subscribed_filter(&subscribed));
    const char *last = closing_events(it);
    if (first == NULL || last == NULL)
        return op_no_memory(&it->req->op);
    if (subscribed.topics == 0 && json_array_size(subscribed.uris) == 0)
        return end_at_once(it, first, last);
    return mcp_hold(it, &subscribed, first, last);
}
