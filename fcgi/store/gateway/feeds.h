/* URIs at MCP upstreams whose changes are reported to clients, and the feeders that subscribe at
 * the upstreams (gateway-admin.md 1.15). */
#ifndef AZ_STORE_GATEWAY_FEEDS_H
#define AZ_STORE_GATEWAY_FEEDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/op.h"

/* Seconds for which a URI is wanted after a stream or a subscription said so; relays say it again
 * while they hold a stream. */
#define FEED_WANTED_SECONDS "60"
/* Seconds for which a feeder holds a resource: it renews this every second, and another feeder
 * takes over when its host is gone. */
#define FEED_LEASE_SECONDS "30"
/* Seconds before a new stream in which changes are reported to it: its client may have read before
 * that, and a client that opens its stream again had no stream in between. */
#define FEED_BACK_SECONDS "30"
/* Resources that one feeder hears: each is a connection. */
#define FEEDS_MAX 64
/* URIs of one resource: each is a subscription that its upstream has to keep. */
#define FEED_URIS_MAX 200
/* URIs of one resource that one reader asked for first: those of one stream. Without this limit, a
 * reader could take all of them, and the others would be told nothing. */
#define FEED_READER_URIS_MAX 50
/* Octets of the name of a reader: a SHA-256. */
#define FEED_READER_OCTETS 32
/* Octets of the name of a feeder. */
#define FEED_HOLDER_OCTETS 16

/* A URI that is wanted. */
struct feed_mark {
    int64_t id;      /* of its row, or 0 if the URI is not at an upstream */
    int64_t changes; /* that are known */
};

/* Say that a reader wants a URI of a resource. ret->id is 0 if the resource has FEED_URIS_MAX
 * others, or FEED_READER_URIS_MAX others for which this reader was the first. A change of the last
 * FEED_BACK_SECONDS is not counted in ret->changes, so that it is told. */
enum az_status feed_want(struct op *op, int64_t resource, const char *uri,
                         const unsigned char reader[FEED_READER_OCTETS], struct feed_mark *ret);

/* Say that these are still wanted, and read their changes; -1: the row is gone. */
enum az_status feeds_keep(struct op *op, const int64_t *id, size_t count, int64_t *ret_changes);

/* A URI that a feeder is to hear of. */
struct feed_uri {
    int64_t id, resource;
    const char *uri;
};

struct feed_work {
    struct feed_uri *uri; /* in the order of their resources */
    size_t count;
    bool wanted; /* some URI is wanted, maybe of a resource that another feeder holds */
};

/* Hold the resources with wanted URIs that no other feeder holds, at most FEEDS_MAX, and read their
 * URIs. */
enum az_status feeds_take(struct op *op, const unsigned char holder[FEED_HOLDER_OCTETS],
                          struct feed_work *ret);

/* Count a change of each of these. */
enum az_status feeds_tell(struct op *op, const int64_t *id, size_t count);

/* Let other feeders have the resources. */
enum az_status feeds_leave(struct op *op, const unsigned char holder[FEED_HOLDER_OCTETS]);

#endif
