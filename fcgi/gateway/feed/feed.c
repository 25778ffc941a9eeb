#include "config.h"

#include "gateway/feed/feed.h"

#include <string.h>

#include "base/clock.h"
#include "base/json/jsonx.h"
#include "base/log.h"
#include "gateway/mcp/peer/peer_memory.h"
#include "gateway/mcp/peer/peer_stream.h"
#include "store/gateway/resources.h"

/* A URI that clients want to hear of. */
struct fed {
    int64_t id;
    char *uri;
    bool wanted;
    bool heard;   /* the server tells of it */
    bool missed;  /* it did, until its stream ended: what changed since is not known */
    bool refused; /* the server refused it; asked again with the next stream */
    bool changed;
};

struct feed {
    int64_t resource, version;
    struct fed fed[FEED_URIS_MAX];
    size_t count;
    struct peer_stream *stream; /* or NULL */
    struct peer_way way;        /* of it */
    TALLOC_CTX *way_mem;        /* of its texts */
    int64_t opened_ms, again_ms;
    int failures; /* in a row */
};

struct feed *
feed_new(TALLOC_CTX *mem, int64_t resource)
{
    struct feed *feed = talloc_zero(mem, struct feed);
    if (feed != NULL)
        feed->resource = resource;
    return feed;
}

int64_t
feed_resource(const struct feed *feed)
{
    return feed->resource;
}

bool
feed_is_idle(const struct feed *feed)
{
    return feed->count == 0;
}

/* ---- what the server tells */

static void
hear(void *arg, const struct json_rpc *message)
{
    struct feed *feed = arg;
    const char *uri = json_string_value(json_object_get(message->params, "uri"));
    if (uri == NULL || strcmp(message->method, "notifications/resources/updated") != 0)
        return;
    for (size_t i = 0; i < feed->count; i++)
        if (feed->fed[i].wanted && strcmp(feed->fed[i].uri, uri) == 0)
            feed->fed[i].changed = true;
}

size_t
feed_changed(const struct feed *feed, int64_t *ret, size_t room)
{
    size_t taken = 0;
    for (size_t i = 0; i < feed->count && taken < room; i++)
        if (feed->fed[i].changed)
            ret[taken++] = feed->fed[i].id;
    return taken;
}

void
feed_settle(struct feed *feed)
{
    for (size_t i = 0; i < feed->count; i++)
        feed->fed[i].changed = false;
}

/* ---- the URIs */

/* Note that the server sends changes of a URI from now on. If it did before, a change may have been
 * missed in between. */
static void
note_heard(struct fed *fed)
{
    fed->changed = fed->changed || fed->missed;
    fed->heard = true;
    fed->missed = false;
}

static struct fed *
find_fed(struct feed *feed, int64_t id)
{
    for (size_t i = 0; i < feed->count; i++)
        if (feed->fed[i].id == id)
            return &feed->fed[i];
    return NULL;
}

/* Note which URIs are wanted. A URI for which there is no room waits until another one is
 * dropped. */
static void
note_wanted(struct feed *feed, const struct feed_uri *uri, size_t count)
{
    for (size_t i = 0; i < feed->count; i++)
        feed->fed[i].wanted = false;
    for (size_t i = 0; i < count; i++) {
        struct fed *fed = find_fed(feed, uri[i].id);
        if (fed == NULL && feed->count < FEED_URIS_MAX) {
            fed = &feed->fed[feed->count];
            *fed = (struct fed){.id = uri[i].id, .uri = talloc_strdup(feed, uri[i].uri)};
            if (fed->uri == NULL)
                return;
            feed->count++;
        }
        if (fed != NULL)
            fed->wanted = true;
    }
}

/* Forget the URIs that are not wanted, and that the server does not tell of. */
static void
forget_unwanted(struct feed *feed)
{
    size_t kept = 0;
    for (size_t i = 0; i < feed->count; i++)
        if (feed->fed[i].wanted || feed->fed[i].heard)
            feed->fed[kept++] = feed->fed[i];
        else
            talloc_free(feed->fed[i].uri);
    feed->count = kept;
}

