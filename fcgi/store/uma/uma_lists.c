#include "config.h"

#include "store/uma/uma_lists.h"

#include "store/uma/delegations.h"

const char *const delegation_states[] = {"live", "ended", NULL};

/* clang-format off */
static const struct db_stmt delegations_page_stmt = {
    "delegations_page",
    "WITH m AS (SELECT d.id FROM delegation d LEFT JOIN client g ON g.id = d.grantor_client"
    "   LEFT JOIN client t ON t.id = d.grantee_client"
    "  WHERE ($1::text IS NULL OR d.grantor_subject = $1 OR d.grantee_subject = $1)"
    "   AND ($2::text IS NULL OR g.client_id = $2 OR t.client_id = $2)"
    "   AND ($3::text IS NULL OR d.resource::text = lower($3))"
    "   AND ($4::text IS NULL OR ($4 = 'live') = (d.revoked_at IS NULL AND (d.expires_at IS NULL OR d.expires_at > now())))),"
    " p AS (SELECT m.id FROM m ORDER BY m.id DESC LIMIT $5::bigint OFFSET $6::bigint)"
    " SELECT (SELECT count(*) FROM m) AS total,"
    "  (SELECT coalesce(json_agg(json_strip_nulls(json_build_object('id', d.id, 'grantorClientId', g.client_id,"
    "    'grantorSubject', d.grantor_subject, 'granteeClientId', t.client_id, 'granteeSubject', d.grantee_subject,"
    "    'resourceId', d.resource, 'resourceName', r.name, 'scopes', d.scopes, 'live',"
    "    d.revoked_at IS NULL AND (d.expires_at IS NULL OR d.expires_at > now()),"
    "    'createdAt', instant_text(d.created_at), 'expiresAt', instant_text(d.expires_at),"
    "    'revokedAt', instant_text(d.revoked_at))) ORDER BY d.id DESC), '[]')"
    "   FROM p JOIN delegation d ON d.id = p.id JOIN uma_resource r ON r.id = d.resource"
    "    JOIN client g ON g.id = d.grantor_client LEFT JOIN client t ON t.id = d.grantee_client) AS delegations", 6};

static const struct db_stmt uma_resources_page_stmt = {
    "uma_resources_page",
    "WITH m AS (SELECT r.id FROM uma_resource r JOIN client o ON o.id = r.client"
    "  WHERE ($1::text IS NULL OR strpos(lower(r.name), lower($1)) > 0)"
    "   AND ($2::text IS NULL OR r.subject = $2) AND ($3::text IS NULL OR o.client_id = $3)),"
    " p AS (SELECT m.id FROM m ORDER BY m.id DESC LIMIT $4::bigint OFFSET $5::bigint)"
    " SELECT (SELECT count(*) FROM m) AS total,"
    "  (SELECT coalesce(json_agg(json_strip_nulls(json_build_object('id', r.id, 'clientId', o.client_id,"
    "    'subjectId', r.subject, 'name', r.name, 'type', r.type, 'scopes', r.scopes,"
    "    'createdAt', instant_text(r.created_at), 'updatedAt', instant_text(r.updated_at), 'delegations',"
    "    (SELECT count(*) FROM delegation d WHERE d.resource = r.id AND " DELEGATION_LIVE ")))"
    "    ORDER BY r.id DESC), '[]')"
    "   FROM p JOIN uma_resource r ON r.id = p.id JOIN client o ON o.id = r.client) AS resources", 5};

static const struct field delegation_fields[] = {
    {"id",              FIELD_TEXT,      .required = true, .example = "\"01a203bf-f3df-7ccb-8af8-2718d30dbf12\""},
    {"grantorClientId", FIELD_TEXT,      .required = true, .help = "Client by which the owner delegated", .example = "\"drive\""},
    {"grantorSubject",  FIELD_TEXT,      .required = true, .help = "Owner, or the client if the resource is its own", .example = "\"alice\""},
    {"granteeClientId", FIELD_TEXT,      .help = "Client that may act; absent: it is a person"},
    {"granteeSubject",  FIELD_TEXT,      .help = "Person who may act; absent: it is a client"},
    {"resourceId",      FIELD_TEXT,      .required = true, .example = "\"01a203bf-f3df-7ccb-8af8-2718d30dbf13\""},
    {"resourceName",    FIELD_TEXT,      .help = "Name of the resource"},
    {"scopes",          FIELD_TEXT_LIST, .required = true, .example = "[\"view\"]"},
    {"live",            FIELD_BOOLEAN,   .required = true, .help = "It has not ended", .example = "true"},
    {"createdAt",       FIELD_TEXT,      .required = true, .example = "\"2026-01-31T12:00:00.000Z\""},
    {"expiresAt",       FIELD_TEXT,      .help = "Its end; absent: it ends by revocation alone"},
    {"revokedAt",       FIELD_TEXT,      .help = "Absent: it was not revoked"},
};
static const struct field uma_resource_fields[] = {
    {"id",          FIELD_TEXT,      .required = true, .example = "\"01a203bf-f3df-7ccb-8af8-2718d30dbf13\""},
    {"clientId",    FIELD_TEXT,      .required = true, .help = "Client that registered it", .example = "\"drive\""},
    {"subjectId",   FIELD_TEXT,      .required = true, .help = "Owner, or the client if it is its own", .example = "\"alice\""},
    {"name",        FIELD_TEXT,      .help = "Name for people", .example = "\"Photos\""},
    {"type",        FIELD_TEXT,      .help = "Type URI"},
    {"scopes",      FIELD_TEXT_LIST, .required = true, .example = "[\"view\"]"},
    {"createdAt",   FIELD_TEXT,      .required = true, .example = "\"2026-01-31T12:00:00.000Z\""},
    {"updatedAt",   FIELD_TEXT,      .required = true, .example = "\"2026-01-31T12:00:00.000Z\""},
    {"delegations", FIELD_INTEGER,   .required = true, .help = "Its delegations that are live", .example = "1"},
};
/* clang-format on */
const struct field_table delegation_view =
    FIELD_TABLE("ListedDelegation", delegation_fields, FIELDS_ANSWER);
const struct field_table uma_resource_view =
    FIELD_TABLE("ListedUmaResource", uma_resource_fields, FIELDS_ANSWER);

const struct json_rows delegation_rows = {.noun = "delegation", .page = &delegations_page_stmt};
const struct json_rows uma_resource_rows = {.noun = "resource", .page = &uma_resources_page_stmt};
