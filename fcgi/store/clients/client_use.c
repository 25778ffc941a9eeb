#include "config.h"

#include "store/clients/client_use.h"

#include <string.h>

#include "base/settings/settings.h"
#include "store/clients/client_room.h"

#define DAY_SECONDS 86400

/* The process says which day it is, because it also decides when to mark the next one. The
 * statement locks the client's row, so that it is not removed between this and the token. */
static const struct db_stmt client_use_mark_stmt = {
    "client_use_mark",
    "INSERT INTO client_use (client, used_on)"
    " SELECT id, date '1970-01-01' + $2::integer FROM client WHERE id = $1 FOR KEY SHARE"
    " ON CONFLICT (client) DO UPDATE SET used_on = excluded.used_on"
    " WHERE client_use.used_on < excluded.used_on",
    2};

/* Clients c that were created, and last got a token, more than $1 days ago. An access token lives
 * at most a day, so their tokens of client credentials have ended too. */
#define IDLE                                                                                       \
    " c.registration_type IN ('DCR', 'CIMD')"                                                      \
    " AND c.created_at < now() - make_interval(days => $1::integer)"                               \
    " AND NOT EXISTS (SELECT 1 FROM client_use u WHERE u.client = c.id"                            \
    "  AND u.used_on >= (now() AT TIME ZONE 'UTC')::date - $1::integer)"                           \
    " AND NOT" CLIENT_HAS_FAMILY

/* Two statements, because one does not see what was committed after it began: a client may just
 * have got its first token in months. The second checks the locked rows again. */
enum client_idle_lock_column { LOCK_IDS, LOCK_FOUND };
static const struct db_stmt client_idle_lock_stmt = {
    "client_idle_lock",
    "WITH idle AS (SELECT c.id FROM client c WHERE" IDLE
    "  ORDER BY c.id LIMIT $2::integer FOR UPDATE OF c SKIP LOCKED)"
    " SELECT coalesce(array_agg(id), '{}')::text AS ids, count(*) AS found FROM idle",
    2};
static const struct db_stmt client_idle_remove_stmt = {
    "client_idle_remove", "DELETE FROM client c WHERE c.id = ANY ($2::bigint[]) AND" IDLE, 2};

static int64_t
today(const struct op *op)
{
    return op_now(op) / DAY_SECONDS;
}

/* True if the client registered itself and this process has not marked it today. */
static bool
client_use_due(struct op *op, const struct client *client)
{
    return client->id != 0 && strcmp(client->registration, "ADMIN") != 0
           && client_used_day(op, client->client_id) != today(op);
}

struct db_step *
client_use_add(struct op *op, struct db_batch *batch, const struct client *client)
{
    if (!client_use_due(op, client))
        return NULL;
    struct db_step *step = db_batch_add(batch, &client_use_mark_stmt);
    db_number(&step->params, client->id);
    db_number(&step->params, today(op));
    return step;
}

void
client_use_done(struct op *op, const struct client *client, const struct db_step *step)
{
    if (step != NULL)
        client_set_used_day(op, client->client_id, today(op));
}

/* Remove one batch of clients, in the caller's transaction. *ret_found: clients that looked idle at
 * first. */
static enum az_status
remove_some(struct op *op, int64_t *ret_found, int64_t *ret_removed)
{
    struct db_params lock = {.count = 0}, remove = {.count = 0};
    PGresult *locked, *gone;
    db_number(&lock, op->az->cfg->dynamic_client_idle_days);
    db_number(&lock, CLIENT_IDLE_BATCH);
    enum az_status st = db_exec(op, &client_idle_lock_stmt, &lock, false, &locked);
    if (st != AZ_OK)
        return st;
    *ret_found = db_get_number(locked, 0, LOCK_FOUND, 0);
    *ret_removed = 0;
    if (*ret_found == 0)
        return AZ_OK;
    db_number(&remove, op->az->cfg->dynamic_client_idle_days);
    db_text(&remove, db_get(locked, 0, LOCK_IDS));
    if ((st = db_exec(op, &client_idle_remove_stmt, &remove, false, &gone)) == AZ_OK)
        *ret_removed = db_written(gone);
    return st;
}

enum az_status
clients_remove_idle(struct op *op, int *ret_removed)
{
    int64_t found = CLIENT_IDLE_BATCH, removed = 0;
    int all = 0;
    if (op->az->cfg->dynamic_client_idle_days == 0)
        return AZ_OK;
    while (found == CLIENT_IDLE_BATCH && !*op->az->stopping) {
        enum az_status st = db_begin(op);
        if (st == AZ_OK)
            st = db_end(op, remove_some(op, &found, &removed));
        if (st != AZ_OK)
            return st;
        all += (int) removed;
        *ret_removed = all;
    }
    return AZ_OK;
}
