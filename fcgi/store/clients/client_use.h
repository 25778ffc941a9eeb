/* When a client that registered itself last got a token, to the day; and the end of those that get
 * none any more (decisions.md "Clients and registration"). */
#ifndef AZ_STORE_CLIENTS_CLIENT_USE_H
#define AZ_STORE_CLIENTS_CLIENT_USE_H

#include "store/clients/clients.h"
#include "store/db/db.h"

/*
 * Adds the statement that marks today to the batch that issues a token. First in the batch: it
 * waits for a removal that is under way, so that the statements behind it see its end, and holds no
 * lock of a family while it does. NULL when nothing is added: the client is the administrator's,
 * this process has marked it today, or the batch is full.
 */
struct db_step *client_use_add(struct op *op, struct db_batch *batch, const struct client *client);

/* To be called when that batch is committed, with what client_use_add gave: not again today. */
void client_use_done(struct op *op, const struct client *client, const struct db_step *step);

/* Clients one statement removes: their consents and families go with them. */
#define CLIENT_IDLE_BATCH 500

/*
 * Removes DCR and CIMD clients that are older than SVC_DYNAMIC_CLIENT_IDLE_DAYS, got no token for
 * so long and have no live family; 0 keeps them all. Those that never had one go after a day once
 * half of SVC_DYNAMIC_CLIENTS_MAX is taken. In batches; rows that somebody works on are
 * left for the next time.
 */
enum az_status clients_remove_idle(struct op *op, int *ret_removed);

#endif
