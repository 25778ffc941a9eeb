/* Compute what the service would do with an answer of policy: the rules of the endpoints on a
 * stored question (policy.md I8). Nothing is asked, written or counted. */
#ifndef AZ_POLICY_DECIDE_EFFECT_H
#define AZ_POLICY_DECIDE_EFFECT_H

#include <jansson.h>
#include <stddef.h>

#include "base/op.h"

enum effect_outcome {
    EFFECT_NONE, /* no decision: 503 */
    EFFECT_DENY,
    EFFECT_ALLOW,
};

/* One decision. The objects are on op->mem. */
struct effect {
    enum effect_outcome outcome;
    /* The rights that are allowed: scopes, resource_types, grant_types (arrays), resource, details,
     * refresh (true), verdicts (array: 0 deny, 1 step_up, 2 allow). Empty unless allowed. */
    json_t *rights;
    /* The rest: lifetime, singleUse, obligations, claims, extensions, context, stepUp. */
    json_t *rest;
    json_t *reasons; /* array, sorted; never NULL */
};

/* A route of a managed resource, as far as decisions about requests to it depend on it. */
struct effect_route {
    json_t *obligations;           /* object: always added to those of policy; or NULL */
    const char *credential_header; /* of its upstream, which no obligation may replace; or NULL */
};

/* Facts of the service beside a question and its answer. */
struct effect_facts {
    const json_t *registry;    /* row of resource types that goes with the answer (registry.h);
                                  NULL: an empty one */
    struct effect_route route; /* of a request to a managed resource */
};

/* Return the number of decisions that a question asks for: one for each request of a batch. */
size_t effect_count(const json_t *input);

/*
 * Find the effects of an answer to a question; `ret` has room for effect_count() of them. The
 * answer may be changed; NULL: there is none. AZ_SERVER_ERROR: no memory.
 */
enum az_status effect_find(struct op *op, const json_t *input, const struct effect_facts *facts,
                           json_t *answer, struct effect *ret);

#endif
