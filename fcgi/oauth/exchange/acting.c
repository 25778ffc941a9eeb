#include "config.h"

#include "oauth/exchange/acting.h"

#include <stdbool.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "crypto/jwt.h"

/* True for a text that is not empty and not longer than the names in other claims. */
static bool
is_actor_name(const json_t *value)
{
    return json_string_length(value) > 0 && json_string_length(value) <= JWT_NAME_MAX;
}

/* Collect the actors of a chain, the newest first. No actor may be of the issuer `foreign_to`, if
 * that is not NULL. */
static enum acting_fault
collect_actors(const json_t *previous, const char *foreign_to, const json_t **actors,
               size_t *ret_count)
{
    size_t count = 0;
    for (const json_t *act = previous; act != NULL; act = json_object_get(act, "act")) {
        const json_t *iss = json_object_get(act, "iss");
        if (!is_actor_name(json_object_get(act, "sub")) || (iss != NULL && !is_actor_name(iss)))
            return ACTING_MALFORMED;
        if (foreign_to != NULL && iss != NULL && strcmp(json_string_value(iss), foreign_to) == 0)
            return ACTING_FORGED;
        if (count + 1 == ACTING_DEPTH_MAX)
            return ACTING_DEEP;
        actors[count++] = act;
    }
    *ret_count = count;
    return ACTING_GOOD;
}

/* Return an actor in front of a chain, which is handed over, or NULL if out of memory. */
static json_t *
add_actor(const char *sub, const char *iss, json_t *chain, bool last)
{
    if (!last && chain == NULL)
        return NULL;
    return json_pack("{s:s,s:s*,s:o*}", "sub", sub, "iss", iss, "act", chain);
}

enum acting_fault
acting_make(TALLOC_CTX *mem, const char *client_id, const json_t *previous, const char *issuer,
            const char *us, json_t **ret)
{
    const json_t *actors[ACTING_DEPTH_MAX];
    size_t count = 0;
    enum acting_fault fault = collect_actors(previous, issuer != NULL ? us : NULL, actors, &count);
    if (fault != ACTING_GOOD)
        return fault;
    json_t *chain = NULL;
    for (size_t i = count; i-- > 0;) {
        const char *iss = json_string_value(json_object_get(actors[i], "iss"));
        chain = add_actor(json_string_value(json_object_get(actors[i], "sub")),
                          iss != NULL ? iss : issuer, chain, i == count - 1);
    }
    *ret = jsonx_own(mem, add_actor(client_id, NULL, chain, count == 0));
    return *ret != NULL ? ACTING_GOOD : ACTING_OURS;
}
