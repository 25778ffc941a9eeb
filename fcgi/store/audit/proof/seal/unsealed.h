/* Measure how far the seal of the audit log is behind. */
#ifndef AZ_STORE_AUDIT_PROOF_SEAL_UNSEALED_H
#define AZ_STORE_AUDIT_PROOF_SEAL_UNSEALED_H

#include "base/op.h"

/* Seconds after which rows that are not sealed are a fault: five runs of the seal, so that a slow
 * row, a host that hangs or a restart of the database is not reported as one. */
#define AUDIT_UNSEALED_MAX 300

/* Read the age of the oldest row that no checkpoint covers, in seconds; 0: there is no such row, or
 * no log. */
enum az_status audit_unsealed_seconds(struct op *op, int64_t *ret);

#endif
