/* Reading the resource type registry row (svc.registry.resource_types). */
#ifndef AZ_POLICY_DECIDE_REGISTRY_H
#define AZ_POLICY_DECIDE_REGISTRY_H

#include <jansson.h>
#include <stdbool.h>
#include <talloc.h>

#include "base/op.h"

/* The key of its row. */
#define REGISTRY_ROW "svc.registry.resource_types"

/* True if this registry gives `type` the indicator `resource`, compared as resource_equal() does.
 */
bool registry_row_ties(const json_t *row, const char *type, const char *resource);

/*
 * Find out if the registry gives `type` the indicator `resource`, compared as resource_equal()
 * does. `revision` is the one whose answer is checked. Takes no trip to the database while the
 * process has that revision's registry, otherwise one.
 */
enum az_status registry_ties(struct op *op, const char *revision, const char *type,
                             const char *resource, bool *ret_tied);

/* List the keys of resource.types and rar.types as served now, for discovery; the array is owned by
 * op->mem. Takes one trip to the database, which brings the row only if it has changed. */
enum az_status registry_type_names(struct op *op, json_t **ret);

/* Return the revision of the registry in the memory of the process, or NULL if there is no
 * registry; the caller reads another row of it. */
const char *registry_revision(const struct op *op);

/* Return an address as a browser writes it (WHATWG URL, which the SDK of MCP clients uses): scheme
 * and host in lower case, no port that the scheme has anyway, and no slash alone after the
 * authority. On mem; NULL: it is no address with an authority, it names a user, or no memory. */
char *resource_normal(TALLOC_CTX *mem, const char *address);

/* True if two indicators name the same resource (RFC 8707); `https://h` and `https://h/` do. */
bool resource_equal(const char *a, const char *b);

#endif
