#include "config.h"

#include "gateway/mcp/listen.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/uri.h"
#include "gateway/mcp/reads/prompts.h"
#include "gateway/mcp/reads/routes.h"
#include "gateway/mcp/tools/catalogue.h"
#include "gateway/relay/relay.h"
#include "http/route.h"
#include "http/shared.h"
#include "oauth/own_token.h"

/* Seconds after which a client may try again that got no stream. */
#define RETRY_SECONDS "60"

/* The topics: members of the filter, and their notifications. */
static const struct topic {
    enum relay_topic bit;
    enum relay_text text;
    const char *filter, *method;
} topics[RELAY_TOPICS] = {
    {RELAY_TOOLS,     RELAY_EVENT_TOOLS,     "toolsListChanged",     "notifications/tools/list_changed"},
    {RELAY_PROMPTS,   RELAY_EVENT_PROMPTS,   "promptsListChanged",
     "notifications/prompts/list_changed"                                                              },
    {RELAY_RESOURCES, RELAY_EVENT_RESOURCES, "resourcesListChanged",
     "notifications/resources/list_changed"                                                            },
};

/* What a stream tells. */
struct told {
    unsigned topics;                 /* bits */
    json_t *uris;                    /* array, as the client wrote them */
    int64_t watched[RELAY_URIS_MAX]; /* row of the resource of each */
    char *updates;                   /* their events, one behind the other */
    const char *revision;            /* of the policy that allowed them; "": not one alone */
};

/* A stream that begins when its audit row is written. */
struct listening {
    struct relay_reservation *reservation;
    const char *first; /* the event that acknowledges it */
};

bool
mcp_listen_holds(const struct request *req)
{
    unsigned number;
    return req->op.az->relay != NULL && req->io->lend != NULL
           && req->io->lend(req->io, &number) >= 0;
}

/* ---- events */

/* Return a message as an event, on mem; takes the message. NULL: no memory. */
static const char *
event_text(TALLOC_CTX *mem, json_t *message)
{
    const char *text = jsonx_own(mem, message) != NULL ? jsonx_dump(mem, message) : NULL;
    return text != NULL ? talloc_asprintf(mem, "data: %s\n\n", text) : NULL;
}

/* Return a notification of the subscription, with one more member of its params, whose value is
 * taken; NULL: with none. */
static const char *
notification(const struct mcp_exchange *it, const char *method, const char *member, json_t *value)
{
    return event_text(it->req->op.mem,
                      json_pack("{s:s,s:s,s:{s:{s:O},s:o*}}", "jsonrpc", "2.0", "method", method,
                                "params", "_meta", MCP_META_SUBSCRIPTION, it->message.id, member,
                                value));
}

/* Return the result that ends the subscription, as an event. */
static const char *
farewell(const struct mcp_exchange *it)
{
    const json_t *id = it->message.id;
    return event_text(it->req->op.mem,
                      json_rpc_result(id, json_pack("{s:s,s:{s:O}}", "resultType", "complete",
                                                    "_meta", MCP_META_SUBSCRIPTION, id)));
}

/* Return the topics that are told, with the URIs (or NULL), as the filter of the acknowledgment: a
 * new reference. */
static json_t *
honoured(unsigned topics_told, json_t *uris)
{
    struct jsonx_build filter = {json_object(), false};
    for (size_t i = 0; i < RELAY_TOPICS; i++)
        if ((topics_told & topics[i].bit) != 0)
            jsonx_set(&filter, topics[i].filter, json_true());
    if (json_array_size(uris) > 0)
        jsonx_set(&filter, "resourceSubscriptions", json_incref(uris));
    if (filter.lost)
        json_decref(filter.value);
    return jsonx_built(&filter);
}

/* ---- the stream */

static enum az_status
lost(struct mcp_exchange *it)
{
    return op_fail(&it->req->op, AZ_SERVER_ERROR, NULL, "out of memory for a stream");
}

/* Find the topics that the client asks for and the endpoint has. */
static enum az_status
choose_topics(struct mcp_exchange *it, const json_t *filter, unsigned *ret)
{
    bool resources = false, prompts = false;
    *ret = 0;
    if (!mcp_listen_holds(it->req))
        return AZ_OK;
    enum az_status st = mcp_serves_resources(it, &resources);
    if (st == AZ_OK)
        st = mcp_serves_prompts(it, &prompts);
    unsigned here = RELAY_TOOLS | (resources ? (unsigned) RELAY_RESOURCES : 0)
                    | (prompts ? (unsigned) RELAY_PROMPTS : 0);
    for (size_t i = 0; i < RELAY_TOPICS; i++)
        if (json_is_true(json_object_get(filter, topics[i].filter)))
            *ret |= topics[i].bit & here;
    return st;
}

