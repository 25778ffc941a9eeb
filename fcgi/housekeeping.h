/* Regular jobs, such as making and dropping partitions. Each runs once per due time, on one of all
 * hosts. */
#ifndef AZ_HOUSEKEEPING_H
#define AZ_HOUSEKEEPING_H

#include "base/op.h"

/* Seconds between two looks of the parent of --workers for due jobs. */
#define HOUSEKEEPING_EVERY 60

/* Run the due jobs and log what each did. A job whose lock another process holds is skipped. */
void housekeeping_run(struct az *az);

/* Run all jobs now, due or not (`authzctl maintain`). Return the status of the first failure, with
 * its fault in op; without a failure, AZ_CONFLICT if another process held the lock of a job. */
enum az_status housekeeping_all(struct op *op);

#endif
