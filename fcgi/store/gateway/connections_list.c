#include "config.h"

#include "store/gateway/connections_list.h"

const char *const connection_statuses[] = {"active", "reauth_required", NULL};

/* clang-format off */
static const struct db_stmt connections_page_stmt = {
    "connections_page",
    "WITH m AS (SELECT c.id, c.connected_at FROM gateway_connection c WHERE ($1::text IS NULL OR c.resource = $1)"
    "  AND ($2::text IS NULL OR c.subject = $2) AND ($3::text IS NULL OR c.status = $3)"
    "  AND ($4::text IS NULL OR c.idp = (SELECT id FROM identity_provider WHERE idp_id = $4))),"
    " p AS (SELECT m.id FROM m ORDER BY m.connected_at DESC, m.id DESC LIMIT $5::bigint OFFSET $6::bigint)"
    " SELECT (SELECT count(*) FROM m) AS total,"
    "  (SELECT coalesce(json_agg(json_strip_nulls(json_build_object('resource', c.resource, 'subject', c.subject,"
    "    'idpId', i.idp_id, 'account', c.account, 'scopes', c.scopes, 'status', c.status,"
    "    'connectedAt', instant_text(c.connected_at), 'expiresAt', instant_text(c.expires_at),"
    "    'refreshedAt', instant_text(c.refreshed_at), 'lastUsedAt', instant_text(c.last_used_at),"
    "    'lastError', c.last_error)) ORDER BY c.connected_at DESC, c.id DESC), '[]')"
    "   FROM p JOIN gateway_connection c ON c.id = p.id JOIN identity_provider i ON i.id = c.idp) AS connections", 6};

static const struct field connection_fields[] = {
    {"resource",    FIELD_TEXT,      .required = true, .help = "Managed resource", .example = "\"github\""},
    {"subject",     FIELD_TEXT,      .required = true, .help = "Person whose account it is", .example = "\"alice\""},
    {"idpId",       FIELD_TEXT,      .required = true, .help = "Identity provider of the person", .example = "\"corp\""},
    {"account",     FIELD_TEXT,      .help = "Label of the account at the upstream", .example = "\"alice@upstream.example\""},
    {"scopes",      FIELD_TEXT_LIST, .required = true, .help = "Scopes that the upstream granted", .example = "[\"repo\"]"},
    {"status",      FIELD_TEXT,      .required = true, .help = "active, or reauth_required: the person must connect the account again", .example = "\"active\""},
    {"connectedAt", FIELD_TEXT,      .required = true, .example = "\"2026-01-31T12:00:00.000Z\""},
    {"expiresAt",   FIELD_TEXT,      .help = "End of the access token; it is refreshed if the upstream gave a refresh token", .example = "\"2026-01-31T13:00:00.000Z\""},
    {"refreshedAt", FIELD_TEXT,      .example = "\"2026-01-31T12:30:00.000Z\""},
    {"lastUsedAt",  FIELD_TEXT,      .help = "Last use, to 5 minutes", .example = "\"2026-01-31T12:45:00.000Z\""},
    {"lastError",   FIELD_TEXT,      .help = "Reason why the last refresh failed", .example = "\"invalid_grant\""},
};
/* clang-format on */
const struct field_table connection_view =
    FIELD_TABLE("Connection", connection_fields, FIELDS_ANSWER);

const struct json_rows connection_rows = {.noun = "connection", .page = &connections_page_stmt};
