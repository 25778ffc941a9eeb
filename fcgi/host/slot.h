/*
 * Numbered slots of memory that processes share (file.h), each of one process, or of several that
 * share it: a record lock (F_SETLK) on the octet of that number, which need not be part of the
 * memory. The kernel ends it with the process, however that dies, and a child does not inherit it.
 * So no pid is compared: neither a zombie nor a process with the pid of a dead one counts as the
 * owner. A process has at most HOST_SLOTS_MAX slots of one file.
 *
 * Not F_OFD_SETLK: parents map before they fork, and such a lock would be one of all children.
 */
#ifndef AZ_HOST_SLOT_H
#define AZ_HOST_SLOT_H

#include "host/file.h"

/* Take a slot for this process alone, without waiting; one that it shares becomes its own. False,
 * with errno: another process has it (EAGAIN), or it cannot be had. */
bool slot_take(struct host_file *file, int64_t number);

/* Take a slot together with others that share it; one of its own becomes shared. As above. */
bool slot_share(struct host_file *file, int64_t number);

/* Take one of `count` slots from `first` that this process does not have: the last free one, or the
 * last before `skip` of them, in a circle. -1, with errno EAGAIN if other processes have all. */
int64_t slot_take_one(struct host_file *file, int64_t first, int count, int skip);

/* Give a slot back. Nothing is done if this process does not have it. */
void slot_drop(struct host_file *file, int64_t number);

/* True if this process has the slot. */
bool slot_is_ours(const struct host_file *file, int64_t number);

/* True if some process has the slot. */
bool slot_lives(const struct host_file *file, int64_t number);

/* Clean what dead owners left: call `clean` for each of `count` slots from `first` that no process
 * has, which is this process's meanwhile. */
void slots_clean(struct host_file *file, int64_t first, int count,
                 void (*clean)(void *arg, int64_t number), void *arg);

#endif
