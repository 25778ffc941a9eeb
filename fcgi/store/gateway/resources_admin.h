/* Managed resources as the administrator reads and writes them. */
#ifndef AZ_STORE_GATEWAY_RESOURCES_ADMIN_H
#define AZ_STORE_GATEWAY_RESOURCES_ADMIN_H

#include <jansson.h>

#include "managed/managed.h"
#include "store/db/rows/json_rows.h"

/* The columns that a save writes; admin/gateway/managed_resource_dto.c fills them. Neither the key
 * nor the secrets: those have parameters of their own. */
#define RESOURCES_ADMIN_COLUMNS                                                                    \
    "upstream_type, enabled, document, tools, secrets_set, missing, status, status_reason"

/* Tools of the row m that wait for an approval. */
#define RESOURCES_WAITING                                                                          \
    "(SELECT count(*) FROM json_array_elements(m.tools) w"                                         \
    " WHERE w #>> '{pin,status}' IN ('new', 'changed'))"

/* True if people come back from the authorization server of the row m at the shared address
 * (link_redirect_is_shared() in gateway/link). */
#define RESOURCES_REDIRECT_SHARED                                                                  \
    "(m.document #>> '{upstreamAuth,type}' = 'oauth_link' AND coalesce("                           \
    "m.document #>> '{upstreamAuth,redirectUri}' = 'shared', m.redirect_shared))"

/* ManagedResourceDto, keyed by name. Filters of a page: a part of either name in any case, the
 * status, and `summary` for rows without routes, tools and the settings of the upstream. A replace
 * keeps the secrets when they are not given. */
extern const struct json_rows resources_admin_rows;

/* The facts of a stored resource that the rules of a save depend on; on op->mem. */
struct resource_stored {
    const char *version; /* as text */
    enum managed_status status;
    const char *status_reason;   /* or NULL */
    const char *auth_type;       /* of upstreamAuth, or NULL */
    json_t *secrets_set;         /* object: times by name */
    json_t *tools;               /* array, as stored */
    json_t *addresses;           /* object: upstreamUrl and upstreamAuth of the document */
    const unsigned char *sealed; /* its secrets, or NULL */
    size_t sealed_length;        /* octets */
};

/* Read them. One trip. *ret is NULL if there is no such resource. */
enum az_status resource_stored_fetch(struct op *op, const char *name,
                                     const struct resource_stored **ret);

/* Find another resource, enabled or not, that has one of these public addresses (a list that ends
 * with NULL, or NULL). *ret is its name, or NULL. No trip without addresses. */
enum az_status resource_public_owner(struct op *op, const char *name, const char *const *urls,
                                     const char **ret);

#endif
