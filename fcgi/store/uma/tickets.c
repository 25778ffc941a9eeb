#include "config.h"

#include "store/uma/tickets.h"

#include "base/json/jsonx.h"
#include "store/db/keep/purge.h"

enum uma_ticket_insert_column { TICKET_UNKNOWN, TICKET_BEYOND, TICKET_MADE };
static const struct db_stmt uma_ticket_insert_stmt = {
    "uma_ticket_insert",
    "WITH " UMA_OWNER " asked AS (SELECT * FROM jsonb_to_recordset($21::jsonb)"
    "  AS a (resource_id uuid, resource_scopes text[])),"
    " judged AS (SELECT count(*) FILTER (WHERE r.id IS NULL) AS unknown,"
    "  count(*) FILTER (WHERE NOT a.resource_scopes <@ r.scopes) AS beyond"
    "  FROM asked a LEFT JOIN uma_resource r ON r.id = a.resource_id AND r.client = $17"
    "   AND r.subject = $18),"
    " written AS (INSERT INTO uma_ticket (id, client, subject, secret_hash, expires_at, "
    "permissions)"
    "  SELECT $16::uuid, o.id, $18, $19, $20::timestamptz, $21::jsonb FROM owner o, judged"
    "  WHERE unknown = 0 AND beyond = 0 RETURNING 1)," UMA_NOTED
    " SELECT unknown > 0 AS unknown, beyond > 0 AS beyond, EXISTS (SELECT 1 FROM written) "
    "AS made"
    " FROM judged",
    21};

static const struct db_stmt uma_ticket_purge_stmt = {
    "uma_ticket_purge",
    "DELETE FROM uma_ticket WHERE id IN (SELECT id FROM uma_ticket WHERE expires_at <= now()"
    " ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED)",
    1};

enum az_status
uma_ticket_insert(struct op *op, const struct uma_ticket *ticket, const struct uma_owner *owner,
                  const struct audit_entry *audit, enum uma_asked *ret)
{
    struct uma_write write;
    const char *permissions = jsonx_dump(op->mem, ticket->permissions);
    if (permissions == NULL)
        return op_no_memory(op);
    enum az_status st = uma_write_begin(op, &uma_ticket_insert_stmt, false, ticket->parts->id,
                                        owner, audit, &write);
    if (st != AZ_OK)
        return st;
    db_octets(&write.step->params, ticket->parts->secret_hash, SHA256_OCTETS);
    db_time(&write.step->params, ticket->expires_at * 1000);
    db_text(&write.step->params, permissions);
    if ((st = uma_write_run(op, &write)) != AZ_OK)
        return st;
    const PGresult *result = write.step->result;
    *ret = db_get_bool(result, 0, TICKET_UNKNOWN)  ? UMA_UNKNOWN
           : db_get_bool(result, 0, TICKET_BEYOND) ? UMA_BEYOND
           : db_get_bool(result, 0, TICKET_MADE)   ? UMA_GIVEN
                                                   : UMA_ASKED_NOBODY;
    return AZ_OK;
}

enum az_status
uma_tickets_purge(struct op *op, int64_t *removed)
{
    return db_purge(op, &uma_ticket_purge_stmt, 0, removed);
}
