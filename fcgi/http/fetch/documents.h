/*
 * JSON documents of others, fetched once for all workers and hosts: discovery, key sets, client
 * metadata. Kept in the database with their age; one fetch at a time per document (a lease row, no
 * lock is held over HTTP); failures and bad documents are never kept (decisions.md "Readings"). A
 * process remembers discovery and key sets for a moment beside that (document_memory.h). Not client
 * metadata: anybody names those and could crowd the others out, and where a code is sent has to
 * follow a change on all hosts at once.
 */
#ifndef AZ_HTTP_FETCH_DOCUMENTS_H
#define AZ_HTTP_FETCH_DOCUMENTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"
#include "http/fetch/fetch.h"

enum document_kind {
    DOCUMENT_DISCOVERY,       /* of an identity provider: kept a day */
    DOCUMENT_KEYS,            /* a JWK Set: kept an hour, fetched again for an unknown kid */
    DOCUMENT_CLIENT_METADATA, /* kept as its Cache-Control says, at most SVC_CIMD_CACHE_TTL_SECONDS
                               */
};

/* Says whether a document is good; the fault of a bad one is set by it (op_fail). Bad ones are not
 * kept. */
typedef enum az_status document_check_fn(struct op *op, const char *url, const json_t *document);

struct document {
    const json_t *json; /* the object; lives as long as the operation, others read it too */
    int64_t fetched_at; /* seconds since 1970 */
    bool changed;       /* it was fetched just now, and differs from the one before */
};

/*
 * The document at a URL: the kept one while it is fresh, else fetched (by this worker, or by
 * another that is at it: then waited for, at most as long as a fetch may take). `not_before`: one
 * fetched earlier (seconds since 1970) will not do, unless somebody had it fetched before its time
 * within the last 60 s; 0: any fresh one. A kept one that is past its time is not used when the
 * fetch fails, but for discovery and keys up to a day. AZ_UNAVAILABLE: it cannot be had now;
 * AZ_BUSY: half of the workers fetch, and nobody was asked; another status: `check` gave it.
 * *ret_fault (or NULL) says why.
 */
enum az_status document_get(struct op *op, enum document_kind kind, const char *url,
                            int64_t not_before, document_check_fn *check, struct document *ret,
                            enum fetch_fault *ret_fault);

/* Housekeeping: forgets documents nobody asked for in a week, and what is beyond DOCUMENTS_MAX. */
enum az_status documents_prune(struct op *op);

#endif
