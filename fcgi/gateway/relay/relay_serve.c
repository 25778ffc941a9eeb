#include "config.h"

#include "gateway/relay/relay_serve.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/settings/settings.h"
#include "gateway/process/gateway_process.h"
#include "gateway/relay/relay_look.h"
#include "gateway/relay/relay_message.h"
#include "gateway/relay/relay_stream.h"
#include "store/db/db.h"
#include "store/db/rows/audit.h"

/* Time without a word after which a comment is sent, so that the web server does not take the
 * service for dead: less than half of read-timeout of etc/lighttpd (60 s). */
#define COMMENT_MS 25000
#define COMMENT ": \n\n"
/* Least time between two events of one stream, so that a resource that changes all the time does
 * not have all clients ask all the time. */
#define EVENTS_MS 10000
/* Streams that get events in one turn, so that their clients do not ask all at once. */
#define EVENTS_AT_ONCE 100
#define TURN_MS 250
/* Longest time between two turns while there are streams. */
#define TICK_MS 1000
/* Least time between a look and one that is made for room. */
#define LOOK_AGAIN_MS 1000
/* Events of descriptors that are taken at once, and descriptors of the process beside the streams'.
 */
#define EVENTS 64
#define DESCRIPTORS 64

struct relay {
    struct op *op;
    int line, epoll;
    struct relay_stream **stream; /* of SVC_GATEWAY_STREAMS, and those that wait for their worker */
    size_t count, most;
    struct relay_sight sight;
    int64_t looked_ms;
    int failed; /* looks in a row */
    char *room; /* for a message */
};

static struct op
step_of(const struct relay *relay)
{
    struct op step = op_beside(relay->op, talloc_new(relay->op->mem));
    step.now_ms = clock_realtime_ms();
    return step;
}

/* ---- the end of a stream */

/* Write the audit row of the end of a stream; the loop does not wait for its commit. False: it
 * cannot be written. */
static bool
note_end(const struct relay *relay, const struct relay_stream *stream, int64_t now_ms)
{
    struct op step = step_of(relay);
    const char *const *text = stream->hold.text;
    const struct audit_entry entry = {
        .request_id = text[RELAY_REQUEST_ID],
        .client_id = text[RELAY_CLIENT],
        .subject_id = *text[RELAY_SUBJECT] != '\0' ? text[RELAY_SUBJECT] : NULL,
        .endpoint = text[RELAY_ENDPOINT],
        .operation = text[RELAY_OPERATION],
        .method = text[RELAY_METHOD],
        .http_status = 200,
        .outcome = "allowed",
        .summary = talloc_asprintf(step.mem,
                                   "{\"kind\":\"subscription\",\"ended\":\"%s\",\"seconds\":%lld}",
                                   stream->ended, (long long) (now_ms - stream->began_ms) / 1000),
    };
    bool sent = audit_send(&step, &entry) == AZ_OK;
    if (sent)
        db_settle(&step);
    else
        log_text(AZ_SEV_WARN, "gateway relay", "no audit rows of the ends of streams: %s",
                 step.fault.detail);
    talloc_free(step.mem);
    return sent;
}

/* Forget the streams that are over. Their descriptors are taken out of epoll first: the worker may
 * still have a copy of one, and epoll would go on to report it. */
static void
sweep(struct relay *relay)
{
    size_t kept = 0;
    bool writes = true; /* one wait for a database that is away, not one for each stream */
    int64_t now_ms = clock_monotonic_ms();
    for (size_t i = 0; i < relay->count; i++) {
        struct relay_stream *stream = relay->stream[i];
        if (stream->ended == NULL) {
            relay->stream[kept++] = stream;
            continue;
        }
        bool begun = stream->reply < 0;
        epoll_ctl(relay->epoll, EPOLL_CTL_DEL, begun ? stream->connection : stream->reply, NULL);
        if (begun && writes)
            writes = note_end(relay, stream, now_ms);
        talloc_free(stream);
    }
    relay->count = kept;
    if (kept == 0 && relay->op->az->db != NULL) {
        TALLOC_FREE(relay->sight.mem);
        db_close(relay->op->az->db); /* nothing is looked for until the next stream */
    }
}

static void
end_all(struct relay *relay, const char *why)
{
    int64_t now_ms = clock_monotonic_ms();
    for (size_t i = 0; i < relay->count; i++) {
        struct relay_stream *stream = relay->stream[i];
        if (stream->ended != NULL)
            continue;
        if (stream->reply < 0)
            relay_stream_end(stream, why, now_ms);
        else
            stream->ended = why; /* the connection is the worker's */
    }
}

/* ---- looks */

