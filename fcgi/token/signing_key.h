/* The key that signs ID tokens, cached by the process. */
#ifndef AZ_TOKEN_SIGNING_KEY_H
#define AZ_TOKEN_SIGNING_KEY_H

#include "base/op.h"

struct jwk;

/*
 * Time for which the process keeps the key. After a rotation it may sign with a retired key for
 * this long; retired keys stay published until their last signatures have expired. Seconds.
 */
#define SIGNING_KEY_MEMORY 60

/* Get the active key with its private half. It lives at least until the end of the operation, and
 * is wiped when it is dropped. One trip if it is not cached. */
enum az_status signing_key_get(struct op *op, const struct jwk **ret);

#endif
