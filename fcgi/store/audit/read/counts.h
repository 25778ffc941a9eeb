/*
 * Numbers of audit rows by day, client, endpoint and outcome, decisions by hour, and the last use
 * of each client.
 *
 * No request pays for them: housekeeping adds up the rows that were written since its last run, and
 * readers count the rows after those where they lie. Both meet at one id, so that no row counts
 * twice and none is left out.
 */
#ifndef AZ_STORE_AUDIT_READ_COUNTS_H
#define AZ_STORE_AUDIT_READ_COUNTS_H

#include "store/db/db.h"

/* Rows of one statement of audit_counts_add: about a quarter of a second. */
#define AUDIT_COUNTS_SPAN 200000

/* Numbers of days are kept for at least this long, which is the longest report. */
#define AUDIT_COUNTS_DAYS 367

/* Days for which counts by hour are kept; counts of single clients are kept for two. The last use
 * of a client is known for AUDIT_COUNTS_DAYS. */
#define AUDIT_COUNTS_HOURS_DAYS 8

/* Add up the rows that were written since the last call; *ret_rows is the number of ids that were
 * looked at. Only housekeeping calls this, under its lock. */
enum az_status audit_counts_add(struct op *op, int64_t *ret_rows);

#endif
