/* CIBA requests that wait for a person, as the administrator finds them. */
#ifndef AZ_STORE_TOKENS_CIBA_LIST_H
#define AZ_STORE_TOKENS_CIBA_LIST_H

#include "base/json/fields.h"
#include "store/db/rows/json_rows.h"

/* Waiting requests, the newest first, and the members of one. Filters: the subject and the client.
 */
extern const struct json_rows ciba_waiting_rows;
extern const struct field_table ciba_waiting_view;

#endif
