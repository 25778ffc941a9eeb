/* Files that decide what a program does, or hold its secrets: who else can use them. */
#ifndef AZ_BASE_FILE_TRUST_H
#define AZ_BASE_FILE_TRUST_H

#include <stdbool.h>
#include <sys/stat.h>
#include <talloc.h>

/*
 * Return what is wrong with the owner or the mode of an open file, with the remedy, or NULL. The
 * file must belong to root or to the account of this process, and no other account may change it;
 * `secret`: or read it, but for a group that this process is in. For root any owner will do,
 * because root works as the account that owns authz.conf (cli/lib/run.c). Devices and directories
 * pass: root makes the former, and the latter cannot be read. On mem; begins with the path.
 */
const char *file_trust_fault(TALLOC_CTX *mem, const char *path, const struct stat *about,
                             bool secret);

/* The variable that allows files with such a fault. */
#define FILE_TRUST_WAIVER "SVC_ALLOW_SHARED_SETTINGS"

/* True if that variable is true. It is read from the environment alone: whoever can change a file
 * of settings could write it there. */
bool file_trust_is_waived(void);

#endif
