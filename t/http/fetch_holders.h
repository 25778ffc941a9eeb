/* Processes of a pool that hold places for fetches (http/fetch/fetch_places.h), for C tests. */
#ifndef AZ_T_HTTP_FETCH_HOLDERS_H
#define AZ_T_HTTP_FETCH_HOLDERS_H

#include <sys/types.h>

#include "base/op.h"
#include "http/fetch/fetch_places.h"

/* The holder keeps its place until it is killed. */
#define HOLD_ON (-1)

/* A process of a pool of so many workers, with its runtime directory. */
struct az *holder_pool(TALLOC_CTX *mem, const char *directory, const char *name, int workers);

/* An operation of such a process, now, whose client has the address 192.0.2.N. */
struct op holder_op(TALLOC_CTX *mem, struct az *az, int address);

/* What another process got that asked for a place, which it keeps. */
struct other {
    pid_t pid; /* 0: it has none */
    enum fetch_fault fault;
};

/* Let another process of its pool take a place, or a turn (NULL: none), for the operation. */
struct other other_take(struct op *op, enum fetch_hosts hosts, const struct fetch_turn *turn);

/* Let it give the place back, if it has one. */
void other_drop(struct other *other);

/* Start a process that takes a place and keeps it for so many milliseconds. */
pid_t hold_place(struct op *op, int ms);

/* Kill the process and wait for its end. */
void holder_end(pid_t pid);

#endif
