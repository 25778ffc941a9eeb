/* UMA resources (Federated Authorization for UMA 2.0 section 3). */
#ifndef AZ_STORE_UMA_RESOURCES_H
#define AZ_STORE_UMA_RESOURCES_H

#include <jansson.h>

#include "store/uma/owners.h"

/* Resources of one owner: a service with more registers types of things, not things. It bounds the
 * list of GET, 37 kB, and the disk that one token can fill. */
#define UMA_RESOURCES_MAX 1000

/* The members of a resource. */
struct uma_resource {
    const char *name; /* or NULL */
    const char *type; /* or NULL */
    json_t *scopes;   /* array of strings, once each */
};

/* Outcomes of a new resource. */
enum uma_made {
    UMA_MADE,  /* stored */
    UMA_FULL,  /* the owner has UMA_RESOURCES_MAX of them */
    UMA_NOBODY /* the client of the owner was deleted a moment ago */
};

/* Store a new resource and the audit row, in one trip. */
enum az_status uma_resource_insert(struct op *op, const unsigned char id[UUID7_OCTETS],
                                   const struct uma_owner *owner,
                                   const struct uma_resource *resource,
                                   const struct audit_entry *audit, enum uma_made *ret);

/* Replace a resource, or delete it with its delegations, and write the audit row, in one trip.
 * *ret_found false: the owner has no such resource, and nothing was written. */
enum az_status uma_resource_replace(struct op *op, const unsigned char id[UUID7_OCTETS],
                                    const struct uma_owner *owner,
                                    const struct uma_resource *resource,
                                    const struct audit_entry *audit, bool *ret_found);
enum az_status uma_resource_delete(struct op *op, const unsigned char id[UUID7_OCTETS],
                                   const struct uma_owner *owner, const struct audit_entry *audit,
                                   bool *ret_found);

/* Read a resource as JSON text (specification 2.14); *ret is NULL if the owner has no such
 * resource.
 */
enum az_status uma_resource_get(struct op *op, const unsigned char id[UUID7_OCTETS],
                                const struct uma_owner *owner, const char **ret);

/* Read the ids of all resources of the owner, as the text of a JSON array. */
enum az_status uma_resource_list(struct op *op, const struct uma_owner *owner, const char **ret);

#endif
