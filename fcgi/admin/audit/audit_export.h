/* GET /admin/api/audit-logs/export: all rows that match, as JSON, NDJSON or CSV. */
#ifndef AZ_ADMIN_AUDIT_AUDIT_EXPORT_H
#define AZ_ADMIN_AUDIT_AUDIT_EXPORT_H

#include "http/route.h"

extern const struct route_param audit_export_params[];

/*
 * 200 with the rows, newest first, at most SVC_AUDIT_EXPORT_MAX_ROWS of them:
 *
 *   json    {exportedAt, filters, rows, count, truncated}
 *   ndjson  one AuditLogDto per line
 *   csv     one row per line, after a line with the names
 *
 * If there are more, the last line of ndjson is {"truncated":true} and that of csv is `truncated`.
 *
 * The answer is sent while the rows are read, and a reader who leaves ends it. 400 with
 * fieldErrors; 503 while another export is running.
 */
enum az_status audit_export_handle(struct request *req);

#endif
