/* Fetched documents of others and the leases on them (http/fetch/documents.h). All times are the
 * database's: the clocks of hosts differ. */
#ifndef AZ_STORE_CLIENTS_DOCUMENTS_H
#define AZ_STORE_CLIENTS_DOCUMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"

/* Octets of a key (SHA-256) and of a lease (random). */
#define DOCUMENT_KEY_OCTETS 32
#define DOCUMENT_LEASE_OCTETS 16

/* What one asks for, and what he has seen so far. */
struct document_wish {
    unsigned char key[DOCUMENT_KEY_OCTETS]; /* of kind and URL */
    const char *kind;                       /* a word */
    const char *url;                        /* where it lies */
    int64_t not_before; /* one fetched earlier (seconds since 1970) will not do; 0: any */
    int64_t again;      /* unless it was fetched for one like this within so many seconds */
    int64_t grace;      /* seconds past its time that one may serve when there is no other */
    const char *began;  /* when the first look was, of a document_look; NULL before */
    const char *seen;   /* the lease that is waited for, of a document_look; NULL: none */
};

/* A look at the row; texts live on op->mem. */
struct document_look {
    const char *body;   /* the last good one, NULL: none */
    int64_t fetched_at; /* of that, seconds since 1970 */
    int64_t lasts;      /* seconds that it holds from now on */
    bool good;          /* it will do */
    bool kept;          /* it may serve when there is no other */
    bool leased;        /* somebody fetches it now */
    bool failed; /* the host is not to be asked yet, or the fetch that was waited for failed */
    bool idle;   /* nobody asked for it in an hour */
    const char *failure; /* what document_fail() wrote, NULL: nothing */
    const char *lease;   /* for wish->seen */
    const char *now;     /* for wish->began */
    int64_t now_s;       /* the same, seconds since 1970 */
};

enum az_status document_look(struct op *op, const struct document_wish *wish,
                             struct document_look *ret);

/*
 * Takes the lease for `seconds`, unless there is one, or the document is good by now, or has failed
 * as document_look() says. *ret_ours: it is ours. *ret_before: the body there was, NULL: none.
 * Taken in place of a document that holds but is not new enough, it counts for wish->again.
 */
enum az_status document_lease(struct op *op, const struct document_wish *wish, long seconds,
                              const unsigned char lease[DOCUMENT_LEASE_OCTETS], bool *ret_ours,
                              const char **ret_before);

/* Ends the lease with a good document that holds for so many seconds. A lease that another has
 * taken meanwhile is left alone. *ret_fetched_at: seconds since 1970, untouched in that case. */
enum az_status document_keep(struct op *op, const struct document_wish *wish,
                             const unsigned char lease[DOCUMENT_LEASE_OCTETS], const char *body,
                             int64_t seconds, int64_t *ret_fetched_at);

/* Ends the lease without one. The host is not asked again for `pause` seconds. */
enum az_status document_fail(struct op *op, const struct document_wish *wish,
                             const unsigned char lease[DOCUMENT_LEASE_OCTETS], const char *failure,
                             long pause);

/* Notes that it was asked for. */
enum az_status document_touch(struct op *op, const struct document_wish *wish);

/* Removes what nobody asked for in `days`, and leases and failures without a document. */
enum az_status document_forget(struct op *op, int days);

/* Removes those of a kind beyond `most`, longest unused first: some of them. */
enum az_status document_evict(struct op *op, const char *kind, int64_t most);

#endif
