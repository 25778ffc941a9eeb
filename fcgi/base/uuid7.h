/* Time-ordered identifiers: UUID version 7 (RFC 9562 section 5.7). */
#ifndef AZ_BASE_UUID7_H
#define AZ_BASE_UUID7_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define UUID7_OCTETS 16
#define UUID7_RANDOM_OCTETS 10 /* of which 74 bits are used */
#define UUID7_TEXT_LENGTH 36
#define UUID7_MS_MAX 0xffffffffffffULL /* 48 bits: the year 10889 */

/* Make an id. now_ms: milliseconds since 1970, at most UUID7_MS_MAX. random: fresh octets from
 * random_octets(). */
void uuid7_make(uint64_t now_ms, const unsigned char random[UUID7_RANDOM_OCTETS],
                unsigned char ret[UUID7_OCTETS]);

/* Write the id as lower-case text with hyphens, and a NUL. */
void uuid7_format(const unsigned char id[UUID7_OCTETS], char ret[UUID7_TEXT_LENGTH + 1]);

/* Read the text that uuid7_format() writes: lower-case letters and hyphens. AZ_INVALID: any other
 * text, or a UUID of another version. */
enum az_status uuid7_parse(const char *text, unsigned char ret[UUID7_OCTETS]);

/* Check version and variant. AZ_INVALID: the octets are not a UUID of version 7. */
enum az_status uuid7_check(const unsigned char id[UUID7_OCTETS]);

/* Return the time at which the id was made, in milliseconds since 1970. */
uint64_t uuid7_ms(const unsigned char id[UUID7_OCTETS]);

#endif
