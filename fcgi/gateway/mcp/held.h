/* Streams that the relay holds: what they tell, and how they are handed over, so that no worker
 * waits (gateway-admin.md 1.9). */
#ifndef AZ_GATEWAY_MCP_HELD_H
#define AZ_GATEWAY_MCP_HELD_H

#include "gateway/mcp/message/exchange.h"
#include "gateway/relay/relay.h"

/* The contents of a stream. */
struct mcp_subscribed {
    unsigned topics;                      /* bits of enum relay_topic */
    json_t *uris;                         /* array, as the client wrote them, or NULL */
    int64_t watched[RELAY_URIS_MAX];      /* row of the resource of each */
    struct feed_mark fed[RELAY_URIS_MAX]; /* of those at upstreams */
    bool full;     /* a URI was left out, because as many of its upstream are watched as may be */
    char *updates; /* their events, one after the other, or NULL */
    const char *revision; /* of the policy that allowed them; "": not one alone */
};

/* True if the answer to this request could be handed over: under pools of our own, on a connection
 * that the web server does not keep for other requests. */
bool mcp_holds_streams(const struct request *req);

/* Find the topics that a filter names and the endpoint has; filter NULL: all that it has. */
enum az_status mcp_find_topics(struct mcp_exchange *it, const json_t *filter, unsigned *ret);

/* Return what is subscribed as a filter: a new reference. NULL: out of memory. */
json_t *mcp_subscribed_filter(const struct mcp_subscribed *subscribed);

/* Return a message as an event, on the memory of the request; takes the message. NULL: out of
 * memory. */
const char *mcp_event_text(const struct mcp_exchange *it, json_t *message);

/* Return a notification as an event, with one more member of its params, whose value is taken
 * (NULL: with none). For a modern client it names the subscription. NULL: out of memory. */
const char *mcp_notification(const struct mcp_exchange *it, const char *method, const char *member,
                             json_t *value);

/*
 * Answer with a stream that begins with the events `first`, goes on in the relay, and ends with the
 * events `last`. The stream of a session ends with it, and is the only one it has: AZ_CONFLICT.
 * AZ_BUSY: there is no room for another stream.
 */
enum az_status mcp_hold(struct mcp_exchange *it, const struct mcp_subscribed *subscribed,
                        const char *first, const char *last);

#endif
