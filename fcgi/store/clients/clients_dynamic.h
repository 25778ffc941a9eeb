/* Clients that registered themselves (POST /register): one statement writes the client and its
 * audit row, or nothing. client_room.h limits their number. */
#ifndef AZ_STORE_CLIENTS_CLIENTS_DYNAMIC_H
#define AZ_STORE_CLIENTS_CLIENTS_DYNAMIC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/op.h"
#include "crypto/digest.h"
#include "store/db/rows/audit.h"

/* Public text for a registration by an address that has its share of the room. */
#define CLIENTS_DYNAMIC_SHARE                                                                      \
    "Too many clients were registered from your network address and never used; try again later"

/* A client to be made. */
struct client_new {
    const char *client_id;                        /* made by us */
    const char *registration;                     /* DCR or STATEMENT */
    const char *type;                             /* confidential or public */
    const char *columns;                          /* values by column, JSON object as text */
    const unsigned char *sealed;                  /* secret, sealed; NULL: a client without one */
    size_t sealed_length;                         /* octets */
    const char *revision;                         /* revision of the policy that allowed it */
    unsigned char registered_from[SHA256_OCTETS]; /* keyring_mac of the sender's address */
};

/*
 * Make the client with its audit row, but only while the revision may decide. *ret_stored false:
 * nothing was written, because the revision may not decide or the name is taken (by a client, or by
 * a subject: tokens of the two would look alike). AZ_UNAVAILABLE also if there is no room for it
 * (client_room.h), or if its address has taken its share of the room. One trip.
 */
enum az_status client_register(struct op *op, const struct client_new *client,
                               const struct audit_entry *audit, bool *ret_stored);

/* Write the audit row of a registration that policy refused, under the same condition. One trip. */
enum az_status client_register_denial(struct op *op, const char *revision,
                                      const struct audit_entry *audit, bool *ret_stored);

#endif
