#include "config.h"

#include "store/clients/client_room.h"

#include <string.h>

#include "base/log.h"
#include "base/settings/settings.h"
#include "store/db/keep/locks.h"

/* The client that makes room is locked here and removed by the statement that follows, which sees
 * what was committed before the lock. One that is locked by another transaction is in use. The
 * setting ends with the transaction. */
static const struct db_stmt client_room_stmt = {
    "client_room",
    "WITH oldest AS (SELECT c.id FROM client c WHERE c.registration_type = $1"
    "   AND c.created_at < " CLIENT_YOUNG " AND" CLIENT_UNUSED " AND NOT" CLIENT_HAS_FAMILY
    "  ORDER BY c.created_at LIMIT 1 FOR UPDATE OF c SKIP LOCKED)"
    " SELECT set_config('authz.client_room', CASE"
    "   WHEN EXISTS (SELECT 1 FROM client WHERE client_id = $3) THEN ''"
    "   WHEN (SELECT count(*) FROM (SELECT 1 FROM client WHERE registration_type = $1"
    "     LIMIT $2::bigint) taken) < $2::bigint THEN ''"
    "   ELSE coalesce((SELECT id::text FROM oldest), '0') END, true)",
    3};

void
client_room_add(struct op *op, struct db_batch *batch, const char *registration,
                const char *client_id)
{
    db_batch_begin(batch);
    lock_add(batch, LOCK_ROOM, registration, strlen(registration));
    struct db_step *step = db_batch_add(batch, &client_room_stmt);
    db_text(&step->params, registration);
    db_number(&step->params, op->az->cfg->dynamic_clients_max);
    db_text(&step->params, client_id);
}

long
client_room_share(const struct op *op)
{
    long share = op->az->cfg->dynamic_clients_max / CLIENT_SHARE_PART;
    return share > CLIENT_SHARE_MIN ? share : CLIENT_SHARE_MIN;
}

void
client_room_note(const char *removed, const char *registration)
{
    if (removed != NULL)
        log_text(AZ_SEV_INFO, "client removed",
                 "%s, which never had a token, made room for another %s client", removed,
                 registration);
}