enum az_status
mcp_listen_watches(struct mcp_exchange *it, bool *ret)
{
    struct managed_resources all;
    enum az_status st = mcp_find_resources(it, &all);
    *ret = false;
    for (size_t i = 0; st == AZ_OK && i < all.count; i++)
        *ret = *ret || (all.item[i]->has_resources && all.item[i]->upstream == MANAGED_STATIC);
    return st;
}

/* Find the resource of a URI whose changes the caller may learn of; *ret NULL: there is none. What
 * changes at an upstream is not known here. */
static enum az_status
find_watched(struct mcp_exchange *it, const char *text, struct told *told,
             const struct managed_resource **ret)
{
    const struct managed_resource *resource;
    const char *uri, *revision = NULL;
    enum az_status st = resource_of_uri(it, text, &resource, &uri);
    *ret = NULL;
    if (st == AZ_OK && resource != NULL && resource->upstream == MANAGED_STATIC
        && uri_is_canonical(uri))
        st = mcp_may_watch_route(it, resource, uri, &revision);
    if (st != AZ_OK || revision == NULL)
        return st;
    *ret = resource;
    if (told->revision == NULL)
        told->revision = revision;
    else if (strcmp(told->revision, revision) != 0)
        told->revision = "";
    return st;
}

/* Add a URI to what is told; one that is there already, or finds no room, is left out. */
static enum az_status
add_watched(struct mcp_exchange *it, struct told *told, json_t *uri,
            const struct managed_resource *resource)
{
    size_t index;
    const json_t *other;
    const char *event =
        notification(it, "notifications/resources/updated", "uri", json_incref(uri));
    if (event == NULL)
        return lost(it);
    json_array_foreach (told->uris, index, other)
        if (json_equal(other, uri))
            return AZ_OK;
    if (strlen(told->updates) + strlen(event) > RELAY_UPDATES_MAX)
        return AZ_OK;
    told->watched[json_array_size(told->uris)] = resource->id;
    told->updates = talloc_strdup_append_buffer(told->updates, event);
    return told->updates != NULL && json_array_append(told->uris, uri) == 0 ? AZ_OK : lost(it);
}