/* Look at the database. Without it nothing is known of the tokens, and all streams end. */
static bool
look(struct relay *relay)
{
    struct op step = step_of(relay);
    int64_t now_ms = clock_monotonic_ms();
    enum az_status st =
        relay_look_served(&step, &relay->sight, relay->stream, relay->count, now_ms);
    if (st == AZ_OK)
        st = relay_look_tokens(&step, relay->stream, relay->count, now_ms);
    if (st == AZ_OK)
        st = relay_look_sessions(&step, relay->stream, relay->count, now_ms);
    if (st == AZ_OK)
        st = relay_look_feeds(&step, relay->stream, relay->count, now_ms);
    relay->looked_ms = clock_monotonic_ms();
    relay->failed = st == AZ_OK ? 0 : relay->failed + 1;
    if (st != AZ_OK)
        log_text(AZ_SEV_WARN, "gateway relay", "not looked at: %s", step.fault.detail);
    if (relay->failed >= RELAY_LOOKS_FAILED_MAX)
        end_all(relay, "database");
    talloc_free(step.mem);
    return st == AZ_OK;
}

/* ---- a stream that is handed over */

/* True if a stream is the one of the session of another. */
static bool
has_session_of(const struct relay_stream *stream, const struct relay_hold *hold)
{
    return stream->ended == NULL && hold->in_session && stream->hold.in_session
           && memcmp(stream->hold.session, hold->session, sizeof(hold->session)) == 0;
}

/* Say if there is room for a stream: RELAY_HELD, or what is full. A stream that has ended takes no
 * share. */
static char
count_room(const struct relay *relay, const struct relay_hold *hold)
{
    size_t client = 0, own = 0, person = 0;
    for (size_t i = 0; i < relay->count; i++) {
        const struct relay_hold *other = &relay->stream[i]->hold;
        if (relay->stream[i]->ended != NULL)
            continue;
        client += other->client == hold->client;
        own += other->client == hold->client && other->person == 0;
        person += hold->person != 0 && other->person == hold->person;
        if (has_session_of(relay->stream[i], hold))
            return RELAY_SESSION_FULL;
    }
    if (relay->count >= relay->most) /* the array is full until the next sweep */
        return RELAY_FULL;
    if (hold->person == 0 ? own >= RELAY_CLIENT_MAX : person >= RELAY_PERSON_MAX)
        return hold->person == 0 ? RELAY_CLIENT_FULL : RELAY_PERSON_FULL;
    /* A client of many people leaves room for other clients. */
    return client >= RELAY_CLIENT_MAX && client >= relay->most / 4 ? RELAY_CLIENT_FULL : RELAY_HELD;
}

/* The same. A session that was deleted holds its stream until the next look, which comes at once if
 * there is no room, at most once a second: whoever opens streams must not cause more looks. */
static char
find_room(struct relay *relay, const struct relay_hold *hold)
{
    char answer = count_room(relay, hold);
    if (answer == RELAY_HELD || answer == RELAY_SESSION_FULL
        || clock_monotonic_ms() - relay->looked_ms < LOOK_AGAIN_MS || !look(relay))
        return answer;
    return count_room(relay, hold);
}

/* Take a stream, or say why not. Before the first stream, read what is served, so that later
 * changes are noticed. */
static void
take_stream(struct relay *relay)
{
    struct relay_hold hold;
    int passed[RELAY_DESCRIPTORS];
    if (!relay_message_receive(relay->line, relay->room, &hold, passed))
        return;
    char answer = find_room(relay, &hold);
    if (answer == RELAY_HELD && relay->count == 0 && !look(relay))
        answer = RELAY_NO_DATABASE;
    struct relay_stream *stream = relay_stream_new(relay->op->mem, &hold, passed[0], passed[1]);
    if (stream == NULL)
        return;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = stream};
    if (send(stream->reply, &answer, 1, MSG_DONTWAIT | MSG_NOSIGNAL) != 1 || answer != RELAY_HELD
        || epoll_ctl(relay->epoll, EPOLL_CTL_ADD, stream->reply, &event) != 0) {
        talloc_free(stream);
        return;
    }
    relay->stream[relay->count++] = stream;
}

/* Hear the worker of a stream: it may begin, or the worker keeps it. */
static void
hear_worker(struct relay *relay, struct relay_stream *stream)
{
    char word = 0;
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data.ptr = stream};
    if (recv(stream->reply, &word, 1, MSG_DONTWAIT) != 1 || word != RELAY_GO) {
        stream->ended = "not_begun";
        return;
    }
    epoll_ctl(relay->epoll, EPOLL_CTL_DEL, stream->reply, NULL);
    close(stream->reply);
    stream->reply = -1;
    stream->began_ms = stream->written_ms = clock_monotonic_ms();
    stream->sent_ms = stream->began_ms - EVENTS_MS;
    if (epoll_ctl(relay->epoll, EPOLL_CTL_ADD, stream->connection, &event) != 0)
        stream->ended = "no_memory";
}

/* ---- turns */

/* Tell a stream what is due. */
static void
tell(struct relay_stream *stream, int64_t now_ms)
{
    for (unsigned i = 0; i < RELAY_TOPICS; i++)
        if ((stream->due & 1U << i) != 0 && stream->ended == NULL)
            relay_stream_send(stream, stream->hold.text[i], now_ms);
    stream->due = 0;
    relay_stream_update(stream, now_ms);
    stream->sent_ms = now_ms;
}

