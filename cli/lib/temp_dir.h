/* A temporary directory for the program of the policy engine. */
#ifndef AZ_CLI_LIB_TEMP_DIR_H
#define AZ_CLI_LIB_TEMP_DIR_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/lib/cli.h"

/* A directory. */
struct temp_dir {
    const struct cli *cli; /* the run that it belongs to */
    char *path;            /* NULL before it is made */
    int root;              /* the open directory, or -1 */
};

/* Make a directory below TMPDIR, else /tmp, that no other user can read. False, with the error
 * printed, if it cannot be made; temp_dir_remove() is for that case, too. */
bool temp_dir_make(const struct cli *cli, struct temp_dir *ret);

/* Write a file into it. False, with the error printed, if it cannot be written. */
bool temp_dir_put(const struct temp_dir *dir, const char *path, const char *text, size_t length);

/* Remove the directory and everything in it. */
void temp_dir_remove(struct temp_dir *dir);

#endif
