/* Housekeeping jobs: when each is due, for all hosts together. */
#ifndef AZ_STORE_DB_KEEP_JOBS_H
#define AZ_STORE_DB_KEEP_JOBS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"

/* Mark a job as run now and due again in so many seconds. *ret_ours is false if it was not due and
 * `only_if_due` is set; then nothing is changed. */
enum az_status job_claim(struct op *op, const char *name, int64_t seconds, bool only_if_due,
                         bool *ret_ours);

/* Store the outcome of the last run of a job. */
enum az_status job_note(struct op *op, const char *name, const char *outcome);

#endif
