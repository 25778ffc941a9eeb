/*
 * Managed resources as the gateway reads them. A process keeps parsed resources by id and version;
 * the row of one comes with the token of a request in the same round trip, and tells if the parsed
 * one is still good.
 */
#ifndef AZ_STORE_GATEWAY_RESOURCES_H
#define AZ_STORE_GATEWAY_RESOURCES_H

#include "managed/managed.h"
#include "managed/status.h"
#include "store/db/db.h"

/* ---- one resource */

/* Add the statement that reads the row of a name to a batch. */
struct db_step *resource_step(struct db_batch *batch, const char *name);

/*
 * Take the resource out of that step after the batch ran. *ret is NULL if no resource has the name;
 * disabled ones are returned too. It lives at least as long as the operation. A row that a newer
 * program wrote, and this one cannot read, has status MANAGED_ERROR and no routes or tools.
 */
enum az_status resource_take(struct op *op, struct db_step *step,
                             const struct managed_resource **ret);

/* Do both in a trip of its own. */
enum az_status resource_find(struct op *op, const char *name, const struct managed_resource **ret);

/* ---- all of them, for lists of tools and metadata */

/* Resources by name. */
struct managed_resources {
    const struct managed_resource *const *item;
    size_t count;
};

/* Get the enabled resources, in the order of their names. One trip, which brings the ids, versions
 * and states of all, and one more for the documents that changed since this process read them. */
enum az_status resources_list(struct op *op, struct managed_resources *ret);

/* Add the statement that reads the resources with public addresses to a batch. The disabled ones
 * are among them: an address of theirs is not served, and no other resource takes its place. */
struct db_step *resources_public_step(struct db_batch *batch);

/* Take these resources out of that step after the batch ran; as resources_list(). */
enum az_status resources_public_take(struct op *op, struct db_step *step,
                                     struct managed_resources *ret);

/* ---- secrets */

/* Open the secrets of a resource. A trip, unless they came with the row and are kept sealed beside
 * it. The struct and its texts live on op->mem and are wiped when it ends. *ret is never NULL. */
enum az_status resource_secrets(struct op *op, const struct managed_resource *resource,
                                const struct managed_secrets **ret);

/* Return the place that the secrets of a resource are sealed for; NULL: no memory. */
const char *resource_secrets_place(TALLOC_CTX *mem, const char *name);

/* ---- what happened (resources_events.c) */

/*
 * Record an event: the next status by the rules of managed/status.h, with its reason (NULL: that of
 * the event). An event that changes nothing in the status that was read costs no trip; others cost
 * one. A failure of the database is logged and not returned: the call is over. True if it
 * was news.
 */
bool resource_event(struct op *op, const struct managed_resource *resource,
                    enum managed_event event, const char *reason);

/* The outcome of a probe. */
struct resource_probe {
    bool ok;
    int http_status;    /* 0: no answer */
    int64_t latency_ms; /* milliseconds */
    const char *error;  /* for the operator, or NULL */
};

/* Store a probe as lastProbe and record its event. */
enum az_status resource_record_probe(struct op *op, const struct managed_resource *resource,
                                     const struct resource_probe *probe);

/*
 * Store the tools of an MCP resource: the whole array `tools` of the document, with pins, as the
 * rules of the sync made it, and record the event (MANAGED_SYNC_OK or _CHANGED). *ret_done is false
 * if the row has changed since `resource` was read: read it again.
 */
enum az_status resource_store_tools(struct op *op, const struct managed_resource *resource,
                                    const json_t *tools, enum managed_event event, bool *ret_done);

/* Read the array `tools` as it is stored, and if a sync was ever stored. *ret is NULL if there is
 * no such resource. */
enum az_status resource_read_tools(struct op *op, const struct managed_resource *resource,
                                   const json_t **ret, bool *ret_synced);

#endif
