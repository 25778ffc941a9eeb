/*
 * Counters of all processes of a host, for GET /metrics, and the limit on log lines about requests
 * that prove nothing. They stand in one mapped file, so they also count under CGI, where each
 * request has a process of its own.
 */
#ifndef AZ_HTTP_COUNTERS_H
#define AZ_HTTP_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>
#include <talloc.h>

#include "base/status.h"

struct counters;
struct route;

/* Log lines that the requests of one address may write in a minute if they leave no audit row. 20
 * show an operator who asks for what; more of them would be the flood itself. */
#define COUNTERS_LINES_PER_MINUTE 20

/* Rows of the table in counters.c. */
enum counter {
    COUNTER_UNAUDITED,      /* by route: an audited endpoint left no row */
    COUNTER_RATE_LIMITED,   /* by route: 429 */
    COUNTER_LINES_LEFT_OUT, /* log lines beyond the limit */
    COUNTERS
};

/* Map DIR/counters, creating it if absent (http/mapped.h). */
enum az_status counters_open(TALLOC_CTX *mem, const char *dir, struct counters **ret,
                             const char **ret_why);

/* Add one; route NULL for a counter that is not by route. A row that is not of the routing table
 * is not counted. Without counters (NULL), this does nothing. */
void counters_add(struct counters *counters, enum counter counter, const struct route *route);

/*
 * True if a request of this address may write its log line at `now` (seconds since 1970); false
 * counts it as left out. Addresses are counted in a table of fixed size without probing: two that
 * share an entry share the lines, so all addresses together write a bounded number too.
 */
bool counters_admit_line(struct counters *counters, const char *address, int64_t now);

/* Return how many lines were left out in an earlier minute, to one caller alone; 0 if none, or if
 * they are told already. */
uint64_t counters_take_left_out(struct counters *counters, int64_t now);

/* Return all counters in the text format of Prometheus 0.0.4, on mem. NULL: out of memory. */
const char *counters_text(TALLOC_CTX *mem, struct counters *counters);

#endif
