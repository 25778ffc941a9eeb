/* Audit rows that are read ahead of the leaves, in the order of ids. */
#ifndef AZ_STORE_AUDIT_PROOF_CURSOR_H
#define AZ_STORE_AUDIT_PROOF_CURSOR_H

#include "store/audit/proof/line.h"

struct audit_cursor {
    struct op *op;
    struct op step; /* memory of the rows */
    PGresult *result;
    int at;
    int64_t after, up_to; /* rows between these ids are left to be read */
};

/* Begin before the rows with ids above `after` and up to `up_to`. */
void audit_cursor_init(struct audit_cursor *cursor, struct op *op, int64_t after, int64_t up_to);

/* Make the next row available; *ret_id is INT64_MAX at the end. */
enum az_status audit_cursor_peek(struct audit_cursor *cursor, int64_t *ret_id);

/* Write the line of the row that is available, which lives until the next call of peek, and move
 * on.
 */
enum az_status audit_cursor_take(struct audit_cursor *cursor, struct audit_line *ret);

/* Move on from the row that is available. */
void audit_cursor_pass(struct audit_cursor *cursor);

/* Pass over rows up to an id without reading them; false: some are read already. */
bool audit_cursor_skip(struct audit_cursor *cursor, int64_t id);

#endif
