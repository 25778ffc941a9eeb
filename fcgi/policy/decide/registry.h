/* The resource type registry row (svc.registry.resource_types) as C reads it. */
#ifndef AZ_POLICY_DECIDE_REGISTRY_H
#define AZ_POLICY_DECIDE_REGISTRY_H

#include <jansson.h>
#include <stdbool.h>

#include "base/op.h"

/*
 * Whether the registry gives `type` the indicator `resource` (equal but for one final slash when
 * the path is empty, oauth.md 2 item 7). `revision` is the one whose answer is judged. No trip
 * while the process has that revision's registry; else one.
 */
enum az_status registry_ties(struct op *op, const char *revision, const char *type,
                             const char *resource, bool *ret_tied);

/* The keys of resource.types and rar.types as served now, for discovery; array owned by op->mem.
 * One trip, which brings the row only when it has changed. */
enum az_status registry_type_names(struct op *op, json_t **ret);

/* RFC 8707: the same resource, where `https://h` and `https://h/` are one. */
bool resource_equal(const char *a, const char *b);

#endif
