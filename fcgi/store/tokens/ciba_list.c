#include "config.h"

#include "store/tokens/ciba_list.h"

/* clang-format off */
static const struct db_stmt ciba_page_stmt = {
    "ciba_page",
    "WITH m AS (SELECT q.id, q.created_at FROM ciba_request q JOIN client c ON c.id = q.client"
    "  WHERE q.state = 'pending' AND q.expires_at > now() AND ($1::text IS NULL OR q.subject = $1)"
    "   AND ($2::text IS NULL OR c.client_id = $2)),"
    " p AS (SELECT m.id FROM m ORDER BY m.created_at DESC, m.id DESC LIMIT $3::bigint OFFSET $4::bigint)"
    " SELECT (SELECT count(*) FROM m) AS total,"
    "  (SELECT coalesce(json_agg(json_strip_nulls(json_build_object('id', q.id, 'clientId', c.client_id,"
    "    'subjectId', q.subject, 'idpId', i.idp_id, 'flowId', q.flow_id, 'bindingMessage', q.binding_message,"
    "    'scope', q.scope, 'resource', q.resource, 'createdAt', instant_text(q.created_at),"
    "    'expiresAt', instant_text(q.expires_at))) ORDER BY q.created_at DESC, q.id DESC), '[]')"
    "   FROM p JOIN ciba_request q ON q.id = p.id JOIN client c ON c.id = q.client"
    "    JOIN identity_provider i ON i.id = q.idp) AS requests", 4};

static const struct field ciba_waiting_fields[] = {
    {"id",             FIELD_TEXT, .required = true, .help = "Id of the request, and no credential", .example = "\"01a203bf-f3df-7ccb-8af8-2718d30dbf12\""},
    {"clientId",       FIELD_TEXT, .required = true, .help = "Client that asks", .example = "\"till\""},
    {"subjectId",      FIELD_TEXT, .required = true, .help = "Person who is asked", .example = "\"alice\""},
    {"idpId",          FIELD_TEXT, .required = true, .help = "Identity provider of the person", .example = "\"corp\""},
    {"flowId",         FIELD_TEXT, .required = true, .help = "The same in audit rows of the request", .example = "\"01a203bf-f3df-7ccb-8af8-2718d30dbf13\""},
    {"bindingMessage", FIELD_TEXT, .help = "Text that both devices show"},
    {"scope",          FIELD_TEXT, .required = true, .may_be_empty = true, .help = "Scopes of an approval", .example = "\"orders.read\""},
    {"resource",       FIELD_TEXT, .help = "Resource of an approval"},
    {"createdAt",      FIELD_TEXT, .required = true, .example = "\"2026-01-31T12:00:00.000Z\""},
    {"expiresAt",      FIELD_TEXT, .required = true, .example = "\"2026-01-31T12:05:00.000Z\""},
};
/* clang-format on */
const struct field_table ciba_waiting_view =
    FIELD_TABLE("WaitingApproval", ciba_waiting_fields, FIELDS_ANSWER);

const struct json_rows ciba_waiting_rows = {.noun = "approval", .page = &ciba_page_stmt};
