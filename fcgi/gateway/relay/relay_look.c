#include "config.h"

#include "gateway/relay/relay_look.h"

#include <stdlib.h>
#include <string.h>

#include "gateway/process/gateway_process.h"
#include "store/gateway/feeds.h"
#include "store/gateway/sessions.h"
#include "store/tokens/tokens_live.h"

#define ALL_TOPICS (RELAY_TOOLS | RELAY_PROMPTS | RELAY_RESOURCES)

/* ---- what is served */

/* Return the resource of an id, or NULL. */
static const struct served_resource *
find_served(const struct served *served, int64_t id)
{
    for (size_t i = 0; i < served->count; i++)
        if (served->resource[i].id == id)
            return &served->resource[i];
    return NULL;
}

/* Return the topics in which a resource has changed; NULL: the resource is no longer served. */
static unsigned
changed_topics(const struct served_resource *before, const struct served_resource *now)
{
    if (before == NULL || now == NULL)
        return before == now ? 0 : ALL_TOPICS;
    return (before->version != now->version ? ALL_TOPICS : 0)
           | (before->prompts != now->prompts ? (unsigned) RELAY_PROMPTS : 0);
}

/* Return the topics in which anything differs. */
static unsigned
changed_anywhere(const struct served *before, const struct served *now)
{
    unsigned topics = strcmp(before->revision, now->revision) != 0 ? ALL_TOPICS : 0;
    for (size_t i = 0; i < now->count; i++)
        topics |= changed_topics(find_served(before, now->resource[i].id), &now->resource[i]);
    for (size_t i = 0; i < before->count; i++)
        if (find_served(now, before->resource[i].id) == NULL)
            topics |= ALL_TOPICS;
    return topics;
}

/* Note what changed for a stream. */
static void
note_changes(struct relay_stream *stream, const struct served *before, const struct served *now,
             unsigned anywhere, int64_t now_ms)
{
    const struct served_resource *own = find_served(now, stream->hold.resource);
    if (stream->hold.resource != 0 && own == NULL) {
        relay_stream_end(stream, "resource", now_ms);
        return;
    }
    unsigned topics = anywhere;
    if (stream->hold.resource != 0 && strcmp(before->revision, now->revision) == 0)
        topics = changed_topics(find_served(before, own->id), own);
    stream->due |= topics & stream->hold.topics;
}

/* True if the resource of a URI of a stream changed. */
static bool
is_moved(const struct relay_stream *stream, size_t i, const struct served *before,
         const struct served *now)
{
    int64_t id = stream->hold.watched[i];
    return changed_topics(find_served(before, id), find_served(now, id)) != 0;
}

/* Note which URIs of a stream belong to resources of this service that changed. */
static void
note_uris(struct relay_stream *stream, const struct served *before, const struct served *now)
{
    for (size_t i = 0; i < stream->hold.uris && stream->ends_ms == 0; i++)
        if (stream->hold.fed[i].id == 0 && is_moved(stream, i, before, now))
            stream->due_uris |= (uint64_t) 1 << i;
}

/* Return why the URIs of a stream must be decided anew: another policy decides, or what is known of
 * an upstream is another thing; NULL: they need not. */
static const char *
find_reason(const struct relay_stream *stream, const struct served *before,
            const struct served *now)
{
    if (stream->hold.uris > 0 && strcmp(stream->hold.text[RELAY_REVISION], now->revision) != 0)
        return "policy";
    for (size_t i = 0; i < stream->hold.uris; i++)
        if (stream->hold.fed[i].id != 0 && is_moved(stream, i, before, now))
            return "resource";
    return NULL;
}

/* Let a stream end at a time for a reason, if there is one. It gets no more events of its URIs.
 */
static void
end_later(struct relay_stream *stream, const char *why, int64_t ends_ms)
{
    if (why == NULL || stream->ends_ms != 0)
        return;
    stream->ends_ms = ends_ms;
    stream->ends_why = why;
    stream->due_uris = 0;
}

enum az_status
relay_look_served(struct op *op, struct relay_sight *sight, struct relay_stream *const *stream,
                  size_t count, int64_t now_ms)
{
    struct served now;
    TALLOC_CTX *mem = talloc_new(NULL);
    enum az_status st = served_read(op, mem, &now);
    if (st != AZ_OK) {
        talloc_free(mem);
        return st;
    }
    unsigned anywhere = sight->mem != NULL ? changed_anywhere(&sight->served, &now) : 0;
    for (size_t i = 0; sight->mem != NULL && i < count; i++) {
        end_later(stream[i], find_reason(stream[i], &sight->served, &now),
                  now_ms + (int64_t) (i * RELAY_SPREAD_MS / count));
        note_uris(stream[i], &sight->served, &now);
        if (stream[i]->ended == NULL && stream[i]->reply < 0)
            note_changes(stream[i], &sight->served, &now, anywhere, now_ms);
    }
    talloc_free(sight->mem);
    *sight = (struct relay_sight){mem, now};
    return AZ_OK;
}

/* ---- tokens */

/* Collect the streams of one partition that were not looked at; *ret_count of them. */
static void
collect(struct relay_stream *const *stream, size_t count, bool *seen, struct relay_stream **ret,
        size_t *ret_count)
{
    *ret_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (seen[i] || (*ret_count > 0 && stream[i]->hold.bucket != ret[0]->hold.bucket))
            continue;
        seen[i] = true;
        if (stream[i]->ended == NULL && stream[i]->reply < 0)
            ret[(*ret_count)++] = stream[i];
    }
}

