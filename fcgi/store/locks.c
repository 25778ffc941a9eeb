#include "config.h"

#include "store/locks.h"

#include <stdint.h>

static const struct db_stmt lock_stmt = {
    "lock", "SELECT pg_advisory_xact_lock($1::integer, $2::integer)", 2};

/* FNV-1a; a collision only makes two tokens wait for each other. */
static int32_t
hash_octets(const unsigned char *octets, size_t length)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ octets[i]) * 16777619u;
    return (int32_t) hash;
}

struct db_step *
lock_add(struct db_batch *batch, enum lock_class class, const void *octets, size_t length)
{
    struct db_step *step = db_batch_add(batch, &lock_stmt);
    if (step == NULL)
        return NULL;
    db_number(&step->params, class);
    db_number(&step->params, hash_octets(octets, length));
    return step;
}
