/*
 * Data of revisions that the workers of one parent share: each is read once, by the worker that
 * comes first, and mapped read-only by all (decisions.md "Decisions in process"). The memory has no
 * name, is made before the workers are forked, and lies at the same place in each of them, so a
 * tree is used as it stands. Knows nothing of requests or the database.
 */
#ifndef AZ_POLICY_ENGINE_SHARED_DATA_H
#define AZ_POLICY_ENGINE_SHARED_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <talloc.h>

#include "host/slot.h"
#include "rego/value.h"

/* Revisions that are there at a time: the present one, the next one, and those of workers that have
 * had no request since. When all are in use, a process reads the next one for itself. */
#define SHARED_DATA_PLACES 16

/* Octets of the name of a revision; ours have 16 digits. */
#define SHARED_DATA_NAME_MAX 63

/* Most time to wait for a worker that reads a revision, in milliseconds: 100,000 bindings take 100.
 * After it the process reads the revision for itself. */
#define SHARED_DATA_WAIT_MS 1000

/* The memory, as one process sees it. A process that uses a place shares its slot. */
struct shared_data {
    struct host_file *memory;
    char *at;                          /* where it lies */
    size_t place;                      /* octets of each place */
    unsigned uses[SHARED_DATA_PLACES]; /* of this process */
};

/* A revision in shared memory, which stays until this is freed. */
struct shared_tree {
    struct shared_data *shared;
    size_t place;
    const char *revision;
    const struct rego_value *data; /* an object */
};

/*
 * Make the memory, with `octets` at most for each revision, before the workers are forked. The
 * process that calls this reads no revision from it, since a slot is not inherited. NULL, with
 * errno: it cannot be made here, and each process reads for itself.
 */
struct shared_data *shared_data_new(TALLOC_CTX *mem, size_t octets);

/* Return the revision that was read last, or NULL. */
struct shared_tree *shared_data_newest(TALLOC_CTX *mem, struct shared_data *shared);

/*
 * Return a revision, which is read from the JSON text if no process has done so; another process
 * that is reading is waited for. NULL: this process must read it for itself, because the text is
 * not an object, does not fit, or there is no place.
 */
struct shared_tree *shared_data_read(TALLOC_CTX *mem, struct shared_data *shared,
                                     const char *revision, const char *text, size_t length);

/* Take the turn of the one process that loads a plan, if no other has it. The turn ends with
 * shared_data_end_turn(), or with the process. */
bool shared_data_begin_turn(const struct shared_data *shared);
void shared_data_end_turn(const struct shared_data *shared);

#endif
