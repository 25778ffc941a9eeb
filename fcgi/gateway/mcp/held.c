#include "config.h"

#include "gateway/mcp/held.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "gateway/mcp/reads/prompts.h"
#include "gateway/mcp/reads/resources.h"
#include "gateway/process/gateway_process.h"
#include "http/route.h"
#include "http/shared.h"
#include "oauth/own_token.h"

/* Seconds after which a client that got no stream may try again. */
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

/* A stream that begins when its audit row is written. */
struct listening {
    struct relay_reservation *reservation;
    const char *first; /* events */
};

bool
mcp_holds_streams(const struct request *req)
{
    unsigned number;
    return req->op.az->gateway->relay != NULL && req->io->lend != NULL
           && req->io->lend(req->io, &number) >= 0;
}

/* ---- what is subscribed */

const char *
mcp_event_text(const struct mcp_exchange *it, json_t *message)
{
    TALLOC_CTX *mem = it->req->op.mem;
    const char *text = jsonx_own(mem, message) != NULL ? jsonx_dump(mem, message) : NULL;
    return text != NULL ? talloc_asprintf(mem, "data: %s\n\n", text) : NULL;
}

const char *
mcp_notification(const struct mcp_exchange *it, const char *method, const char *member,
                 json_t *value)
{
    json_t *params = it->version.modern
                         ? json_pack("{s:{s:O},s:o*}", "_meta", MCP_META_SUBSCRIPTION,
                                     it->message.id, member, value)
                         : json_pack("{s:o*}", member, value);
    return mcp_event_text(
        it, json_pack("{s:s,s:s,s:o}", "jsonrpc", "2.0", "method", method, "params", params));
}

json_t *
mcp_subscribed_filter(const struct mcp_subscribed *subscribed)
{
    struct jsonx_build filter = {json_object(), false};
    for (size_t i = 0; i < RELAY_TOPICS; i++)
        if ((subscribed->topics & topics[i].bit) != 0)
            jsonx_set(&filter, topics[i].filter, json_true());
    if (json_array_size(subscribed->uris) > 0)
        jsonx_set(&filter, "resourceSubscriptions", json_incref(subscribed->uris));
    if (filter.lost)
        json_decref(filter.value);
    return jsonx_built(&filter);
}

enum az_status
mcp_find_topics(struct mcp_exchange *it, const json_t *filter, unsigned *ret)
{
    bool resources = false, prompts = false;
    *ret = 0;
    enum az_status st = mcp_serves_resources(it, &resources);
    if (st == AZ_OK)
        st = mcp_serves_prompts(it, &prompts);
    unsigned here = RELAY_TOOLS | (resources ? (unsigned) RELAY_RESOURCES : 0)
                    | (prompts ? (unsigned) RELAY_PROMPTS : 0);
    for (size_t i = 0; i < RELAY_TOPICS; i++)
        if (filter == NULL || json_is_true(json_object_get(filter, topics[i].filter)))
            *ret |= topics[i].bit & here;
    return st;
}

/* ---- the stream */

/* Return the numbers under which the stream is counted. */
static void
count_by(const struct mcp_exchange *it, struct relay_hold *hold)
{
    const struct op *op = &it->req->op;
    const struct token_row *row = &it->access.token->lookup.row;
    const char *client = talloc_asprintf(op->mem, "stream client %s", row->client.client_id);
    const char *person =
        row->idp != NULL ? talloc_asprintf(op->mem, "stream person %s %s", row->idp, row->subject)
                         : NULL;
    hold->client = client != NULL ? shared_name_number(op->az->shared, client) : 1;
    hold->person = person != NULL ? shared_name_number(op->az->shared, person) | 1 : 0;
}

/* Let the stream end with the session, whose only one it is. */
static void
bind_to_session(const struct mcp_session *session, struct relay_hold *hold)
{
    hold->in_session = true;
    memcpy(hold->session, session->key.id, sizeof(hold->session));
    hold->changes = session->row.changes;
    if (session->key.until < hold->expires_at)
        hold->expires_at = session->key.until;
}