/* ---- the stream */

/* Note that nothing is heard any more. */
static void
close_feed(struct feed *feed)
{
    for (size_t i = 0; i < feed->count; i++) {
        struct fed *fed = &feed->fed[i];
        fed->missed = fed->missed || fed->heard;
        fed->heard = fed->refused = false;
    }
    TALLOC_FREE(feed->stream);
    TALLOC_FREE(feed->way_mem);
}

/* Wait before the next try, longer after each one that failed. */
static void
wait_again(struct feed *feed, bool good)
{
    int64_t wait_ms = FEED_AGAIN_MS;
    feed->failures = good ? 0 : feed->failures + 1;
    for (int i = 1; i < feed->failures && wait_ms < FEED_AGAIN_MAX_MS; i++)
        wait_ms *= 2;
    feed->again_ms =
        clock_monotonic_ms() + (wait_ms < FEED_AGAIN_MAX_MS ? wait_ms : FEED_AGAIN_MAX_MS);
}

/* Return the message that asks a modern server to tell of the wanted URIs, on mem; params NULL: out
 * of memory. */
static struct peer_message
listen_message(TALLOC_CTX *mem, const struct feed *feed)
{
    struct jsonx_build uris = {jsonx_own(mem, json_array()), false};
    for (size_t i = 0; i < feed->count; i++)
        if (feed->fed[i].wanted)
            jsonx_append(&uris, json_string(feed->fed[i].uri));
    json_t *params = jsonx_built(&uris) != NULL ? json_pack("{s:{s:O}}", "notifications",
                                                            "resourceSubscriptions", uris.value)
                                                : NULL;
    return (struct peer_message){.method = "subscriptions/listen",
                                 .params = jsonx_own(mem, params)};
}

/* Keep the way of the stream. */
static bool
keep_way(struct feed *feed, const struct peer_way *way)
{
    TALLOC_FREE(feed->way_mem);
    feed->way = *way;
    feed->way_mem = talloc_new(feed);
    if (way->session != NULL)
        feed->way.session = talloc_strdup(feed->way_mem, way->session);
    return feed->way_mem != NULL && (way->session == NULL || feed->way.session != NULL);
}

/* Open the stream. A modern server gets a second stream before the previous one is closed. */
static enum az_status
open_feed(struct op *op, struct feed *feed, struct peer_request *request)
{
    struct peer_way way;
    struct peer_stream *stream;
    enum az_status st = peer_greet(op, request, &way);
    if (st != AZ_OK)
        return st;
    request->message = listen_message(op->mem, feed);
    if (request->message.params == NULL)
        return op_no_memory(op);
    st = peer_stream_open(op, feed, request, &way, hear, feed, &stream);
    if (st != AZ_OK) {
        peer_memory_forget(op, request->resource, NULL, ""); /* its session may be over */
        return st;
    }
    talloc_free(feed->stream);
    feed->stream = stream;
    feed->opened_ms = clock_monotonic_ms();
    for (size_t i = 0; i < feed->count && way.modern; i++)
        if (feed->fed[i].wanted)
            note_heard(&feed->fed[i]);
        else
            feed->fed[i].heard = false;
    return keep_way(feed, &way) ? AZ_OK : op_no_memory(op);
}

/* ---- subscriptions of older servers */

/* Begin or end one. *ret_refused: the server says no. */
static enum az_status
ask_about(struct op *op, struct peer_request *request, const char *method, const char *uri,
          bool *ret_refused)
{
    struct peer_reply reply;
    request->message = (struct peer_message){
        .method = method, .params = jsonx_own(op->mem, json_pack("{s:s}", "uri", uri))};
    if (request->message.params == NULL)
        return op_no_memory(op);
    enum az_status st = peer_ask(op, request, &reply);
    *ret_refused = st == AZ_OK && reply.error != NULL;
    return st;
}