/* Do what is due for all streams. Return true if some wait for another turn. */
static bool
turn(struct relay *relay)
{
    int64_t now_ms = clock_monotonic_ms(), now = clock_realtime_ms() / 1000;
    int sent = 0;
    for (size_t i = 0; i < relay->count; i++) {
        struct relay_stream *stream = relay->stream[i];
        if (stream->ended != NULL || stream->reply >= 0)
            continue;
        bool tells =
            (stream->due != 0 || stream->due_uris != 0) && now_ms - stream->sent_ms >= EVENTS_MS;
        if (stream->hold.expires_at <= now)
            relay_stream_end(stream, "expired", now_ms);
        else if (stream->ends_ms != 0 && stream->ends_ms <= now_ms)
            relay_stream_end(stream, stream->ends_why, now_ms);
        else if (tells && sent++ < EVENTS_AT_ONCE)
            tell(stream, now_ms);
        else if (now_ms - stream->written_ms >= COMMENT_MS)
            relay_stream_send(stream, COMMENT, now_ms);
    }
    return sent > EVENTS_AT_ONCE;
}

/* Let epoll report when a connection takes octets again, while some are kept. */
static void
await_room(struct relay *relay)
{
    for (size_t i = 0; i < relay->count; i++) {
        struct relay_stream *stream = relay->stream[i];
        struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data.ptr = stream};
        bool waits = stream->unsent_length > 0;
        if (stream->reply >= 0 || stream->ended != NULL || waits == stream->waits)
            continue;
        event.events |= waits ? EPOLLOUT : 0U;
        stream->waits =
            epoll_ctl(relay->epoll, EPOLL_CTL_MOD, stream->connection, &event) == 0 && waits;
    }
}

/* Take what epoll reported of a stream. */
static void
take_event(struct relay *relay, struct relay_stream *stream, uint32_t events)
{
    if (stream->ended != NULL)
        return;
    if (stream->reply >= 0) {
        hear_worker(relay, stream);
        return;
    }
    if ((events & EPOLLOUT) != 0 && stream->unsent_length > 0)
        relay_stream_flush(stream);
    if ((events & ~(uint32_t) EPOLLOUT) != 0)
        relay_stream_read(stream);
}

/* Wait for events, and take them. */
static void
take_events(struct relay *relay, int ms)
{
    struct epoll_event event[EVENTS];
    int count = epoll_wait(relay->epoll, event, EVENTS, ms);
    for (int i = 0; i < count; i++)
        if (event[i].data.ptr == NULL)
            take_stream(relay);
        else
            take_event(relay, event[i].data.ptr, event[i].events);
}

/* ---- the process */

/* Raise the limit of descriptors, and return the streams that it allows. */
static size_t
allow_streams(long wanted)
{
    struct rlimit files;
    rlim_t most = (rlim_t) wanted + DESCRIPTORS;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return 0;
    if (files.rlim_cur < most) {
        files.rlim_cur = most < files.rlim_max ? most : files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    if (files.rlim_cur >= most)
        return (size_t) wanted;
    log_text(AZ_SEV_WARN, "gateway relay",
             "SVC_GATEWAY_STREAMS is %ld, but the limit of open files (LimitNOFILE) allows %lld",
             wanted, (long long) files.rlim_cur - DESCRIPTORS);
    return files.rlim_cur > DESCRIPTORS ? (size_t) files.rlim_cur - DESCRIPTORS : 0;
}

/* Wipe the keys and secrets: this process needs none. */
static void
forget_secrets(struct az *az)
{
    TALLOC_FREE(az->keyring);
    TALLOC_FREE(az->signing_keys);
    settings_forget_secrets((struct settings *) (uintptr_t) az->cfg);
}

static bool
begin(struct relay *relay)
{
    struct az *az = relay->op->az;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    prctl(PR_SET_NAME, "authz-relay");
    forget_secrets(az);
    relay->line = relay_line_receiver(az->gateway->relay);
    relay->most = allow_streams(az->cfg->gateway_streams);
    relay->room = talloc_size(relay->op->mem, RELAY_MESSAGE_MAX);
    relay->stream =
        talloc_zero_array(relay->op->mem, struct relay_stream *, (unsigned) relay->most + 1);
    relay->epoll = epoll_create1(EPOLL_CLOEXEC);
    return relay->room != NULL && relay->stream != NULL && relay->epoll >= 0
           && epoll_ctl(relay->epoll, EPOLL_CTL_ADD, relay->line, &event) == 0;
}

void
relay_serve(struct op *op)
{
    struct relay relay = {.op = op};
    if (!begin(&relay)) {
        log_text(AZ_SEV_ERROR, "gateway relay", "it cannot begin: %s", strerror(errno));
        return;
    }
    while (!*op->az->stopping) {
        bool waits = turn(&relay);
        if (relay.count > 0 && clock_monotonic_ms() - relay.looked_ms >= RELAY_LOOK_SECONDS * 1000L)
            look(&relay);
        await_room(&relay);
        sweep(&relay);
        take_events(&relay, relay.count == 0 ? -1 : waits ? TURN_MS : TICK_MS);
    }
    end_all(&relay, "stopped");
    sweep(&relay);
}
