/* Documents fetched from other servers, and the leases on them (http/fetch/documents.h). All times
 * are the database's, because the clocks of hosts differ. */
#ifndef AZ_STORE_CLIENTS_DOCUMENTS_H
#define AZ_STORE_CLIENTS_DOCUMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"

/* Octets of a key (SHA-256) and of a lease (random). */
#define DOCUMENT_KEY_OCTETS 32
#define DOCUMENT_LEASE_OCTETS 16

/* A request for a document, and the state of the caller's wait for it. */
struct document_wish {
    unsigned char key[DOCUMENT_KEY_OCTETS]; /* of kind and URL */
    const char *kind;                       /* a word */
    const char *url;                        /* address */
    int64_t not_before; /* a document fetched earlier (milliseconds since 1970) is not good enough;
                           0: any is. Keys may change within the second of a fetch */
    int64_t again;      /* unless one was fetched for such a request within this many seconds */
    int64_t grace; /* seconds past its end during which a document may serve if there is no other */
    const char *began; /* time of the first look, from a document_look; NULL before */
    const char *seen;  /* lease that the caller waits for, from a document_look, or NULL */
};

/* State of the row; texts live on op->mem. */
struct document_look {
    const char *body;    /* last good document, or NULL */
    int64_t fetched_ms;  /* time of its fetch */
    int64_t lasts;       /* seconds until it expires */
    bool good;           /* it is good enough */
    bool kept;           /* it may serve if there is no other */
    bool leased;         /* a process is fetching it now */
    bool failed;         /* the host must not be asked yet, or the awaited fetch failed */
    bool idle;           /* no request for it in an hour */
    const char *failure; /* text of document_fail(), or NULL */
    const char *lease;   /* for wish->seen */
    const char *now;     /* for wish->began */
    int64_t now_ms;      /* the same, as a number */
};

/* Read the row of a document: its content, its age, and if a fetch of it is leased. One trip; *ret
 * lives on op->mem. */
enum az_status document_look(struct op *op, const struct document_wish *wish,
                             struct document_look *ret);

/*
 * Take the lease for `seconds`, unless another process holds it, or the document is good by now, or
 * has failed in the sense of document_look(). *ret_ours: it is ours. *ret_before: the body before,
 * or NULL. A lease taken in place of a document that is valid but not new enough counts for
 * wish->again.
 */
enum az_status document_lease(struct op *op, const struct document_wish *wish, long seconds,
                              const unsigned char lease[DOCUMENT_LEASE_OCTETS], bool *ret_ours,
                              const char **ret_before);

/* End the lease with a good document that is valid for so many seconds. A lease that another
 * process has taken meanwhile is left alone; *ret_fetched_ms is untouched then. */
enum az_status document_keep(struct op *op, const struct document_wish *wish,
                             const unsigned char lease[DOCUMENT_LEASE_OCTETS], const char *body,
                             int64_t seconds, int64_t *ret_fetched_ms);

/* End the lease without a document. The host is not asked again for `pause` seconds. `refused`:
 * this service does not fetch from that address; nothing is kept of it, unless there was a document
 * before. */
enum az_status document_fail(struct op *op, const struct document_wish *wish,
                             const unsigned char lease[DOCUMENT_LEASE_OCTETS], const char *failure,
                             long pause, bool refused);

/* Find out since when no fetch of the document has succeeded, if that is longer than so many of its
 * lives; a document that never came has a life of `life` seconds. *ret_since, the time as text, and
 * *ret_failure, of the last fetch or NULL, are untouched if it is not. */
enum az_status document_failing(struct op *op, const struct document_wish *wish, int lives,
                                int64_t life, const char **ret_since, const char **ret_failure);

/* Take the lease of a host for `seconds`; *ret_ours false: a document of it is being fetched. */
enum az_status document_host_lease(struct op *op, const char *host, long seconds,
                                   const unsigned char lease[DOCUMENT_LEASE_OCTETS],
                                   bool *ret_ours);

/* End the lease of a host. One that another process has taken meanwhile is left alone. */
enum az_status document_host_end(struct op *op, const char *host,
                                 const unsigned char lease[DOCUMENT_LEASE_OCTETS]);

/* Record that the document was requested. */
enum az_status document_touch(struct op *op, const struct document_wish *wish);

/* Remove documents that were not requested for `days`, leases and failures without a document, and
 * leases of hosts whose process has died. */
enum az_status document_forget(struct op *op, int days);

/* Remove some of the rows of a kind beyond `most`: those without a document first, then those
 * unused for longest. */
enum az_status document_evict(struct op *op, const char *kind, int64_t most);

#endif
