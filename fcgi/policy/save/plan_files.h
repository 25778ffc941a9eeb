/* Files that opa build reads and writes. */
#ifndef AZ_POLICY_SAVE_PLAN_FILES_H
#define AZ_POLICY_SAVE_PLAN_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <talloc.h>

/* Write a new file, which this user alone can read. False: it exists, or cannot be written. */
bool plan_file_write(const char *path, const unsigned char *octets, size_t length);

/* Read a file of at most `max` octets, on mem, with NUL after it. NULL: it is missing, larger, no
 * plain file, not read to its end, or no memory. */
char *plan_file_read(TALLOC_CTX *mem, const char *path, size_t max, size_t *ret_length);

#endif
