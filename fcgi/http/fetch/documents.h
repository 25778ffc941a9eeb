/*
 * JSON documents of other servers, fetched once for all workers and hosts: discovery, key sets,
 * client metadata. The database keeps them with their age; lease rows allow one fetch at a time per
 * document, and per host of client metadata, and no lock is held over HTTP; failures and bad
 * documents are never kept. A process also remembers discovery and key sets for a moment
 * (document_memory.h). It does not remember documents that clients name: any client can name some
 * and would push out the others, and a changed redirect_uri must take effect on all hosts at once.
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
    DOCUMENT_UPSTREAM,        /* metadata of an upstream of the gateway or its authorization server:
                                 kept a day */
    DOCUMENT_KEYS,            /* a JWK Set: kept an hour, fetched again for an unknown kid */
    DOCUMENT_CLIENT_KEYS,     /* the same, of a client that registered itself; bounded as below */
    DOCUMENT_TRUST_BUNDLE,    /* of SPIFFE: kept for SVC_SPIFFE_TRUST_BUNDLE_REFRESH_SECONDS or as
                                 long as it says itself, if that is shorter */
    DOCUMENT_CLIENT_METADATA, /* kept as its Cache-Control says, at most SVC_CIMD_CACHE_TTL_SECONDS
                               */
};

/* Check a document; a bad one is not kept, and the function records its fault (op_fail). */
typedef enum az_status document_check_fn(struct op *op, const char *url, const json_t *document);

struct document {
    const json_t *json; /* the object; shared, lives as long as the operation */
    int64_t fetched_ms; /* milliseconds since 1970 */
    bool changed;       /* it was fetched just now and differs from the one before */
};

/*
 * Return the document at a URL: the kept one while it is fresh, else a newly fetched one. If
 * another worker is fetching it, wait for that, at most as long as a fetch may take. `not_before`:
 * a document fetched earlier (milliseconds since 1970) is not fresh, unless it was already fetched
 * early within the last 60 s (a trust bundle: 30 s); 0: no such condition. If the fetch fails, an
 * expired document is used for another day if it is discovery, a key set or a trust bundle; of the
 * latter also if the new one has a lower sequence. AZ_UNAVAILABLE: it cannot be fetched now;
 * AZ_BUSY: no place for a fetch is free, or another document of the host is being fetched, and the
 * host was not asked; another status: `check`
 * returned it. *ret_fault (or NULL) gives the reason.
 */
enum az_status document_get(struct op *op, enum document_kind kind, const char *url,
                            int64_t not_before, document_check_fn *check, struct document *ret,
                            enum fetch_fault *ret_fault);

/* Return the document at a URL that was fetched last and may still serve, and fetch nothing.
 * ret->json NULL: there is none. */
enum az_status document_kept(struct op *op, enum document_kind kind, const char *url,
                             document_check_fn *check, struct document *ret);

/* Return the URL of an issuer's discovery document, without a slash at the end of the issuer
 * (OpenID Connect Discovery 4); NULL: no memory. */
char *document_discovery_url(TALLOC_CTX *mem, const char *issuer);

/* Longest discovery document and key set, in octets; those of the largest providers are under 20
 * kB. */
#define DOCUMENT_KEYS_MAX 65536

/* Intervals after which a document that cannot be refreshed counts as stale. */
#define STALE_INTERVALS 3

/* Check that the document at a URL is not stale: AZ_UNAVAILABLE if it could not be refreshed for
 * STALE_INTERVALS. A document that was never asked for is not stale. Takes one trip to the
 * database. */
enum az_status document_check_fresh(struct op *op, enum document_kind kind, const char *url);

/* Housekeeping: delete documents that were not used for a week, and those that clients name beyond
 * DOCUMENTS_MAX of a kind. */
enum az_status documents_prune(struct op *op);

#endif
