/* Times as text: the profile of RFC 3339 section 5.6 that this service writes and reads. */
#ifndef AZ_BASE_ISO8601_H
#define AZ_BASE_ISO8601_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Sizes with the NUL: YYYY-MM-DDTHH:MM:SSZ and YYYY-MM-DDTHH:MM:SS.mmmZ. */
#define ISO8601_SIZE 21
#define ISO8601_MS_SIZE 25

/* Seconds since 1970 of the years 0001 to 9999: the field has four digits, and PostgreSQL has no
 * year 0. */
#define ISO8601_SECONDS_MIN (-62135596800LL)
#define ISO8601_SECONDS_MAX 253402300799LL

/* Format a time. AZ_INVALID: outside the years above. */
enum az_status iso8601_format(int64_t seconds, char ret[ISO8601_SIZE]);
enum az_status iso8601_format_ms(int64_t ms, char ret[ISO8601_MS_SIZE]);

/*
 * Read a time as milliseconds since 1970; further digits are cut off.
 *
 * date-time = 4DIGIT "-" 2DIGIT "-" 2DIGIT "T" 2DIGIT ":" 2DIGIT ":" 2DIGIT
 *             [ "." 1*9DIGIT ] ( "Z" / ( ( "+" / "-" ) 2DIGIT ":" 2DIGIT ) )
 *
 * T and Z are capital letters. AZ_INVALID: any other text, a day that the month does not have,
 * second 60 (POSIX time has no place for it), an offset past 23:59, or a result outside the years
 * above.
 */
enum az_status iso8601_parse(const char *text, size_t len, int64_t *ret_ms);

/* Read a day in UTC, full-date of RFC 3339 section 5.6, as its first millisecond since 1970.
 * AZ_INVALID: any other text. */
enum az_status iso8601_parse_day(const char *text, size_t len, int64_t *ret_ms);

#endif
