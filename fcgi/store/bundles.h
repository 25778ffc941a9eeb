/* Bundles as rows: what is served, which revisions may decide, and what the engines report. */
#ifndef AZ_STORE_BUNDLES_H
#define AZ_STORE_BUNDLES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/op.h"

/* An engine that has not reported for so long is gone, and nobody waits for it. Seconds. */
#define ENGINE_SILENT_AFTER 60

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
    const char *content_hash;       /* first 12 hex digits of SHA-256 over the rows */
    const unsigned char *body;      /* archive; built for the revision below */
    size_t length;                  /* octets */
    const char *revision;           /* r<seq>-<hash> */
    const char *etag;               /* hex SHA-256 of body */
    const char *source, *who;       /* triggerSource, triggeredBy */
    const struct bundle_rows *rows; /* for the history's lists */
};

/* What GET /bundles/svc serves. */
struct bundle_served {
    const char *revision, *etag; /* NULL when nothing is published */
    unsigned char *body;         /* NULL when the caller has this ETag already */
    size_t length;               /* octets */
};

/* Reads the rows, inside the caller's transaction. */
enum az_status bundle_rows_fetch(struct op *op, struct bundle_rows *ret);

/* The next number for a revision. */
enum az_status bundle_next_number(struct op *op, int64_t *ret);

/* Stores the bundle, serves it, adds its revision to the acceptable ones and notifies, inside the
 * caller's transaction. */
enum az_status bundle_publish(struct op *op, const struct bundle_new *bundle);

/* The revision served now ("" if none), and the hash of its rows. */
enum az_status bundle_current(struct op *op, const char **ret_revision);

/* The bundle to serve; the body only when its etag is not `known`. */
enum az_status bundle_fetch(struct op *op, const char *known, struct bundle_served *ret);

/* Records a status push: instance, active revision, code, message; then settles as below. Notifies
 * the savers. */
enum az_status bundle_report(struct op *op, const char *instance, const char *revision,
                             const char *code, const char *message);

/* Deletes the reports of engines that have been silent for a day (housekeeping). */
enum az_status bundle_forget_engines(struct op *op);

/*
 * When the engines heard of within ENGINE_SILENT_AFTER all have the served revision active, makes
 * it the only acceptable one. *ret_confirmed: that is so now. Without any report `own_revision` (of
 * GET /v1/status, may be NULL) decides.
 */
enum az_status bundle_settle(struct op *op, const char *own_revision, bool *ret_confirmed);

#endif
