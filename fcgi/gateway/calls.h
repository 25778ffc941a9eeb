/*
 * The calls of sessions that the workers of this host answer now, in memory that they share, so
 * that the worker that gets notifications/cancelled finds the one whose call it is
 * (gateway-admin.md 1.13). A worker answers one request at a time and has one place.
 */
#ifndef AZ_GATEWAY_CALLS_H
#define AZ_GATEWAY_CALLS_H

#include <stdbool.h>
#include <talloc.h>

#include "crypto/digest.h"

/* Places: more than the workers of any gateway pool (POOL_WORKERS_MAX). A worker that finds none
 * answers calls that cannot be cancelled. */
#define CALLS_MAX 256

struct calls;

/* Make the memory, before the workers are forked. NULL: it cannot be made. */
struct calls *calls_new(TALLOC_CTX *mem);

/* Begin a call of this worker, and end it. The key names its session and its id. Nothing is done
 * without the memory (NULL), here and below. */
void calls_begin(struct calls *calls, const unsigned char key[SHA256_OCTETS]);
void calls_end(struct calls *calls);

/* True if the call of this worker is cancelled. */
bool calls_is_cancelled(const struct calls *calls);

/* Cancel the call of a key. False: no worker of this host answers it. */
bool calls_cancel(struct calls *calls, const unsigned char key[SHA256_OCTETS]);

#endif
