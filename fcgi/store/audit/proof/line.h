/* Rows of the audit log as lines: the leaves of the log that proves itself (decisions.md "Audit
 * proof"). */
#ifndef AZ_STORE_AUDIT_PROOF_LINE_H
#define AZ_STORE_AUDIT_PROOF_LINE_H

#include "base/buf.h"
#include "store/audit/read/rows.h"

/* Octets of the longest line: two documents of PACK_TEXT_MAX, each octet of which may be escaped,
 * and the other columns. */
#define AUDIT_LINE_MAX (16 << 20)

/* Maximum of rows that one statement reads, and of octets of their documents as stored; a row has a
 * few hundred octets. A statement about all days takes 1 ms to begin, which many rows must
 * share. */
#define AUDIT_LINES_ROWS 8192
#define AUDIT_LINES_OCTETS (8 << 20)

/* The same for a statement about one day. */
#define AUDIT_DAY_ROWS 512

/* A row as a leaf. */
struct audit_line {
    int64_t id;
    int64_t day;   /* number of its partition */
    char *text;    /* without a line feed */
    size_t length; /* octets */
};

/* Read rows with ids above `after` and up to `up_to`, in the order of ids: up to AUDIT_LINES_ROWS
 * of them. */
enum az_status audit_lines_read(struct op *op, int64_t after, int64_t up_to, PGresult **ret);

/* The same with limits for the rows and the octets of their documents, as stored; at least one row,
 * and all rows of one id. */
enum az_status audit_lines_read_some(struct op *op, int64_t after, int64_t up_to, int64_t rows,
                                     int64_t octets, PGresult **ret);

/* Read a row of a result, with its documents unpacked onto op->mem. */
enum az_status audit_line_row(struct op *op, const PGresult *result, int row,
                              struct audit_row *ret);

/* Read up to AUDIT_DAY_ROWS rows of one day with ids above `after`, in the order of ids. *ret NULL:
 * the day is not there. */
enum az_status audit_lines_read_day(struct op *op, uint32_t day, int64_t after, PGresult **ret);

/* Read the row with this id, probably of this day; *ret is empty if there is no such row. */
enum az_status audit_lines_fetch(struct op *op, int64_t id, int64_t day, PGresult **ret);

/*
 * Write the line of a row to op->mem: a JSON object with `v` 1, id, at (ISO 8601, milliseconds,
 * UTC), request, flow, client, subject, endpoint, operation, method, status, outcome, ip, agent,
 * summary, input and decision in this order, absent if NULL. Texts are written by RFC 8785
 * section 3.2.2.2. summary, input and decision stand as they are stored if they are one JSON object
 * without a line feed; another text is a string, and a document that cannot be unpacked is
 * {"damaged": SHA-256 of its octets}. So two different rows never have one line.
 */
enum az_status audit_line_get(struct op *op, const PGresult *result, int row,
                              struct audit_line *ret);

/* Return the id of a row of a result. */
int64_t audit_line_id(const PGresult *result, int row);

#endif
