/* Comparison of a stored decision with the one that policy makes today (gateway-admin.md 3.6). */
#ifndef AZ_ADMIN_POLICY_POLICY_REPLAY_H
#define AZ_ADMIN_POLICY_POLICY_REPLAY_H

#include <jansson.h>
#include <talloc.h>

/*
 * Return the names of the members in which two answers differ, as an array owned by mem, or NULL if
 * out of memory. Members about the engine do not count; null, false and empty count as absent,
 * except for `allow` (policy.md 6.2). If one answer is not an object: [""] unless they are equal.
 */
json_t *policy_replay_changes(TALLOC_CTX *mem, const json_t *before, const json_t *after);

#endif
