/* /admin/api/bundle-audit: the bundles that were served, their rows, and the way back to one
 * (specification 2.6, 4.12; gateway-admin.md 3.6). */
#ifndef AZ_ADMIN_BUNDLE_AUDIT_H
#define AZ_ADMIN_BUNDLE_AUDIT_H

#include "http/route.h"

/* Entries of one page, and how many without `size` (specification 8). An entry names every rule and
 * row of its bundle, so a page can be large; the history is no longer than this. */
#define BUNDLE_AUDIT_SIZE_MAX 200
#define BUNDLE_AUDIT_SIZE 50

extern const struct route_param bundle_audit_list_params[];
extern const struct route_param bundle_audit_at_params[];
extern const struct route_param bundle_audit_diff_params[];

/* Array of BundleAuditLogDto, newest first. */
enum az_status bundle_audit_list_handle(struct request *req);

/* One BundleAuditLogDto: the newest, the one active at `timestamp`, the one with an id. */
enum az_status bundle_audit_latest_handle(struct request *req);
enum az_status bundle_audit_at_handle(struct request *req);
enum az_status bundle_audit_get_handle(struct request *req);

/* The rows of a bundle, and what differs between those of two (policy/save/bundle_diff.h). 409 for
 * one whose rows were not kept. */
enum az_status bundle_audit_content_handle(struct request *req);
enum az_status bundle_audit_diff_handle(struct request *req);

/*
 * A deploy of a bundle's rows: what was in it is as it was, what was not is deleted, what is in no
 * bundle (disabled rules, rows with inBundle false) stays. Shipped rules stay too: they belong to
 * the program. PolicyBundleDeployResult with mode `replace`; refusals as of a deploy.
 */
enum az_status bundle_audit_rollback_handle(struct request *req);

#endif
