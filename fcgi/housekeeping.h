/* Regular jobs, such as making and dropping partitions. Each runs once per due time, on one of all
 * hosts. */
#ifndef AZ_HOUSEKEEPING_H
#define AZ_HOUSEKEEPING_H

#include <stdbool.h>

#include "base/op.h"

/* Interval at which the parent of --workers checks for due jobs, in seconds. */
#define HOUSEKEEPING_EVERY 60

/* Seconds between two looks for what is to be sent to other servers. A start costs 5 ms. */
#define HOUSEKEEPING_SENDING_EVERY 5

/* Run the due jobs and log what each did: those that send something to other servers, or all
 * others. A job whose lock another process holds is skipped. */
void housekeeping_run(struct az *az, bool sending);

/* Run all jobs now, due or not (`authzctl maintain`). Return the status of the first failure, with
 * its fault in op; without a failure, AZ_CONFLICT if another process held the lock of a job. */
enum az_status housekeeping_all(struct op *op);

#endif
