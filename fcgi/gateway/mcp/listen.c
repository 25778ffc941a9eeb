#include "config.h"

#include "gateway/mcp/listen.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "gateway/mcp/reads/prompts.h"
#include "gateway/mcp/reads/resources.h"
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

/* Return a notification of the subscription, with one more member of its params, which is taken;
 * NULL: with none. */
static const char *
notification(const struct mcp_exchange *it, const char *method, json_t *notifications)
{
    return event_text(it->req->op.mem,
                      json_pack("{s:s,s:s,s:{s:{s:O},s:o*}}", "jsonrpc", "2.0", "method", method,
                                "params", "_meta", MCP_META_SUBSCRIPTION, it->message.id,
                                "notifications", notifications));
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

/* Return the topics of a filter that are told, as the filter of the acknowledgment: a new
 * reference.
 */
static json_t *
honoured(unsigned told)
{
    struct jsonx_build filter = {json_object(), false};
    for (size_t i = 0; i < RELAY_TOPICS; i++)
        if ((told & topics[i].bit) != 0)
            jsonx_set(&filter, topics[i].filter, json_true());
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
reserve(struct mcp_exchange *it, unsigned told, const char *last, struct relay_reservation **ret)
{
    struct request *req = it->req;
    const struct own_token *token = it->visit.token;
    const struct token_row *row = &token->lookup.row;
    struct relay_hold hold = {
        .bucket = token->parts.bucket,
        .expires_at = row->expires_at,
        .resource = it->visit.resource != NULL ? it->visit.resource->id : 0,
        .topics = told,
        .text = {[RELAY_FAREWELL] = last,
                 [RELAY_REQUEST_ID] = req->op.request_id,
                 [RELAY_CLIENT] = row->client.client_id,
                 [RELAY_SUBJECT] = row->subject != NULL ? row->subject : "",
                 [RELAY_ENDPOINT] = req->route->path,
                 [RELAY_OPERATION] = req->route->operation},
    };
    memcpy(hold.token, token->parts.id, sizeof(hold.token));
    count_by(it, &hold);
    for (size_t i = 0; i < RELAY_TOPICS; i++) {
        bool is_told = (told & topics[i].bit) != 0;
        hold.text[topics[i].text] = is_told ? notification(it, topics[i].method, NULL) : "";
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
note_topics(struct mcp_exchange *it, unsigned told)
{
    struct jsonx_build summary = {jsonx_own(it->req->op.mem, json_object()), false};
    jsonx_set(&summary, "resource",
              it->visit.name != NULL ? json_string(it->visit.name) : json_null());
    jsonx_set(&summary, "kind", json_string("subscription"));
    jsonx_set(&summary, "topics", honoured(told));
    jsonx_set(&summary, "mcp_version", json_string(it->era.version));
    mcp_note(it, &summary, 0, 0, 0);
}

enum az_status
mcp_listen(struct mcp_exchange *it)
{
    const json_t *filter = json_object_get(it->message.params, "notifications");
    unsigned told;
    if (!json_is_object(filter))
        return mcp_refuse(it, 400, RPC_INVALID_PARAMS, "notifications is not an object");
    enum az_status st = choose_topics(it, filter, &told);
    if (st != AZ_OK)
        return st;
    struct listening *listening = talloc_zero(it->req->op.mem, struct listening);
    const char *last = farewell(it);
    if (listening != NULL)
        listening->first =
            notification(it, "notifications/subscriptions/acknowledged", honoured(told));
    if (listening == NULL || listening->first == NULL || last == NULL)
        return lost(it);
    if (told == 0)
        return end_at_once(it, listening->first, last);
    note_topics(it, told);
    st = reserve(it, told, last, &listening->reservation);
    if (st != AZ_OK)
        return st;
    respond_header(it->req, "X-Accel-Buffering", "no");
    return respond_stream(it->req, "text/event-stream", begin_stream, listening);
}
