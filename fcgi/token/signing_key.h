/* The key that signs ID tokens, as the process remembers it. */
#ifndef AZ_TOKEN_SIGNING_KEY_H
#define AZ_TOKEN_SIGNING_KEY_H

#include "base/op.h"

struct jwk;

/*
 * A rotation is followed within so long: the key signs on as one that is retired, and those stay
 * published for as long as what they signed lives. Seconds.
 */
#define SIGNING_KEY_MEMORY 60

/* The active key with its private half; lives at least to the end of the operation, and is wiped
 * when it is dropped. One trip when it is not remembered. */
enum az_status signing_key_get(struct op *op, const struct jwk **ret);

#endif
