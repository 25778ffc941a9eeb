/* Hear from one MCP upstream which of the URIs that clients watch have changed (gateway-admin.md
 * 1.15). */
#ifndef AZ_GATEWAY_FEED_FEED_H
#define AZ_GATEWAY_FEED_FEED_H

#include "base/op.h"
#include "managed/managed.h"
#include "store/gateway/feeds.h"

/* Milliseconds until a server is asked again that gave no stream, or whose stream ended; twice as
 * many after each time, and at most the second number. */
#define FEED_AGAIN_MS 2000
#define FEED_AGAIN_MAX_MS 300000
/* A stream that went on for so many milliseconds was a good one. */
#define FEED_GOOD_MS 60000
/* Seconds for the answer to one request of a turn. Until then no changes of other URIs are
 * received. */
#define FEED_ANSWER_SECONDS 5
/* Subscriptions of an older server that are begun in one turn, and milliseconds after which none is
 * begun: others have their turn too. */
#define FEED_SUBSCRIBE_AT_ONCE 10
#define FEED_SUBSCRIBE_MS 2000

struct feed;

/* Begin with a resource, below mem. NULL: out of memory. */
struct feed *feed_new(TALLOC_CTX *mem, int64_t resource);

/* Return the row of its resource. */
int64_t feed_resource(const struct feed *feed);

/* True if it has no URI of which it hears or should hear. */
bool feed_is_idle(const struct feed *feed);

/* Subscribe to these URIs and no others; `resource` is the current row of the feed's resource.
 * Failures are logged, and tried again later. */
void feed_tend(struct op *op, struct feed *feed, const struct managed_resource *resource,
               const struct feed_uri *uri, size_t count);

/* Collect the rows of URIs that changed, at most `room`. */
size_t feed_changed(const struct feed *feed, int64_t *ret, size_t room);

/* Forget these changes, because they have been passed on. */
void feed_settle(struct feed *feed);

#endif