/* Hand the stream over; it begins with begin_stream(). */
static enum az_status
reserve(struct mcp_exchange *it, const struct mcp_subscribed *subscribed, const char *last,
        struct relay_reservation **ret)
{
    struct request *req = it->req;
    const struct own_token *token = it->access.token;
    const struct token_row *row = &token->lookup.row;
    struct relay_hold hold = {
        .bucket = token->parts.bucket,
        .expires_at = row->expires_at,
        .resource = it->access.resource != NULL ? it->access.resource->id : 0,
        .topics = subscribed->topics,
        .uris = json_array_size(subscribed->uris),
        .text = {[RELAY_LAST] = last,
                 [RELAY_EVENTS_UPDATED] = subscribed->updates != NULL ? subscribed->updates : "",
                 [RELAY_REVISION] = subscribed->revision != NULL ? subscribed->revision : "",
                 [RELAY_REQUEST_ID] = req->op.request_id,
                 [RELAY_CLIENT] = row->client.client_id,
                 [RELAY_SUBJECT] = row->subject != NULL ? row->subject : "",
                 [RELAY_ENDPOINT] = req->route->path,
                 [RELAY_METHOD] = req->method,
                 [RELAY_OPERATION] = req->route->operation},
    };
    memcpy(hold.token, token->parts.id, sizeof(hold.token));
    memcpy(hold.watched, subscribed->watched, sizeof(hold.watched));
    memcpy(hold.fed, subscribed->fed, sizeof(hold.fed));
    count_by(it, &hold);
    if (!it->version.modern)
        bind_to_session(&it->session, &hold);
    for (size_t i = 0; i < RELAY_TOPICS; i++) {
        bool is_subscribed = (subscribed->topics & topics[i].bit) != 0;
        hold.text[topics[i].text] =
            is_subscribed ? mcp_notification(it, topics[i].method, "uri", NULL) : "";
        if (hold.text[topics[i].text] == NULL)
            return op_no_memory(&it->req->op);
    }
    int connection = req->io->lend(req->io, &hold.request);
    enum az_status st = relay_reserve(&req->op, connection, &hold, ret);
    if (st == AZ_BUSY)
        respond_header(req, "Retry-After", RETRY_SECONDS);
    return st;
}

/* Send the first events, and let the relay go on. */
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
note_topics(struct mcp_exchange *it, const struct mcp_subscribed *subscribed)
{
    struct jsonx_build summary = {jsonx_own(it->req->op.mem, json_object()), false};
    jsonx_set(&summary, "resource",
              it->access.name != NULL ? json_string(it->access.name) : json_null());
    jsonx_set(&summary, "kind", json_string("subscription"));
    jsonx_set(&summary, "topics",
              mcp_subscribed_filter(&(struct mcp_subscribed){.topics = subscribed->topics}));
    if (json_array_size(subscribed->uris) > 0)
        jsonx_set(&summary, "uris", json_integer((json_int_t) json_array_size(subscribed->uris)));
    jsonx_set(&summary, "mcp_version", json_string(it->version.name));
    mcp_note(it, &summary, 0, 0, 0);
}

enum az_status
mcp_hold(struct mcp_exchange *it, const struct mcp_subscribed *subscribed, const char *first,
         const char *last)
{
    struct listening *listening = talloc_zero(it->req->op.mem, struct listening);
    if (listening == NULL)
        return op_no_memory(&it->req->op);
    listening->first = first;
    note_topics(it, subscribed);
    enum az_status st = reserve(it, subscribed, last, &listening->reservation);
    if (st != AZ_OK)
        return st;
    respond_header(it->req, "X-Accel-Buffering", "no");
    return respond_stream(it->req, "text/event-stream", begin_stream, listening);
}
