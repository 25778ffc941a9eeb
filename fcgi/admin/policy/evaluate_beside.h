/* A question to a policy that is not active: a change that is not saved, or an earlier revision
 * (gateway-admin.md 3.6). */
#ifndef AZ_ADMIN_POLICY_EVALUATE_BESIDE_H
#define AZ_ADMIN_POLICY_EVALUATE_BESIDE_H

#include "base/json/fields.h"
#include "http/request.h"
#include "policy/engine/engine.h"

/* The policy that is asked; both absent: the active one. */
struct evaluate_beside {
    const json_t *changes; /* object with the lists of a deploy, or NULL */
    int64_t revision;      /* id of a bundle, or 0 */
};

/* The members of `changes`. */
extern const struct field_table evaluate_changes_table;

/* Let that policy answer an entrypoint of decisions. As engine_try(), without a trace; and the
 * refusals of a save, and AZ_UNAVAILABLE where its plan cannot be made. */
enum az_status evaluate_beside_ask(struct request *req, const struct evaluate_beside *beside,
                                   const char *target, const json_t *input,
                                   struct engine_trial *ret);

#endif
