/* Bundles: the rows they are made of, the one that is served, and the revisions that may decide. */
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
    const char **rule_content; /* their texts, in Rego or Cedar */
    const char **data_key;     /* sorted; rows with inBundle */
    const char **data_payload; /* JSON text */
};

/* A bundle ready to be published. */
struct bundle_new {
    const unsigned char *body;      /* archive, built for the revision below */
    size_t length;                  /* octets */
    const char *revision;           /* name of the content: the same rows have the same revision */
    const char *etag;               /* hex SHA-256 of body */
    const char *modules;            /* names its plan (plans.h) */
    const char *source, *who;       /* triggerSource, triggeredBy */
    const char *message;            /* of the author, or NULL */
    const char *impact;             /* what it changes in recorded decisions: JSON text, or NULL */
    const char *override_by;        /* key that passed guards with it, or NULL */
    const char *override_reason;    /* why; NULL as override_by */
    bool pending;                   /* a candidate that may not decide yet */
    const struct bundle_rows *rows; /* paths and keys for the history */
    const char *content;            /* rows with their versions as JSON text, for the history */
};

/* The bundle that GET /bundles/svc serves. Texts on op->mem. */
struct bundle_served {
    int64_t id;
    const char *revision, *etag; /* NULL when nothing is published */
    bool pending;                /* a candidate, whose save waits for the engines */
    const char *called;          /* time of the last call of the engines, for comparison */
    const unsigned char *body;   /* NULL if the caller has this ETag already */
    size_t length;               /* octets */
};

/* Read the rows, in the caller's transaction. One trip. */
enum az_status bundle_rows_fetch(struct op *op, struct bundle_rows *ret);

/* The rules of a bundle without their texts. */
struct bundle_digests {
    size_t rules;
    const char **path;
    const char **digest; /* hex SHA-256 of the text */
};

/* Read them, as bundle_rows_fetch(). */
enum az_status bundle_digests_fetch(struct op *op, struct bundle_digests *ret);

/* Read the same rows with their versions as JSON text, as the history keeps them. */
enum az_status bundle_content_fetch(struct op *op, const char **ret);

/*
 * Store the bundle, serve it and notify the engines that wait, in one statement. A candidate
 * (pending) does not change the acceptable revisions; any other bundle adds its own. Until an
 * engine confirms one, the first of them, which was confirmed before, and the last 99 stay.
 * *ret_id: the new row.
 */
enum az_status bundle_publish(struct op *op, const struct bundle_new *bundle, int64_t *ret_id);

/* Confirm the candidate: its revision becomes the only acceptable one. Runs in the transaction that
 * applies its rows. AZ_UNAVAILABLE if it is no longer a candidate: our lock was lost, and another
 * process withdrew it. */
enum az_status bundle_confirm(struct op *op, int64_t id);

/* Withdraw the candidate: the bundle before it is served again. `status` is refused or withdrawn.
 * Does nothing if it is no longer a candidate. */
enum az_status bundle_withdraw(struct op *op, int64_t id, const char *status);

/* Withdraw a candidate whose save has ended, which shows in a free save lock. `held`: the lock is
 * ours, on whatever connection. *ret_withdrawn (unless NULL): there was one. One trip, cheap if
 * there is none. */
enum az_status bundle_reconcile(struct op *op, bool held, bool *ret_withdrawn);

/* Read which bundle is served, without its body. */
enum az_status bundle_current(struct op *op, struct bundle_served *ret);

/* Fetch the bundle to serve. Its body is read only if its ETag is not `known`, or if the engine
 * `instance` (NULL: unnamed) last fetched a bundle that was withdrawn since. */
enum az_status bundle_fetch(struct op *op, const char *known, const char *instance,
                            struct bundle_served *ret);

#endif
