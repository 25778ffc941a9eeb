/* Telling a person at a terminal what a save waits for. */
#ifndef AZ_POLICY_SAVE_STEPS_SAVE_NOTICE_H
#define AZ_POLICY_SAVE_STEPS_SAVE_NOTICE_H

#include <stdint.h>

#include "base/op.h"

/* A wait that is shorter is not told: most saves take less. Milliseconds. */
#define SAVE_NOTICE_MS 1000

/* Tell the watcher of the operation, if there is one, what it waits for since `started` (monotonic,
 * in milliseconds), once the wait is long enough. */
void save_notice(struct op *op, int64_t started, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
