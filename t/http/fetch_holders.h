/* Processes of a pool that hold places for fetches (http/fetch/fetch_places.h), for C tests. */
#ifndef AZ_T_HTTP_FETCH_HOLDERS_H
#define AZ_T_HTTP_FETCH_HOLDERS_H

#include <sys/types.h>

#include "base/op.h"

/* The holder keeps its place until it is killed. */
#define HOLD_ON (-1)

/* A process of a pool of so many workers, with its runtime directory. */
struct az *holder_pool(TALLOC_CTX *mem, const char *directory, const char *name, int workers);

/* An operation of such a process, now, whose client has the address 192.0.2.N. */
struct op holder_op(TALLOC_CTX *mem, struct az *az, int address);

/* Start a process that takes a place and keeps it for so many milliseconds. */
pid_t hold_place(struct op *op, int ms);

/* Kill the process and wait for its end. */
void holder_end(pid_t pid);

#endif
