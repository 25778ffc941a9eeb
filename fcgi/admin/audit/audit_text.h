/* Audit rows as text: AuditLogDto (specification 2.7), and a line of CSV. */
#ifndef AZ_ADMIN_AUDIT_AUDIT_TEXT_H
#define AZ_ADMIN_AUDIT_AUDIT_TEXT_H

#include "base/buf.h"
#include "store/audit/read/rows.h"

/* Longest text of one row, in octets: two documents of PACK_TEXT_MAX, doubled by quotes in CSV, and
 * the other members. */
#define AUDIT_TEXT_MAX (5 << 20)

/* Append AuditLogDto; absent members are left out. `requestSummary` has the operation and the
 * status of the answer, and what the endpoint noted. The buffer keeps a failure. */
void audit_text_json(struct buf *out, const struct audit_row *row);

/*
 * Append a line of CSV (RFC 4180) with the members of AuditLogDto, or the line with their names.
 * A spreadsheet would run a cell that begins with = + - @, one of their full-width forms, or a
 * tab as a formula, and a caller chooses User-Agent, scope and names; such a cell gets an
 * apostrophe in front.
 */
void audit_text_csv(struct buf *out, const struct audit_row *row);
void audit_text_csv_head(struct buf *out);

/* Append a text as a JSON string. */
void audit_text_quote(struct buf *out, const char *text);

#endif