/* Find the URIs that the client asks for and may learn of. */
static enum az_status
choose_uris(struct mcp_exchange *it, const json_t *filter, struct told *told)
{
    const json_t *asked = json_object_get(filter, "resourceSubscriptions");
    size_t index;
    json_t *uri;
    told->uris = jsonx_own(it->req->op.mem, json_array());
    told->updates = talloc_strdup(it->req->op.mem, "");
    if (told->uris == NULL || told->updates == NULL)
        return lost(it);
    if (asked != NULL && (!jsonx_is_texts(asked) || json_array_size(asked) > RELAY_URIS_MAX))
        return mcp_refuse(it, 400, RPC_INVALID_PARAMS,
                          "resourceSubscriptions is not a list of at most 50 URIs");
    if (!mcp_listen_holds(it->req))
        return AZ_OK;
    json_array_foreach (asked, index, uri) {
        const struct managed_resource *resource;
        enum az_status st = find_watched(it, json_string_value(uri), told, &resource);
        if (st == AZ_OK && resource != NULL)
            st = add_watched(it, told, uri, resource);
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
        return lost(it);
    respond_header(it->req, "X-Accel-Buffering", "no");
    return respond_octets(it->req, 200, "text/event-stream", text, strlen(text));
}

/* Return the numbers under which the stream is counted. */
static void
count_by(const struct mcp_exchange *it, struct relay_hold *hold)
{
    const struct op *op = &it->req->op;
    const struct token_row *row = &it->visit.token->lookup.row;
    const char *client = talloc_asprintf(op->mem, "stream client %s", row->client.client_id);
    const char *person =
        row->idp != NULL ? talloc_asprintf(op->mem, "stream person %s %s", row->idp, row->subject)
                         : NULL;
    hold->client = client != NULL ? shared_name_number(op->az->shared, client) : 1;
    hold->person = person != NULL ? shared_name_number(op->az->shared, person) | 1 : 0;
}

/* Hand the stream over; it begins with begin_stream(). */
static enum az_status
reserve(struct mcp_exchange *it, const struct told *told, const char *last,
        struct relay_reservation **ret)
{
    struct request *req = it->req;
    const struct own_token *token = it->visit.token;
    const struct token_row *row = &token->lookup.row;
    struct relay_hold hold = {
        .bucket = token->parts.bucket,
        .expires_at = row->expires_at,
        .resource = it->visit.resource != NULL ? it->visit.resource->id : 0,
        .topics = told->topics,
        .uris = json_array_size(told->uris),
        .text = {[RELAY_FAREWELL] = last,
                 [RELAY_EVENTS_UPDATED] = told->updates,
                 [RELAY_REVISION] = told->revision != NULL ? told->revision : "",
                 [RELAY_REQUEST_ID] = req->op.request_id,
                 [RELAY_CLIENT] = row->client.client_id,
                 [RELAY_SUBJECT] = row->subject != NULL ? row->subject : "",
                 [RELAY_ENDPOINT] = req->route->path,
                 [RELAY_OPERATION] = req->route->operation},
    };
    memcpy(hold.token, token->parts.id, sizeof(hold.token));
    memcpy(hold.watched, told->watched, sizeof(hold.watched));
    count_by(it, &hold);
    for (size_t i = 0; i < RELAY_TOPICS; i++) {
        bool is_told = (told->topics & topics[i].bit) != 0;
        hold.text[topics[i].text] = is_told ? notification(it, topics[i].method, "uri", NULL) : "";
        if (hold.text[topics[i].text] == NULL)
            return lost(it);
    }
    int connection = req->io->lend(req->io, &hold.request);
    enum az_status st = relay_reserve(&req->op, connection, &hold, ret);
    if (st == AZ_BUSY)
        respond_header(req, "Retry-After", RETRY_SECONDS);
    return st;
}

/* Send the acknowledgment, and let the relay go on. */
static enum az_status
begin_stream(struct request *req)
{
    const struct listening *listening = req->res.stream_arg;
    enum az_status st = response_write(req, listening->first, strlen(listening->first));
    if (st != AZ_OK || !req->io->flush(req->io) || !relay_start(listening->reservation))
        return op_fail(&req->op, AZ_UNAVAILABLE, NULL, "the stream cannot begin");
    req->io->give(req->io);
    return AZ_OK;
}

static void
note_topics(struct mcp_exchange *it, const struct told *told)
{
    struct jsonx_build summary = {jsonx_own(it->req->op.mem, json_object()), false};
    jsonx_set(&summary, "resource",
              it->visit.name != NULL ? json_string(it->visit.name) : json_null());
    jsonx_set(&summary, "kind", json_string("subscription"));
    jsonx_set(&summary, "topics", honoured(told->topics, NULL));
    if (json_array_size(told->uris) > 0)
        jsonx_set(&summary, "uris", json_integer((json_int_t) json_array_size(told->uris)));
    jsonx_set(&summary, "mcp_version", json_string(it->era.version));
    mcp_note(it, &summary, 0, 0, 0);
}

enum az_status
mcp_listen(struct mcp_exchange *it)
{
    const json_t *filter = json_object_get(it->message.params, "notifications");
    struct told told = {.topics = 0};
    if (!json_is_object(filter))
        return mcp_refuse(it, 400, RPC_INVALID_PARAMS, "notifications is not an object");
    enum az_status st = choose_topics(it, filter, &told.topics);
    if (st == AZ_OK)
        st = choose_uris(it, filter, &told);
    if (st != AZ_OK || !mcp_goes_on(it))
        return st;
    struct listening *listening = talloc_zero(it->req->op.mem, struct listening);
    const char *last = farewell(it);
    if (listening != NULL)
        listening->first = notification(it, "notifications/subscriptions/acknowledged",
                                        "notifications", honoured(told.topics, told.uris));
    if (listening == NULL || listening->first == NULL || last == NULL)
        return lost(it);
    if (told.topics == 0 && json_array_size(told.uris) == 0)
        return end_at_once(it, listening->first, last);
    note_topics(it, &told);
    st = reserve(it, &told, last, &listening->reservation);
    if (st != AZ_OK)
        return st;
    respond_header(it->req, "X-Accel-Buffering", "no");
    return respond_stream(it->req, "text/event-stream", begin_stream, listening);
}
