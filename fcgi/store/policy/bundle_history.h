/* Bundles that were served, as history: BundleAuditLogDto and the rows each was built from. */
#ifndef AZ_STORE_POLICY_BUNDLE_HISTORY_H
#define AZ_STORE_POLICY_BUNDLE_HISTORY_H

#include <jansson.h>
#include <stdint.h>

#include "base/op.h"

/*
 * Bundles kept with their rows, the one that is served not counted (gateway-admin.md 3.6). As many
 * that were refused or withdrawn are kept, of the same time, without.
 */
#define BUNDLE_HISTORY_MAX 200

/* BundleAuditLogDto texts as one JSON array text, newest first; page counts from 0. */
enum az_status bundle_history_list(struct op *op, int64_t page, int64_t size,
                                   const char **ret_json);

/* One BundleAuditLogDto as JSON text; NULL when there is none. */
enum az_status bundle_history_latest(struct op *op, const char **ret_json);
enum az_status bundle_history_fetch(struct op *op, int64_t id, const char **ret_json);

/*
 * The one that was active at a time, ISO 8601 as PostgreSQL reads it. Compared in milliseconds, so
 * that the createdAt of a bundle finds this bundle.
 */
enum az_status bundle_history_at(struct op *op, const char *timestamp, const char **ret_json);

/*
 * The rows of a bundle: {"rules":[{path,content,version}],"data":[{dataKey,payload,version}]} by
 * path and key, payload as JSON text; owned by op->mem. NULL when there is no such bundle, or it
 * was published by a program that did not keep them.
 */
enum az_status bundle_history_content(struct op *op, int64_t id, json_t **ret_content);

/* Forgets the oldest ones and the archives nobody can be served any more; inside the caller's
 * transaction or alone. Leaves it to whoever is at it already. */
enum az_status bundle_history_prune(struct op *op);

#endif
