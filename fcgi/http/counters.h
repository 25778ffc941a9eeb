/*
 * The mapped file of the metrics (metrics/metrics.h), with the routing table as their labels, and
 * the limit on log lines about requests that prove nothing. The file belongs to all processes of a
 * host, so they also count under CGI, where each request has a process of its own.
 */
#ifndef AZ_HTTP_COUNTERS_H
#define AZ_HTTP_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>
#include <talloc.h>

#include "base/status.h"
#include "metrics/metrics.h"

struct counters;
struct route;

/* Log lines that the requests of one address may write in a minute if they leave no audit row. 20
 * show an operator who asks for what; more of them would be the flood itself. */
#define COUNTERS_LINES_PER_MINUTE 20

/* Map DIR/counters, creating it if absent (host/file.h). */
enum az_status counters_open(TALLOC_CTX *mem, const char *dir, struct counters **ret,
                             const char **ret_why);

/* Return the metrics of the file, for the rooms that know nothing of HTTP. */
struct metrics *counters_metrics(const struct counters *counters);

/* Add one to a metric by route or by path. Here and below, nothing is done without counters
 * (NULL). */
void counters_add(struct counters *counters, enum metric metric, const struct route *route);

/* Count an answer: its status, and the time since the request began in microseconds. A row that is
 * not of the routing table counts for its path with the method "other", or for no path at all. */
void counters_answered(struct counters *counters, const struct route *route, int status,
                       int64_t us);

/*
 * True if a request of this address may write its log line at `now` (seconds since 1970); false
 * counts it as left out. Addresses are counted in a table of fixed size without probing: two that
 * share an entry share the lines, so all addresses together write a bounded number too.
 */
bool counters_admit_line(struct counters *counters, const char *address, int64_t now);

/* Return how many lines were left out in an earlier minute, to one caller only; 0 if none were, or
 * if another caller has reported them. */
uint64_t counters_take_left_out(struct counters *counters, int64_t now);

#endif
