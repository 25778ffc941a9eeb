/* UMA permission tickets (Federated Authorization for UMA 2.0 section 4). */
#ifndef AZ_STORE_UMA_TICKETS_H
#define AZ_STORE_UMA_TICKETS_H

#include <jansson.h>

#include "crypto/token.h"
#include "store/uma/owners.h"

/* A ticket to be stored. */
struct uma_ticket {
    const struct token_parts *parts; /* of TOKEN_TICKET */
    int64_t expires_at;              /* seconds since 1970 */
    json_t *permissions;             /* array of {resource_id, resource_scopes} */
};

/* Outcomes of a permission request. */
enum uma_asked {
    UMA_GIVEN,       /* the ticket and the audit row are stored */
    UMA_UNKNOWN,     /* the owner has no such resource */
    UMA_BEYOND,      /* a scope is not registered for its resource */
    UMA_ASKED_NOBODY /* the client of the owner was deleted a moment ago */
};

/* Store a ticket if all of its permissions are for resources of the owner, with scopes that are
 * registered for them. One trip. */
enum az_status uma_ticket_insert(struct op *op, const struct uma_ticket *ticket,
                                 const struct uma_owner *owner, const struct audit_entry *audit,
                                 enum uma_asked *ret);

/* Delete expired tickets (housekeeping); adds to *removed. */
enum az_status uma_tickets_purge(struct op *op, int64_t *removed);

#endif
