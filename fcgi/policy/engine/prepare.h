/*
 * Reading the data of a revision before it may decide. The worker that gives a bundle to OPA reads
 * its data for all workers of the host while OPA takes it in, so that no request waits for that
 * when the revision is confirmed. Nothing depends on it: a worker that finds no data reads them.
 */
#ifndef AZ_POLICY_ENGINE_PREPARE_H
#define AZ_POLICY_ENGINE_PREPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/op.h"

/* Keep a copy of the archive of a revision for prepare_run(), unless the workers share nothing, or
 * this process has the data already. */
void prepare_keep(struct op *op, const char *revision, const unsigned char *body, size_t length);

/* True if an archive waits for prepare_run(). */
bool prepare_waits(const struct az *az);

/* Read the data of the archive into the memory that the workers share, after the answer. They stay
 * there until this process has read those of another archive. */
void prepare_run(struct op *op);

#endif
