/* Looks of the relay at the database: tokens that have ended, and changes of what is served.
 * It decides nothing: a stream whose token or resource is gone ends, and others get events to ask
 * again. */
#ifndef AZ_GATEWAY_RELAY_RELAY_LOOK_H
#define AZ_GATEWAY_RELAY_RELAY_LOOK_H

#include "gateway/relay/relay_stream.h"
#include "store/gateway/served.h"

/* Seconds between two looks. A stream of a token that ended goes on for no longer than this and the
 * time of a look, within the 15 s that gateway-admin.md 1.9 allows. */
#define RELAY_LOOK_SECONDS 5

/* Milliseconds over which streams with URIs end after another policy has become active, or the
 * resource of a URI at an upstream has changed. Their clients open new streams, which are decided
 * anew, but not all at once. */
#define RELAY_SPREAD_MS 30000

/* After so many failed looks in a row all streams end, because their tokens may be revoked. */
#define RELAY_LOOKS_FAILED_MAX 2

/* The state of the last look. */
struct relay_sight {
    TALLOC_CTX *mem; /* of `served`; NULL: nothing was seen */
    struct served served;
};

/* Read what is served now, and note in each stream that has begun: which changes since the last
 * time are to be sent; that it is over, because its resource is gone; and when a stream with URIs
 * ends, because another policy decides. */
enum az_status relay_look_served(struct op *op, struct relay_sight *sight,
                                 struct relay_stream *const *stream, size_t count, int64_t now_ms);

/* Look at the tokens of all streams, and end those whose token is not live. */
enum az_status relay_look_tokens(struct op *op, struct relay_stream *const *stream, size_t count,
                                 int64_t now_ms);

/* Look at the sessions of all streams, and end those whose session was ended, or has other
 * subscriptions: the client opens its stream again, and is decided anew. */
enum az_status relay_look_sessions(struct op *op, struct relay_stream *const *stream, size_t count,
                                   int64_t now_ms);

/* Say that the URIs at upstreams of all streams are wanted, and note which of them changed. A
 * stream with one that nothing is known of any more is over. */
enum az_status relay_look_feeds(struct op *op, struct relay_stream *const *stream, size_t count,
                                int64_t now_ms);

#endif
