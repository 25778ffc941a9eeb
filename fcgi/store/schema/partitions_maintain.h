/* Housekeeping of partitions: make the partitions of the next days, drop those of past days. */
#ifndef AZ_STORE_SCHEMA_PARTITIONS_MAINTAIN_H
#define AZ_STORE_SCHEMA_PARTITIONS_MAINTAIN_H

#include <stdbool.h>

#include "base/op.h"

/* Make the partitions of the next 48 hours and drop those past expiry or retention (housekeeping).
 * Count both. Days of the audit log are dropped with `drop_audit` alone: their notes must be in the
 * log before (store/audit/proof/seal/seal.h). A role that does not own the tables drops nothing. */
enum az_status partition_maintain(struct op *op, bool drop_audit, int *ret_made, int *ret_dropped);

#endif
