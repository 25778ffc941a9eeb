/* Bundles as rows: the rows they are made of, which one is served, and which revisions may decide.
 */
#ifndef AZ_STORE_POLICY_BUNDLES_H
#define AZ_STORE_POLICY_BUNDLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/op.h"

/* The rows a bundle is made of, in a fixed order. */
struct bundle_rows {
    size_t rules, data;        /* counts */
    const char **rule_path;    /* sorted; enabled rules */
    const char **rule_content; /* Rego text */
    const char **data_key;     /* sorted; rows with inBundle */
    const char **data_payload; /* JSON text */
};

/* A bundle ready to be published. */
struct bundle_new {
    const unsigned char *body;      /* archive; built for the revision below */
    size_t length;                  /* octets */
    const char *revision;           /* names the rows: the same rows, the same revision */
    const char *etag;               /* hex SHA-256 of body */
    const char *source, *who;       /* triggerSource, triggeredBy */
    bool pending;                   /* a candidate that may not decide yet */
    const struct bundle_rows *rows; /* for the history's lists */
    const char *content;            /* the rows with their versions as JSON text, for the history */
};

/* What GET /bundles/svc serves. Texts on op->mem. */
struct bundle_served {
    int64_t id;
    const char *revision, *etag; /* NULL when nothing is published */
    bool pending;                /* a candidate: its saver waits for the engines */
    const unsigned char *body;   /* NULL when the caller has this ETag already */
    size_t length;               /* octets */
};

/* Reads the rows, inside the caller's transaction. */
enum az_status bundle_rows_fetch(struct op *op, struct bundle_rows *ret);

/* The same rows with their versions as JSON text, as the history keeps them. */
enum az_status bundle_content_fetch(struct op *op, const char **ret);

/*
 * Stores the bundle, serves it and notifies the engines that wait; one statement. A candidate
 * (pending) leaves the acceptable revisions alone, others add theirs; of those the first, which was
 * confirmed once, and the last 99 stay while no engine confirms any. *ret_id: the new row.
 */
enum az_status bundle_publish(struct op *op, const struct bundle_new *bundle, int64_t *ret_id);

/*
 * The candidate becomes what stands: confirmed, and its revision the only acceptable one. Inside
 * the transaction that applies its rows. AZ_UNAVAILABLE when it is a candidate no more: somebody
 * took it back because our lock was lost.
 */
enum az_status bundle_confirm(struct op *op, int64_t id);

/* The candidate is taken back: the bundle before it is served again. `status` is refused or
 * withdrawn. Nothing when it is a candidate no more. */
enum az_status bundle_withdraw(struct op *op, int64_t id, const char *status);

/*
 * Takes back a candidate whose saver is gone, which shows by the save lock being free; also under
 * our own lock. *ret_withdrawn, unless NULL: there was one. One trip, cheap when there is none.
 */
enum az_status bundle_reconcile(struct op *op, bool *ret_withdrawn);

/* What is served now, without its body. */
enum az_status bundle_current(struct op *op, struct bundle_served *ret);

/* The bundle to serve; the body only when its etag is not `known`, or when the engine `instance`
 * (NULL: unnamed) fetched last what was taken back since. */
enum az_status bundle_fetch(struct op *op, const char *known, const char *instance,
                            struct bundle_served *ret);

#endif
