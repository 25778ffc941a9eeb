/* A queue of datagrams between processes that are forked after it was made. Sending never waits. */
#ifndef AZ_BASE_DATAGRAMS_H
#define AZ_BASE_DATAGRAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <talloc.h>

/* Make a queue; freeing it closes both ends of this process. NULL: it cannot be made. */
struct datagrams *datagrams_new(TALLOC_CTX *mem);

/* Send a datagram. False: the queue does not take it now, and it is lost. */
bool datagrams_send(const struct datagrams *queue, const void *octets, size_t length);

/* Wait for a datagram, at most so many milliseconds, and return how many octets of it are in the
 * room. -1: no datagram came. */
ssize_t datagrams_receive(const struct datagrams *queue, int ms, void *room, size_t size);

#endif