enum az_status
relay_look_tokens(struct op *op, struct relay_stream *const *stream, size_t count, int64_t now_ms)
{
    size_t taken;
    enum az_status st = AZ_OK;
    bool *seen = talloc_zero_array(op->mem, bool, (unsigned) count + 1);
    bool *live = talloc_zero_array(op->mem, bool, (unsigned) count + 1);
    struct relay_stream **same =
        talloc_zero_array(op->mem, struct relay_stream *, (unsigned) count + 1);
    unsigned char(*id)[UUID7_OCTETS] = talloc_zero_size(op->mem, (count + 1) * UUID7_OCTETS);
    if (seen == NULL || live == NULL || same == NULL || id == NULL)
        return op_no_memory(op);
    for (;;) {
        collect(stream, count, seen, same, &taken);
        if (taken == 0)
            return AZ_OK;
        for (size_t i = 0; i < taken; i++)
            memcpy(id[i], same[i]->hold.token, UUID7_OCTETS);
        st = tokens_live(op, same[0]->hold.bucket, (const unsigned char(*)[UUID7_OCTETS]) id, taken,
                         live);
        if (st != AZ_OK)
            return st;
        for (size_t i = 0; i < taken; i++)
            if (!live[i])
                relay_stream_end(same[i], "token", now_ms);
    }
}

/* ---- sessions */

enum az_status
relay_look_sessions(struct op *op, struct relay_stream *const *stream, size_t count, int64_t now_ms)
{
    size_t taken = 0;
    struct gateway_session_row *row =
        talloc_zero_array(op->mem, struct gateway_session_row, (unsigned) count + 1);
    struct relay_stream **same =
        talloc_zero_array(op->mem, struct relay_stream *, (unsigned) count + 1);
    unsigned char(*id)[GATEWAY_SESSION_OCTETS] =
        talloc_zero_size(op->mem, (count + 1) * GATEWAY_SESSION_OCTETS);
    if (row == NULL || same == NULL || id == NULL)
        return op_no_memory(op);
    for (size_t i = 0; i < count; i++) {
        if (!stream[i]->hold.in_session || stream[i]->ended != NULL || stream[i]->reply >= 0)
            continue;
        memcpy(id[taken], stream[i]->hold.session, sizeof(id[taken]));
        same[taken++] = stream[i];
    }
    if (taken == 0)
        return AZ_OK;
    enum az_status st =
        sessions_look(op, (const unsigned char(*)[GATEWAY_SESSION_OCTETS]) id, taken, row);
    for (size_t i = 0; st == AZ_OK && i < taken; i++) {
        if (row[i].ended)
            relay_stream_end(same[i], "session", now_ms);
        else if (row[i].changes != same[i]->hold.changes)
            relay_stream_end(same[i], "subscriptions", now_ms);
    }
    return st;
}

/* ---- URIs at upstreams */

static int
compare_ids(const void *a, const void *b)
{
    int64_t left = *(const int64_t *) a, right = *(const int64_t *) b;
    return left < right ? -1 : left > right;
}

/* Collect the rows of all streams, each once, in their order; *ret NULL: out of memory. */
static size_t
collect_ids(TALLOC_CTX *mem, struct relay_stream *const *stream, size_t count, int64_t **ret)
{
    size_t taken = 0, kept = 0;
    int64_t *id = talloc_zero_array(mem, int64_t, (unsigned) (count * RELAY_URIS_MAX) + 1);
    for (size_t i = 0; id != NULL && i < count; i++)
        for (size_t j = 0; j < stream[i]->hold.uris && stream[i]->ended == NULL; j++)
            if (stream[i]->hold.fed[j].id != 0)
                id[taken++] = stream[i]->hold.fed[j].id;
    if (taken > 0)
        qsort(id, taken, sizeof(*id), compare_ids);
    for (size_t i = 0; i < taken; i++)
        if (kept == 0 || id[kept - 1] != id[i])
            id[kept++] = id[i];
    *ret = id;
    return kept;
}

/* Note what changed of the URIs of a stream. */
static void
note_feeds(struct relay_stream *stream, const int64_t *id, size_t ids, const int64_t *changes,
           int64_t now_ms)
{
    for (size_t i = 0; i < stream->hold.uris && stream->ended == NULL; i++) {
        struct feed_mark *mark = &stream->hold.fed[i];
        const int64_t *at =
            mark->id != 0 ? bsearch(&mark->id, id, ids, sizeof(*id), compare_ids) : NULL;
        int64_t now = at != NULL ? changes[at - id] : mark->changes;
        if (now < 0)
            relay_stream_end(stream, "subscriptions", now_ms);
        else if (now != mark->changes && stream->ends_ms == 0)
            stream->due_uris |= (uint64_t) 1 << i;
        mark->changes = now;
    }
}

enum az_status
relay_look_feeds(struct op *op, struct relay_stream *const *stream, size_t count, int64_t now_ms)
{
    int64_t *id, *changes;
    size_t ids = collect_ids(op->mem, stream, count, &id);
    if (id == NULL || (changes = talloc_zero_array(op->mem, int64_t, (unsigned) ids + 1)) == NULL)
        return op_no_memory(op);
    if (ids == 0)
        return AZ_OK;
    relay_ring(op->az->gateway->relay);
    enum az_status st = feeds_keep(op, id, ids, changes);
    for (size_t i = 0; st == AZ_OK && i < count; i++)
        if (stream[i]->reply < 0)
            note_feeds(stream[i], id, ids, changes, now_ms);
    return st;
}
