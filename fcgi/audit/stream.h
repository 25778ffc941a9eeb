/* The stream of audit rows to a collector (SVC_AUDIT_STREAM; decisions.md "Audit stream"). */
#ifndef AZ_AUDIT_STREAM_H
#define AZ_AUDIT_STREAM_H

#include "base/op.h"

/* Rows and octets of one request; collectors of logs have 512 to 1,000 rows as a batch, and take
 * some MiB. */
#define STREAM_ROWS 500
#define STREAM_OCTETS (1 << 20)

/* Octets of the documents of a batch, as stored: with the body and the text form of the answer of
 * the database less than 4 MiB. */
#define STREAM_STORED_OCTETS (512 << 10)

/* Octets of an event; a larger one is skipped. */
#define STREAM_EVENT_MAX (3 << 20)

/* Rows in a row that are skipped because the collector refuses each alone. A poison row is rare; a
 * collector that refuses this many refuses all, and would get none of the log. */
#define STREAM_REFUSED_MAX 10

/* Time of one run, in milliseconds: other jobs wait for it. The next run goes on. */
#define STREAM_RUN_MS 20000

/* The result of a run. */
struct streamed {
    int64_t sent, skipped, passed; /* rows */
    const char *note; /* why it sent nothing or ended early, or NULL; on op->mem, or constant */
};

/* Send the rows behind the cursor up to the mark (store/audit/read/mark.h). What a collector does
 * is no failure: it is noted in the database, and the next run tries again. */
enum az_status audit_stream_run(struct op *op, struct streamed *ret);

#endif
