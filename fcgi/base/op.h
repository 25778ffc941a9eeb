/* The state of a process, and the state of one operation (a request, a CLI command, a test step),
 * which is passed down through the rooms. */
#ifndef AZ_BASE_OP_H
#define AZ_BASE_OP_H

#include <stdbool.h>
#include <stdint.h>
#include <talloc.h>

#include "base/status.h"

struct settings;
struct db;
struct db_standby;
struct engine;
struct embedded;
struct shared_data;
struct prepared;
struct witness;
struct shadow_tap;
struct gateway_process;
struct tracer;
struct shared;
struct counters;
struct metrics;
struct client_cache;
struct published;
struct identity_providers;
struct document_memory;
struct managed_memory;
struct keyring;
struct signing_key;
struct pages;
struct places;
struct health;
struct op_watch;

/* A user of the API in a process of his own, on the database, without an admin key: he has the
 * password of the database, so he could change every row by SQL. */
struct az_operator {
    const char *label;            /* who acts, for audit rows and the history of bundles */
    const struct op_watch *watch; /* learns what his requests wait for, or NULL */
};

/* State of a process; made once and passed by pointer, never a global. */
struct az {
    const struct settings *cfg;      /* settings, complete and checked */
    struct db *db;                   /* the one database connection (made when first needed) */
    struct db_standby *standby;      /* SVC_DATABASE_READ_URL, or NULL; writes wait for it then */
    struct engine *engine;           /* the one connection to the policy engine */
    struct embedded *embedded;       /* the revision that this process decides by, or NULL */
    struct shared_data *shared_data; /* data of revisions that the workers share, or NULL */
    struct prepared *prepared;       /* data of a revision that may decide soon, or NULL */
    struct witness *witness;         /* asks OPA about decisions of the machine; NULL in the CLI */
    struct shadow_tap *shadow_tap;   /* sends decisions to the shadow; NULL: nothing does */
    struct gateway_process *gateway; /* of the gateway (gateway/process/gateway_process.h) */
    struct tracer *tracer;           /* spans of the request in hand; NULL if spans are not kept */
    struct shared *shared;           /* mapped counters of this host, NULL in the CLI */
    struct counters *counters;       /* mapped file of the metrics, NULL in the CLI */
    struct metrics *metrics;         /* the metrics in it, NULL in the CLI */
    struct client_cache *clients;    /* clients by client_id, re-checked by every write */
    struct published *registry;      /* resource types as published with one revision, or NULL */
    struct published *trust;         /* so the trust row */
    struct published *scope_words;   /* so the words for scopes */
    struct identity_providers *providers; /* identity providers as last read, or NULL */
    struct document_memory *documents;    /* discovery and key sets of others, or NULL */
    struct managed_memory *managed;       /* managed resources as last read, or NULL */
    struct signing_key *signing_keys;     /* keys of our tokens as last read, or NULL */
    struct keyring *keyring; /* keys derived from SVC_CREDENTIAL_KEY and SVC_ADMIN_PEPPER */
    /* Names of SVC_DPOP_SIGNING_ALGS, then NULL; NULL: SVC_DPOP_ENABLED is false. */
    const char *const *dpop_algs;
    struct health *health;       /* result of the last readiness checks, or NULL */
    const char *description;     /* of the interface as JSON text, once it was asked for, or NULL */
    struct pages *pages;         /* templates of SVC_DATA_DIR/www, or NULL */
    const char *pool;            /* core, web, bundles or gateway; "single" if there is only one */
    int pool_workers;            /* processes of the pool */
    bool delegated;              /* there are delegations, as the last lookup of a token saw it */
    struct places *fetch_places; /* for fetches (http/fetch/fetch_places.h), or NULL */
    bool check_owed; /* the database could not be reached at start: check it before serving */
    long parent; /* pid of the process whose start counts as the start of the service: the parent of
                    the workers, or the web server; 0 if nothing is served */
    /* Set by authzctl alone, in code; a process that answers requests of others has NULL. */
    const struct az_operator *by_operator;
    volatile int *stopping; /* set by SIGTERM; long waits end then */
};

/* A person at a terminal who learns what a long operation waits for. */
struct op_watch {
    void (*tell)(void *arg, const char *what); /* the same text may come several times */
    void *arg;
};

/* State of one operation. Its memory is freed in one place, after the answer is sent. */
struct op {
    TALLOC_CTX *mem;        /* everything that lives as long as the operation */
    struct az *az;          /* the process */
    struct az_fault fault;  /* the first failure */
    const char *request_id; /* X-Request-ID, received or made */
    const char *address;    /* of the client whose request this is; NULL: unknown, or no request */
    int64_t now_ms;         /* milliseconds since 1970, taken once */
    const struct op_watch *watch; /* NULL: no person waits at a terminal */
    const char *provider_fault;   /* code of AZ_PROVIDER_SETUP (oidc/upstream/upstream_fault.h) */
    const char *provider_claim;   /* claim that the page names beside that code, or NULL */
    const char *who;              /* label of the caller of the admin API; NULL: no request to it */
    bool no_owner; /* a caller of the admin API whose role is less: roles stay as they are */
};

/* Return the time of the operation in seconds since 1970. */
static inline int64_t
op_now(const struct op *op)
{
    return op->now_ms / 1000;
}

/* Return an operation beside another: of the same process, request and time, with a fault of its
 * own. `mem` owns its memory and lives as long as it is used. */
static inline struct op
op_beside(const struct op *op, TALLOC_CTX *mem)
{
    return (struct op){.mem = mem,
                       .az = op->az,
                       .request_id = op->request_id,
                       .address = op->address,
                       .now_ms = op->now_ms,
                       .who = op->who,
                       .no_owner = op->no_owner};
}

/* Return the status of a failure, which is never AZ_OK: no caller goes on with results that are not
 * there. */
static inline enum az_status
op_failed(enum az_status status)
{
    return status != AZ_OK ? status : AZ_SERVER_ERROR;
}

/* Record a failure of the operation (az_fail) and return its status. */
#define op_fail(op, status, public_text, ...)                                                      \
    op_failed(az_fail(&(op)->fault, (status), (public_text), __VA_ARGS__))

/* The same for a lack of memory, which no user can act on: the log names the function. */
#define op_no_memory(op) op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory in %s", __func__)

#endif
