/* A file of SVC_RUNTIME_DIR that the processes of one host map to share counters. */
#ifndef AZ_HTTP_MAPPED_H
#define AZ_HTTP_MAPPED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <talloc.h>

#include "base/status.h"

#define MAPPED_KEY_OCTETS 32

/* The beginning of each file. */
struct mapped_head {
    _Atomic uint64_t magic; /* changes with the layout, so that a file of another is replaced */
    unsigned char key[MAPPED_KEY_OCTETS]; /* random, so that no caller can aim at a slot */
};

struct mapped {
    void *at;    /* begins with a struct mapped_head; all else is 0 in a new file */
    size_t size; /* octets */
    int fd;      /* of the file, for record locks */
};

/*
 * Map DIR/name, creating both if absent. The directory must be ours and closed to others (0700): on
 * a shared host any user could create a global shared-memory name first. A file of another size or
 * magic is replaced. The file has its blocks before it is mapped: no process that writes to it ends
 * by SIGBUS, whatever fills the file system later. *ret is unmapped when it is freed. *ret_why
 * names the directory and says what is wrong.
 */
enum az_status mapped_open(TALLOC_CTX *mem, const char *dir, const char *name, uint64_t magic,
                           size_t size, struct mapped **ret, const char **ret_why);

/* Read the file as it is now, without mapping or making it, also as root. False: there is none of
 * this size and magic. */
bool mapped_read(TALLOC_CTX *mem, const char *dir, const char *name, uint64_t magic, void *ret,
                 size_t size);

/* Check that mapped_open can use the directory, or create it, and change nothing. */
enum az_status mapped_check(TALLOC_CTX *mem, const char *dir, const char **ret_why);

#endif
