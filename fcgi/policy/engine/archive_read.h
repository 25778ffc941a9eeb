/* Reading the gzip'd tar archives of bundles. */
#ifndef AZ_POLICY_ENGINE_ARCHIVE_READ_H
#define AZ_POLICY_ENGINE_ARCHIVE_READ_H

#include <stddef.h>
#include <talloc.h>

#include "base/status.h"

/* Unpack gzip; the octets belong to mem and end with NUL. AZ_TOO_LARGE: more than `max` octets.
 * AZ_INVALID: damaged. */
enum az_status archive_unpack(TALLOC_CTX *mem, const unsigned char *packed, size_t length,
                              size_t max, char **ret, size_t *ret_length);

/* Find a file in an unpacked tar; a slash before a name does not count. *ret points into the
 * archive. AZ_NOT_FOUND: there is none. AZ_INVALID: the archive is damaged. */
enum az_status archive_member(const char *tar, size_t length, const char *name, const char **ret,
                              size_t *ret_length);

#endif
