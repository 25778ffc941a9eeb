/* Access tokens that are looked at again and again, while an answer to their holders goes on. */
#ifndef AZ_STORE_TOKENS_TOKENS_LIVE_H
#define AZ_STORE_TOKENS_TOKENS_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/op.h"
#include "base/uuid7.h"

/*
 * Find out which tokens of a partition are live, by the conditions under which token_find() finds
 * them: live[i] says it of id[i]. One trip; none if the partition does not exist, in which no token
 * is live.
 */
enum az_status tokens_live(struct op *op, uint32_t bucket, const unsigned char (*id)[UUID7_OCTETS],
                           size_t count, bool *live);

#endif
