#include "config.h"

#include "token/signing_key.h"

#include <string.h>

#include "base/clock.h"
#include "base/settings/settings.h"
#include "crypto/jwk.h"
#include "store/tokens/signing_keys.h"

struct signing_key {
    struct signing_key *next; /* of another use or algorithm */
    enum signing_use use;     /* of the key */
    const char *alg;          /* a constant text; the key may be of RS256 instead */
    const struct jwk *key;    /* child of this */
    int64_t read_ms;          /* clock_monotonic_ms() */
};

/* Return how long the key is kept, in milliseconds. A retired key must not be kept longer than it
 * is published, which is a short time where keys are rotated often. */
static int64_t
memory_ms(const struct settings *cfg)
{
    long seconds = SIGNING_KEY_MEMORY;
    if (seconds > cfg->jwks_cache_seconds)
        seconds = cfg->jwks_cache_seconds;
    if (seconds > cfg->key_retirement_seconds / 2)
        seconds = cfg->key_retirement_seconds / 2;
    return (int64_t) seconds * 1000;
}

/* Return the algorithm as a constant text: RS256 unless the settings list `wanted`. */
static const char *
listed_alg(const struct settings *cfg, const char *wanted)
{
    const char **alg = cfg->id_token_algs;
    while (wanted != NULL && *alg != NULL && strcmp(*alg, wanted) != 0)
        alg++;
    return wanted != NULL && *alg != NULL ? *alg : ID_TOKEN_ALG_DEFAULT;
}

/* Get the key of a use and algorithm, from the memory of the process or from the database; NULL
 * if no such key is active. */
static enum az_status
get_key(struct op *op, enum signing_use use, const char *alg, const struct jwk **ret)
{
    struct signing_key **at = &op->az->signing_keys, *held;
    while (*at != NULL && ((*at)->use != use || strcmp((*at)->alg, alg) != 0))
        at = &(*at)->next;
    held = *at;
    if (held != NULL && clock_monotonic_ms() - held->read_ms < memory_ms(op->az->cfg)) {
        *ret = held->key;
        return AZ_OK;
    }
    struct jwk *key;
    enum az_status st = signing_key_open(op, use, alg, &key);
    *ret = NULL;
    if (st != AZ_OK || key == NULL)
        return st;
    struct signing_key *fresh = talloc(op->az, struct signing_key);
    if (fresh == NULL)
        return op_no_memory(op);
    *fresh = (struct signing_key){.next = held != NULL ? held->next : NULL,
                                  .use = use,
                                  .alg = alg,
                                  .key = talloc_steal(fresh, key),
                                  .read_ms = clock_monotonic_ms()};
    talloc_free(held);
    *at = fresh;
    *ret = fresh->key;
    return AZ_OK;
}

enum az_status
signing_key_get(struct op *op, const char *wanted, const struct jwk **ret)
{
    return get_key(op, SIGNING_OIDC, listed_alg(op->az->cfg, wanted), ret);
}

enum az_status
signing_key_get_access(struct op *op, const char *alg, const struct jwk **ret)
{
    return get_key(op, SIGNING_ACCESS, alg, ret);
}
