/* The day on which a client that registered itself last got a token, and the removal of clients
 * that no longer get any (decisions.md "Clients and registration"). */
#ifndef AZ_STORE_CLIENTS_CLIENT_USE_H
#define AZ_STORE_CLIENTS_CLIENT_USE_H

#include "store/clients/clients.h"
#include "store/db/db.h"

/*
 * Add the statement that marks today to the batch that issues a token. It goes first: it waits for
 * a removal that is under way, so that the statements behind it see the removal's end, and holds no
 * lock of a family while it waits. Return NULL if nothing is added: the administrator made the
 * client, or this process has marked it today.
 */
struct db_step *client_use_add(struct op *op, struct db_batch *batch, const struct client *client);

/* Call this once the batch is committed, with the result of client_use_add: the client is not
 * marked again today. */
void client_use_done(struct op *op, const struct client *client, const struct db_step *step);

/* Clients that one statement removes; their consents and families go with them. */
#define CLIENT_IDLE_BATCH 500

/*
 * Remove DCR and CIMD clients that are older than SVC_DYNAMIC_CLIENT_IDLE_DAYS, got no token for
 * that long and have no live family; 0 keeps them all. Works in batches; locked rows are left for
 * the next run.
 */
enum az_status clients_remove_idle(struct op *op, int *ret_removed);

#endif
