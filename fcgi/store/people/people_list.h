/* People as the administrator finds them. */
#ifndef AZ_STORE_PEOPLE_PEOPLE_LIST_H
#define AZ_STORE_PEOPLE_PEOPLE_LIST_H

#include "base/json/fields.h"
#include "store/db/rows/json_rows.h"

/* People whose names are searched for a part: those who signed in last. */
#define PEOPLE_SEARCHED "10000"

/*
 * People, the one who signed in last first, and the members of one. Filter: a text, in any case: a
 * part of the subject, of an address or of a name among the PEOPLE_SEARCHED who signed in last, or
 * the whole subject or address of any other, so that a search reads as many rows in any database.
 */
extern const struct json_rows people_rows;
extern const struct field_table person_view;

#endif
