/*
 * The relay holds the connections of answers that go on without a worker: streams of MCP clients
 * that wait for changes (gateway-admin.md 1.9). A worker decides, sends the head, and hands the
 * connection over with everything that may be sent on it; the relay chooses among these texts and
 * writes no other. It is a child of the parent of the pools, on a socket that only the parent's
 * children have.
 */
#ifndef AZ_GATEWAY_RELAY_RELAY_H
#define AZ_GATEWAY_RELAY_RELAY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <talloc.h>

#include "base/op.h"
#include "base/uuid7.h"
#include "store/gateway/feeds.h"
#include "store/gateway/sessions.h"

/* Topics of a stream: changes of lists, as bits. */
enum relay_topic {
    RELAY_TOOLS = 1 << 0,
    RELAY_PROMPTS = 1 << 1,
    RELAY_RESOURCES = 1 << 2,
};
#define RELAY_TOPICS 3

/* The texts of a stream: the events of its topics, in the order of their bits, and others. */
enum relay_text {
    RELAY_EVENT_TOOLS,
    RELAY_EVENT_PROMPTS,
    RELAY_EVENT_RESOURCES,
    RELAY_EVENTS_UPDATED, /* the events of its URIs, one after the other */
    RELAY_REVISION,       /* of the policy that was asked about its URIs */
    RELAY_LAST,           /* the events that end the stream */
    RELAY_REQUEST_ID,
    RELAY_CLIENT,
    RELAY_SUBJECT,  /* or "" */
    RELAY_ENDPOINT, /* of the audit row, as the next one */
    RELAY_METHOD,
    RELAY_OPERATION,
    RELAY_TEXTS
};

/* URIs of one stream: what a person works with. */
#define RELAY_URIS_MAX 50
/* Octets of their events. */
#define RELAY_UPDATES_MAX (16 << 10)

/* A stream, as it is handed over. */
struct relay_hold {
    unsigned request;                  /* number of the request on its FastCGI connection */
    uint32_t bucket;                   /* partition of the token */
    unsigned char token[UUID7_OCTETS]; /* its row */
    int64_t expires_at;                /* end of the token, seconds since 1970 */
    int64_t resource;                  /* row of the managed resource; 0: the stream is about all */
    uint64_t client, person;           /* numbers under which it is counted; person 0: none */
    bool in_session;                   /* the stream ends with a session: */
    unsigned char session[GATEWAY_SESSION_OCTETS];
    int64_t changes;                      /* of its subscriptions, before the stream began */
    unsigned topics;                      /* bits of enum relay_topic */
    size_t uris;                          /* that the stream is about */
    int64_t watched[RELAY_URIS_MAX];      /* row of the managed resource of each */
    struct feed_mark fed[RELAY_URIS_MAX]; /* of URIs at upstreams, to which a feeder subscribes */
    const char *text[RELAY_TEXTS];        /* never NULL; "" for a topic whose bit is not set */
};

/* Octets of a message to the relay: the texts repeat an id of JSON_RPC_ID_MAX octets, with escapes
 * of six octets for one, up to six times; and RELAY_UPDATES_MAX. */
#define RELAY_MESSAGE_MAX (50 << 10)

/* Streams of one client that are no person's, and of one person: what the programs of a person
 * need, and too few to take the room of others. */
#define RELAY_CLIENT_MAX 20
#define RELAY_PERSON_MAX 10

struct relay_line;
struct relay_reservation;

/* Make the line between workers and relay, before the first of them is forked. NULL: it cannot be
 * made, and streams are not held. */
struct relay_line *relay_line_new(TALLOC_CTX *mem);

/* Return the relay's end of a line. */
int relay_line_receiver(const struct relay_line *line);

/* Wake the feeder (gateway/feed): URIs at upstreams are wanted. */
void relay_ring(const struct relay_line *line);

/* Return the descriptor that the feeder reads to learn of that, and its name among those of all
 * hosts, which stays when the process is started again. */
int relay_bell(const struct relay_line *line);
const unsigned char *relay_feeder(const struct relay_line *line);

/*
 * Ask the relay to hold a connection once relay_start() says so; until then, and if the reservation
 * is freed before, it does not touch it. AZ_CONFLICT: the session has a stream. AZ_BUSY: all
 * streams, or those of the client or the person, are taken. AZ_UNAVAILABLE: the relay does not
 * answer, or cannot read the database.
 */
enum az_status relay_reserve(struct op *op, int connection, const struct relay_hold *hold,
                             struct relay_reservation **ret);

/* Let the relay go on with the connection, which is its own from now on. False: it cannot. */
bool relay_start(struct relay_reservation *reservation);

#endif
