/* What one process holds, and what one operation (a request, a CLI verb, a test step) carries down
 * through the rooms. */
#ifndef AZ_BASE_OP_H
#define AZ_BASE_OP_H

#include <stdbool.h>
#include <stdint.h>
#include <talloc.h>

#include "base/status.h"

struct settings;
struct db;
struct engine;
struct shared;
struct client_cache;
struct registry;
struct identity_providers;
struct document_memory;
struct keyring;
struct signing_key;
struct pages;

/* One process: made once, passed by pointer, never global. */
struct az {
    const struct settings *cfg;   /* settings, complete and checked */
    struct db *db;                /* the one database connection (made when first needed) */
    struct engine *engine;        /* the one connection to the policy engine */
    struct shared *shared;        /* mapped counters of this host, NULL in the CLI */
    struct client_cache *clients; /* clients by client_id, re-checked by every write */
    struct registry *registry;    /* resource types as published with one revision, or NULL */
    struct identity_providers *providers; /* identity providers as last read, or NULL */
    struct document_memory *documents;    /* discovery and key sets of others, or NULL */
    struct signing_key *signing_key;      /* key of ID tokens as last read, or NULL */
    struct keyring *keyring; /* keys derived from SVC_CREDENTIAL_KEY and SVC_ADMIN_PEPPER */
    struct pages *pages;     /* templates of SVC_DATA_DIR/www, or NULL */
    const char *pool;        /* core, web or bundles; "single" if there is only one */
    int pool_workers;        /* processes of the pool */
    bool fetching;           /* it holds a place for fetches (http/fetch/fetch_places.h) */
    bool check_owed;         /* the database was away at start: check it before serving */
    long parent;             /* pid whose start is the service's: the parent of the workers, the web
                                server; 0 where nothing is served */
    volatile int *stopping;  /* set by SIGTERM: long waits end */
};

/* One operation. Its memory is freed in one place, when the answer is out. */
struct op {
    TALLOC_CTX *mem;        /* everything that lives as long as the operation */
    struct az *az;          /* the process */
    struct az_fault fault;  /* what went wrong, once */
    const char *request_id; /* X-Request-ID, given or made */
    int64_t now_ms;         /* milliseconds since 1970, taken once */
};

/* Seconds since 1970 of the operation. */
static inline int64_t
op_now(const struct op *op)
{
    return op->now_ms / 1000;
}

#define op_fail(op, status, public_text, ...)                                                      \
    az_fail(&(op)->fault, (status), (public_text), __VA_ARGS__)

#endif
