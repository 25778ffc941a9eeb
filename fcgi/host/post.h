/* A post between processes that are forked after it was made: one text at a time, perhaps with
 * descriptors, such as one for the answer. Sending never waits. */
#ifndef AZ_HOST_POST_H
#define AZ_HOST_POST_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <talloc.h>

/* Descriptors of one text. */
#define POST_PASSED_MAX 2

struct post;

/* Make a post; freeing it closes both ends of this process. NULL: it cannot be made. */
struct post *post_new(TALLOC_CTX *mem);

/* Return the end that texts come from, for poll(2). */
int post_receiver(const struct post *post);

/* Send a text with copies of so many descriptors. False: the post does not take it now, and it is
 * lost. */
bool post_send(const struct post *post, const void *octets, size_t length, const int *passed,
               size_t count);

/*
 * Take a text, which has exactly so many descriptors, from the end that texts come from. Return its
 * octets. -1: nothing is there, or what came has other descriptors or more octets, and then nothing
 * of it stays open.
 */
ssize_t post_receive(int receiver, void *room, size_t size, int *ret_passed, size_t count);

/* Wait for a text without descriptors, at most so many milliseconds, and take it. -1: nothing came.
 */
ssize_t post_wait(const struct post *post, int ms, void *room, size_t size);

/* Make a connection whose ends keep texts apart: one to pass, one to hear the answer by. */
bool post_pair(int ret[2]);

#endif
