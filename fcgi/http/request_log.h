/* The log line of a request, and which requests leave an audit row. */
#ifndef AZ_HTTP_REQUEST_LOG_H
#define AZ_HTTP_REQUEST_LOG_H

#include <stdbool.h>
#include <stdint.h>

struct request;

/*
 * True if the request leaves an audit row: it proved something, asked policy, or wrote a row
 * together with its own write. Anybody can send any number of requests that do nothing of this, and
 * a row for each would fill the disk. After AZ_BUSY a browser comes back again and again; it asked
 * nothing and changed nothing.
 */
bool request_leaves_row(const struct request *req);

/*
 * Log one line per request: ids, outcome, what policy decided and, for a failure, the detail that
 * the caller does not get. `started` is a time of clock_monotonic_us(), `trips` the number of round
 * trips to the database.
 */
void request_log(const struct request *req, int64_t started, uint64_t trips);

#endif
