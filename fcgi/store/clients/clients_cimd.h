/* Rows of clients that are known by a metadata document: made when the first code is issued to such
 * a client, and renewed when its document has changed. */
#ifndef AZ_STORE_CLIENTS_CLIENTS_CIMD_H
#define AZ_STORE_CLIENTS_CLIENTS_CIMD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"
#include "store/clients/clients.h"

/* The row after the write. */
struct client_cimd_row {
    int64_t id,
        version;  /* of the row with that name, whichever way it was made, or 0 if there is none */
    bool enabled; /* set by the administrator, kept */
    bool ours;    /* made from a document, and public: its columns follow the document */
    bool taken;   /* another has that name (CLIENT_NAME_TAKEN); no row was made */
    bool full;    /* there is no room for it (client_room.h); no row was made */
};

/*
 * Make or renew the row of a client: one row, however many processes do it at once. A row with the
 * same values keeps its version. A row that was registered in another way, or that the
 * administrator made confidential, is not changed. One trip; two if another process made the row
 * just now.
 */
enum az_status client_cimd_put(struct op *op, const struct client *client,
                               struct client_cimd_row *ret);

#endif
