/* GET /admin/api/audit-logs (specification 4.12): a page of audit rows, newest first, or one. */
#ifndef AZ_ADMIN_AUDIT_AUDIT_LOGS_H
#define AZ_ADMIN_AUDIT_AUDIT_LOGS_H

#include <libpq-fe.h>

#include "base/buf.h"
#include "http/route.h"

/* Rows of a page: by default (specification 8), and at most. Unpacked, a row has some 3 KB. */
#define AUDIT_SIZE 20
#define AUDIT_SIZE_MAX 200

/* Largest offset of a page, in rows. The database reads and skips the rows before it, 100,000 in
 * some 50 ms; filters and the export reach further rows. */
#define AUDIT_OFFSET_MAX 100000

extern const struct route_param audit_logs_params[];

/* The first rows of a result, whole or without their documents. */
struct audit_part {
    const PGresult *result;
    int rows;
    bool summary;
};

/* Append rows as AuditLogDto with commas between them; `first`: they are the first rows of the
 * answer. */
enum az_status audit_logs_append(struct op *op, const struct audit_part *part, bool first,
                                 struct buf *out);

/* Answer 200 with the JSON of a buffer. */
enum az_status audit_logs_respond(struct request *req, struct buf *out);

/* 200 PageAuditLogDto; 400 with fieldErrors. */
enum az_status audit_logs_handle(struct request *req);

/* 200 AuditLogDto, or 404. */
enum az_status audit_log_handle(struct request *req);

#endif
