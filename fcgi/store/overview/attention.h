/* Things that an operator should look at, of all rooms (gateway-admin.md 3.6). */
#ifndef AZ_STORE_OVERVIEW_ATTENTION_H
#define AZ_STORE_OVERVIEW_ATTENTION_H

#include "base/json/fields.h"
#include "store/db/rows/json_rows.h"

/* Most entries of each kind; the most urgent ones are shown. */
#define ATTENTION_LISTED "20"
/* Errors of this many hours, and the newest this many: an upstream that is down may cause an error
 * at each request, and the page must not read more rows for it. */
#define ATTENTION_ERROR_HOURS "24"
#define ATTENTION_ERRORS "1000"
/* Days without a reason after which it is new, and days without a request after which a client of
 * an administrator is unused: longer than a month and a quarter in which a program may run once. */
#define ATTENTION_REASON_DAYS "30"
#define ATTENTION_UNUSED_DAYS "90"

/* The list, by kind, and the members of an entry. It has no filters. */
extern const struct json_rows attention_rows;
extern const struct field_table attention_view;

#endif
