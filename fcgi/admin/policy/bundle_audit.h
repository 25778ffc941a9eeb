/* /admin/api/bundle-audit: the bundles that were served, their rows, and rollback to one of them
 * (specification 2.6, 4.12; gateway-admin.md 3.6). */
#ifndef AZ_ADMIN_POLICY_BUNDLE_AUDIT_H
#define AZ_ADMIN_POLICY_BUNDLE_AUDIT_H

#include "admin/resource/resource.h"

/* Bundles of a page without `size` (specification 8). */
#define BUNDLE_AUDIT_SIZE 50

extern const struct route_param bundle_audit_list_params[];
extern const struct route_param bundle_audit_at_params[];
extern const struct route_param bundle_audit_rollback_params[];
extern const struct route_param bundle_audit_diff_params[];

/* The history, for its list in pages. */
extern const struct admin_resource bundle_history_resource;

/* Answer 200 with one BundleAuditLogDto: the newest, the one active at `timestamp`, the one of an
 * id. */
enum az_status bundle_audit_latest_handle(struct request *req);
enum az_status bundle_audit_at_handle(struct request *req);
enum az_status bundle_audit_get_handle(struct request *req);

/* Answer 200 with the rows of a bundle, or with the differences between two bundles
 * (policy/save/bundle/bundle_diff.h). 409: the rows of a bundle were not kept. */
enum az_status bundle_audit_content_handle(struct request *req);
enum az_status bundle_audit_diff_handle(struct request *req);

/* Fetch the rows of a bundle. AZ_NOT_FOUND; AZ_CONFLICT: they were not kept. */
enum az_status bundle_audit_fetch_content(struct request *req, int64_t id, json_t **ret);

/*
 * Deploy the rows of a bundle: rules and rows that were in it become as they were, others are
 * deleted. Rules and rows that are in no bundle (disabled rules, rows with inBundle false) stay,
 * and so do shipped rules, which belong to the program. 200 with PolicyBundleDeployResult of mode
 * `replace` or `dry-run`; refused as a deploy is.
 */
enum az_status bundle_audit_rollback_handle(struct request *req);

#endif
