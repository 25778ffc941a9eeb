/* Rows of clients that are known by a metadata document: made when the first code is issued for
 * one, and renewed when the document says something else. */
#ifndef AZ_STORE_CLIENTS_CLIENTS_CIMD_H
#define AZ_STORE_CLIENTS_CLIENTS_CIMD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"
#include "store/clients/clients.h"

/* What the row is after the write. */
struct client_cimd_row {
    int64_t id, version; /* of the row of that name, whoever made it; 0: there is none */
    bool enabled;        /* the administrator's word, kept */
    bool ours;           /* registered by document, and public: it says what the document says */
    bool taken;          /* a subject has that name: no row was made */
    bool full;           /* there are SVC_DYNAMIC_CLIENTS_MAX such clients: the same */
};

/*
 * Makes the row of a client or renews it, one row however many do it at once. A row that says the
 * same already keeps its version; one that was registered otherwise, or that the administrator made
 * confidential, is not touched. One trip, two when another process made the row just now.
 */
enum az_status client_cimd_put(struct op *op, const struct client *client,
                               struct client_cimd_row *ret);

#endif
