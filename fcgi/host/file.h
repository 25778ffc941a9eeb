/* Memory that processes share: a file of SVC_RUNTIME_DIR, which all processes of the host map, or
 * memory without a name, which those have that are forked after it was made. */
#ifndef AZ_HOST_FILE_H
#define AZ_HOST_FILE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <talloc.h>

#include "base/status.h"

#define HOST_KEY_OCTETS 32

/* The beginning of each file. */
struct host_head {
    _Atomic uint64_t magic; /* changes with the layout, so that a file of another is replaced */
    unsigned char key[HOST_KEY_OCTETS]; /* random, so that no caller can aim at a slot */
};

/* Slots that one process has of one file (slot.h): those of the policy data are the most, 18. */
#define HOST_SLOTS_MAX 32

struct host_file {
    void *at;    /* a file begins with a struct host_head; all else is 0 when it is made */
    size_t size; /* octets */
    /* The one descriptor of the file in this process: close(2) of any drops all locks that the
     * process has on the file, so nothing opens the file once more. */
    int fd;
    pid_t owner; /* of the slots: a child holds none of its parent's slots */
    int64_t slot[HOST_SLOTS_MAX];
    size_t slots;
};

/*
 * Map DIR/name, creating both if absent. The directory must be ours and closed to others (0700): on
 * a shared host any user could create a global shared-memory name first. A file of another size or
 * magic is replaced. The file has its blocks before it is mapped: no process that writes to it ends
 * by SIGBUS, whatever fills the file system later. *ret is unmapped when it is freed. *ret_why
 * names the directory and says what is wrong.
 */
enum az_status host_file_open(TALLOC_CTX *mem, const char *dir, const char *name, uint64_t magic,
                              size_t size, struct host_file **ret, const char **ret_why);

/* Make memory without a name, all 0, before the processes are forked that share it. `slots` is what
 * /proc calls it, if it has slots; it takes a descriptor then, and no process can cut a piece off.
 * NULL: it has none. NULL, with errno: it cannot be made. */
struct host_file *host_file_memory(TALLOC_CTX *mem, const char *slots, size_t size);

/* Read the file as it is now, without mapping or making it, also as root. False: there is none of
 * this size and magic. */
bool host_file_read(TALLOC_CTX *mem, const char *dir, const char *name, uint64_t magic, void *ret,
                    size_t size);

/* Check that host_file_open can use the directory, or create it, and change nothing. */
enum az_status host_file_check(TALLOC_CTX *mem, const char *dir, const char **ret_why);

#endif
