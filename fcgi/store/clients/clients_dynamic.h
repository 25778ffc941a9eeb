/*
 * Clients that registered themselves (POST /register): one statement writes the client and its
 * audit row, or nothing. Also the limit on their number, which includes clients known by a metadata
 * document: anyone can make such clients, and rate limits alone would let an attacker fill the disk
 * slowly.
 */
#ifndef AZ_STORE_CLIENTS_CLIENTS_DYNAMIC_H
#define AZ_STORE_CLIENTS_CLIENTS_DYNAMIC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/op.h"
#include "store/db/audit.h"

/* Rows of clients that registered themselves, for statements that make another. Counted up to a
 * LIMIT that follows, with the index client_dynamic. Workers that count at the same moment get the
 * same number, so each of them may add one client beyond the limit. */
#define CLIENTS_DYNAMIC "(SELECT 1 FROM client WHERE registration_type <> 'ADMIN'"

/* Public text for a registration that SVC_DYNAMIC_CLIENTS_MAX refuses. */
#define CLIENTS_DYNAMIC_FULL                                                                       \
    "The maximum number of self-registered clients is reached; ask the operator of this service, " \
    "or try again later"

/* A client to be made. */
struct client_new {
    const char *client_id;       /* made by us */
    const char *registration;    /* DCR or STATEMENT */
    const char *type;            /* confidential or public */
    const char *columns;         /* values by column, JSON object as text */
    const unsigned char *sealed; /* secret, sealed; NULL: a client without one */
    size_t sealed_length;        /* octets */
    const char *revision;        /* revision of the policy that allowed it */
};

/*
 * Make the client with its audit row, but only while the revision may decide. *ret_stored false:
 * nothing was written, because the revision may not decide or the name is taken (by a client, or by
 * a subject: tokens of the two would look alike). AZ_UNAVAILABLE also if there are
 * SVC_DYNAMIC_CLIENTS_MAX such clients. One trip.
 */
enum az_status client_register(struct op *op, const struct client_new *client,
                               const struct audit_entry *audit, bool *ret_stored);

/* Write the audit row of a registration that policy refused, under the same condition. One trip. */
enum az_status client_register_denial(struct op *op, const char *revision,
                                      const struct audit_entry *audit, bool *ret_stored);

#endif
