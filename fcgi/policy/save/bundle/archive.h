/* The bundle archive: a gzip'd tar, octet for octet the same for the same rows (policy.md 2.3). */
#ifndef AZ_POLICY_SAVE_BUNDLE_ARCHIVE_H
#define AZ_POLICY_SAVE_BUNDLE_ARCHIVE_H

#include <stddef.h>
#include <talloc.h>

#include "base/status.h"

/* Longest path in an archive (PolicyRuleDto.path, specification 2.4), and the largest archive
 * before compression. */
#define ARCHIVE_PATH_MAX 512
#define ARCHIVE_MAX (64 << 20)

struct archive;

/* Return an empty archive on mem; NULL: no memory. */
struct archive *archive_new(TALLOC_CTX *mem);

/*
 * Add one regular file. Owner, mode and time are constants. A path over 100 octets goes into a PAX
 * record. AZ_INVALID for a path that is empty, too long, absolute, or has an empty, `.` or `..`
 * segment, a backslash or a control character.
 */
enum az_status archive_add(struct archive *archive, const char *path, const void *content,
                           size_t length);

/* Compress octets with gzip, the same for the same octets; the result belongs to mem. */
enum az_status archive_pack(TALLOC_CTX *mem, const void *content, size_t content_length,
                            unsigned char **ret, size_t *ret_length);

/* End the tar and compress it; the octets belong to mem. */
enum az_status archive_finish(TALLOC_CTX *mem, struct archive *archive, unsigned char **ret,
                              size_t *ret_length);

#endif