/* True if the stream belongs to the current session: peer_ask() opens a new session after a 404. */
static bool
is_in_session(struct op *op, const struct feed *feed, const struct peer_request *request)
{
    struct peer_way way;
    return peer_memory_find(op, request->resource, NULL, "", &way) && way.session != NULL
           && feed->way.session != NULL && strcmp(way.session, feed->way.session) == 0;
}

/* Begin the subscriptions that are wanted, and end the others. */
static enum az_status
subscribe(struct op *op, struct feed *feed, struct peer_request *request)
{
    int64_t until_ms = clock_monotonic_ms() + FEED_SUBSCRIBE_MS;
    enum az_status st = AZ_OK;
    int asked = 0;
    for (size_t i = 0; i < feed->count && st == AZ_OK && asked < FEED_SUBSCRIBE_AT_ONCE
                       && clock_monotonic_ms() < until_ms;
         i++) {
        struct fed *fed = &feed->fed[i];
        bool refused = false;
        if (fed->wanted == fed->heard || fed->refused)
            continue;
        asked++;
        st = ask_about(op, request, fed->wanted ? "resources/subscribe" : "resources/unsubscribe",
                       fed->uri, &refused);
        if (st == AZ_OK && !is_in_session(op, feed, request))
            return op_fail(op, AZ_UPSTREAM_INVALID, NULL, "the session of a stream is over");
        if (st == AZ_OK && fed->wanted && !refused)
            note_heard(fed);
        else if (st == AZ_OK)
            fed->heard = false;
        fed->refused = refused;
    }
    return st;
}

/* ---- a turn */

/* True if a modern server tells of other URIs than those that are wanted. */
static bool
is_stale(const struct feed *feed)
{
    for (size_t i = 0; i < feed->count; i++)
        if (feed->fed[i].wanted != feed->fed[i].heard)
            return true;
    return false;
}

static bool
wants_any(const struct feed *feed)
{
    for (size_t i = 0; i < feed->count; i++)
        if (feed->fed[i].wanted)
            return true;
    return false;
}

/* Do what is due. A stream without URIs ends; with an older server its subscriptions end first. */
static enum az_status
take_turn(struct op *op, struct feed *feed, const struct managed_resource *resource)
{
    struct peer_request request = {.resource = resource, .seconds = FEED_ANSWER_SECONDS};
    if (!wants_any(feed) && (feed->stream == NULL || feed->way.modern)) {
        close_feed(feed);
        return AZ_OK;
    }
    enum az_status st = resource_secrets(op, resource, &request.secrets);
    if (st == AZ_OK && (feed->stream == NULL || (feed->way.modern && is_stale(feed))))
        st = open_feed(op, feed, &request);
    if (st != AZ_OK || feed->way.modern)
        return st;
    peer_stream_answer(op, feed->stream, &request, &feed->way);
    return subscribe(op, feed, &request);
}

void
feed_tend(struct op *op, struct feed *feed, const struct managed_resource *resource,
          const struct feed_uri *uri, size_t count)
{
    int64_t now_ms = clock_monotonic_ms();
    if (feed->version != resource->version && feed->version != 0) {
        close_feed(feed);
        feed->failures = 0;
        feed->again_ms = 0;
    }
    feed->version = resource->version;
    note_wanted(feed, uri, count);
    if (feed->stream != NULL && peer_stream_is_over(feed->stream)) {
        wait_again(feed, now_ms - feed->opened_ms >= FEED_GOOD_MS);
        close_feed(feed);
    }
    if (now_ms >= feed->again_ms && take_turn(op, feed, resource) != AZ_OK) {
        log_text(AZ_SEV_WARN, "gateway feeder", "changes at the upstream of %s are not heard: %s",
                 resource->name, op->fault.detail);
        wait_again(feed, false);
        close_feed(feed);
    }
    forget_unwanted(feed);
}
