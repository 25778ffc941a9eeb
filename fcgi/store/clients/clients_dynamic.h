/* Clients that registered themselves (POST /register): one statement writes the client and its
 * audit row, or nothing. And how many of them there may be, those of a metadata document among
 * them: anybody can make one, and rate limits alone let a patient stranger fill the disk. */
#ifndef AZ_STORE_CLIENTS_CLIENTS_DYNAMIC_H
#define AZ_STORE_CLIENTS_CLIENTS_DYNAMIC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/op.h"
#include "store/db/audit.h"

/*
 * Rows that a client made by itself, for statements that make another: counted as far as a LIMIT
 * that follows lets them, by the index client_dynamic. Who counts at the same time sees the same,
 * so as many more may come in as workers register at that moment.
 */
#define CLIENTS_DYNAMIC "(SELECT 1 FROM client WHERE registration_type <> 'ADMIN'"

/* What is told when SVC_DYNAMIC_CLIENTS_MAX of them are there. */
#define CLIENTS_DYNAMIC_FULL                                                                       \
    "As many clients as this service keeps have registered themselves; ask its operator, or try "  \
    "again later"

/* A client to be made. */
struct client_new {
    const char *client_id;       /* made by us */
    const char *registration;    /* DCR or STATEMENT */
    const char *type;            /* confidential or public */
    const char *columns;         /* values by column, JSON object as text */
    const unsigned char *sealed; /* secret, sealed; NULL: a client without one */
    size_t sealed_length;        /* octets */
    const char *revision;        /* of the policy that allowed it */
};

/*
 * Makes the client, with its audit row and only while its revision may decide. *ret_stored false:
 * nothing was written, for that reason or because the name is taken (by a client, or by a subject:
 * tokens of the two would look alike). AZ_UNAVAILABLE also when there are SVC_DYNAMIC_CLIENTS_MAX
 * such clients. One trip.
 */
enum az_status client_register(struct op *op, const struct client_new *client,
                               const struct audit_entry *audit, bool *ret_stored);

/* The audit row of a registration that policy denied, under the same condition. One trip. */
enum az_status client_register_denial(struct op *op, const char *revision,
                                      const struct audit_entry *audit, bool *ret_stored);

#endif
