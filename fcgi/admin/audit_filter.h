/* The filters of the audit log, as parameters of a query. */
#ifndef AZ_ADMIN_AUDIT_FILTER_H
#define AZ_ADMIN_AUDIT_FILTER_H

#include "http/route.h"
#include "store/audit/rows.h"

/* Longest filters, in octets. A longer one matches nothing. */
#define AUDIT_FILTER_TEXT_MAX 512

/* The values of the filter `outcome`, ending with NULL. */
extern const char *const audit_filter_outcomes[];

/* Seconds of a day. */
#define AUDIT_DAY 86400LL

/*
 * Read the filters of the request. Unknown parameters are ignored, an empty one counts as absent,
 * and every fault is in the answer's fieldErrors. `from` and `to` are days (UTC), both inclusive;
 * `fromInstant` is inclusive and `toInstant` is not.
 */
enum az_status audit_filter_read(struct request *req, struct audit_filter *ret);

/* Read a day, YYYY-MM-DD, as its first millisecond. False: another text. */
bool audit_filter_day(const char *text, int64_t *ret_ms);

/* Return the value of a parameter; NULL: absent or empty. */
const char *audit_filter_param(const struct request *req, const char *name);

#endif
