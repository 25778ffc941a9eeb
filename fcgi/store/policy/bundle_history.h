/* History of bundles: BundleAuditLogDto, and the rows that each bundle was built from. */
#ifndef AZ_STORE_POLICY_BUNDLE_HISTORY_H
#define AZ_STORE_POLICY_BUNDLE_HISTORY_H

#include <jansson.h>
#include <stdint.h>

#include "base/op.h"
#include "store/db/rows/json_rows.h"

/* Bundles kept with their rows, without the one that is served (gateway-admin.md 3.6). The same
 * number of refused or withdrawn bundles of that time is kept without rows. */
#define BUNDLE_HISTORY_MAX 200

/* BundleAuditLogDto objects, newest first. Filters: a rule path and a data key that the bundle has,
 * who triggered it, and its revision. */
extern const struct json_rows bundle_history_rows;

/* Most bundles of a page (specification 8). An object names every rule and row of its bundle, so a
 * page can be large. */
#define BUNDLE_HISTORY_PAGE_MAX 200

/* List so many of the newest bundles as the text of a JSON array. */
enum az_status bundle_history_list(struct op *op, int64_t count, const char **ret_json);

/* Fetch one BundleAuditLogDto as JSON text; NULL if there is none. */
enum az_status bundle_history_latest(struct op *op, const char **ret_json);
enum az_status bundle_history_fetch(struct op *op, int64_t id, const char **ret_json);

/* Fetch the bundle that was active at a time, which is ISO 8601 as PostgreSQL reads it. Times are
 * compared in milliseconds, so that a bundle's createdAt finds that bundle. */
enum az_status bundle_history_at(struct op *op, const char *timestamp, const char **ret_json);

/*
 * Fetch the rows of a bundle:
 * {"rules":[{path,content,version}],"data":[{dataKey,payload,version}]}, sorted by path and key,
 * payload as JSON text; owned by op->mem. NULL if there is no such bundle, or if the program that
 * published it did not keep them.
 */
enum az_status bundle_history_content(struct op *op, int64_t id, json_t **ret_content);

/* Delete the oldest bundles, and archives that can no longer be served, in the caller's transaction
 * or alone. Does nothing if another process is doing it. */
enum az_status bundle_history_prune(struct op *op);

#endif
