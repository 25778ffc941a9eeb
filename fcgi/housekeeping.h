/* What must be done now and then: partitions made and dropped, retired keys removed. Once per due
 * time, on all hosts. */
#ifndef AZ_HOUSEKEEPING_H
#define AZ_HOUSEKEEPING_H

#include "base/op.h"

/* How often the parent of --workers looks for due jobs. Seconds. */
#define HOUSEKEEPING_EVERY 60

/* Runs the due jobs, each under an advisory lock that is tried, not waited for; logs what each did.
 */
void housekeeping_run(struct az *az);

/* Runs all jobs now, due or not (`authzctl maintain`). The first failure's status, with its fault
 * in op; without one AZ_CONFLICT when another process was at one of them. */
enum az_status housekeeping_all(struct op *op);

#endif
