/* The leaves of the log over all audit rows as lines, in their order: a file of them is the log. */
#ifndef AZ_STORE_AUDIT_PROOF_LOG_LINES_H
#define AZ_STORE_AUDIT_PROOF_LOG_LINES_H

#include "base/op.h"

/* Take a line; false ends the walk, because it cannot be written. */
typedef bool audit_line_fn(void *context, const char *line, size_t length);

/* Line in place of a row that retention dropped: the hash of its leaf in hex between the two. */
#define AUDIT_GONE_BEGIN "{\"v\":1,\"gone\":\""
#define AUDIT_GONE_END "\"}"

/* Give all leaves to `take`, of a row that retention dropped the hash. Another row that is not
 * there is AZ_NOT_FOUND with its id: a file without it would not be the log. */
enum az_status audit_log_lines(struct op *op, audit_line_fn *take, void *context);

#endif
