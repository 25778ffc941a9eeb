#include "config.h"

#include "store/gateway/connections.h"

#include <string.h>

#include "base/b64url.h"
#include "base/json/jsonx.h"
#include "base/words.h"
#include "crypto/keyring.h"
#include "crypto/secret.h"
#include "store/db/db.h"
#include "store/db/trip/db_row.h"
#include "store/people/sessions.h"

/* Nesting of the sealed object. */
#define SECRETS_DEPTH 1

/* The time of use is noted every 5 minutes; a call does not wait for a row that another call is
 * writing. */
static const struct db_stmt connection_find_stmt = {
    "connection_find",
    "WITH used AS (UPDATE gateway_connection SET last_used_at = now() WHERE id IN"
    "  (SELECT c.id FROM gateway_connection c JOIN subject s ON s.subject = c.subject"
    "    JOIN identity_provider p ON p.id = c.idp AND p.issuer = s.issuer"
    "   WHERE c.subject = $1 AND c.resource = $2 AND (c.last_used_at IS NULL"
    "    OR c.last_used_at < now() - interval '5 minutes') FOR UPDATE OF c SKIP LOCKED))"
    " SELECT c.id, c.status = 'active' AS active, c.binding, c.secret_sealed,"
    "  to_json(c.scopes) AS scopes, extract(epoch FROM c.expires_at)::bigint AS expires_at,"
    "  extract(epoch FROM c.refreshed_at)::bigint AS refreshed_at, p.id AS idp,"
    "  c.resource, to_json(c.asked_scopes) AS asked_scopes"
    " FROM subject s JOIN identity_provider p ON p.issuer = s.issuer"
    "  LEFT JOIN gateway_connection c ON c.subject = s.subject AND c.idp = p.id"
    "   AND c.resource = $2 WHERE s.subject = $1",
    2};
struct connection_stored {
    struct connection row;        /* without its secrets */
    const unsigned char *binding; /* NULL: the person has no connection */
    const char *resource;
    bool active;
};
/* clang-format off */
static const struct db_column connection_find_columns[] = {
    {"id",            DB_INTO(struct connection_stored, row.id)},
    {"active",        DB_INTO(struct connection_stored, active)},
    {"binding",       DB_EXACTLY_INTO(struct connection_stored, binding, SHA256_OCTETS)},
    {"secret_sealed", DB_OCTETS_INTO(struct connection_stored, row.sealed, row.sealed_length)},
    {"scopes",        DB_INTO(struct connection_stored, row.scopes)},
    {"expires_at",    DB_INTO(struct connection_stored, row.expires_at)},
    {"refreshed_at",  DB_INTO(struct connection_stored, row.refreshed_at)},
    {"idp",           DB_INTO(struct connection_stored, row.idp), .needed = true},
    {"resource",      DB_INTO(struct connection_stored, resource)},
    {"asked_scopes",  DB_INTO(struct connection_stored, row.asked_scopes)},
};
/* clang-format on */
#define STORED DB_TABLE(struct connection_stored, connection_find_columns)
/* The same columns; a list does not count as a use of a connection. */
static const struct db_stmt connections_find_stmt = {
    "connections_find",
    "SELECT c.id, c.status = 'active' AS active, c.binding, c.secret_sealed,"
    "  to_json(c.scopes) AS scopes, extract(epoch FROM c.expires_at)::bigint AS expires_at,"
    "  extract(epoch FROM c.refreshed_at)::bigint AS refreshed_at, p.id AS idp, c.resource,"
    "  to_json(c.asked_scopes) AS asked_scopes"
    " FROM subject s JOIN identity_provider p ON p.issuer = s.issuer"
    "  JOIN gateway_connection c ON c.subject = s.subject AND c.idp = p.id"
    " WHERE s.subject = $1 AND c.resource = ANY ($2::text[])",
    2};
/* A lease that has ended belonged to a process that died. */
static const struct db_stmt connection_lease_stmt = {
    "connection_lease",
    "UPDATE gateway_connection"
    " SET refreshing_until = now() + make_interval(secs => $3::double precision)"
    " WHERE id = $1 AND secret_sealed = $2"
    " AND (refreshing_until IS NULL OR refreshing_until < now()) RETURNING id",
    3};
static const struct db_stmt connection_renew_stmt = {
    "connection_renew",
    "UPDATE gateway_connection SET secret_sealed = $3, scopes = coalesce($4::text[], scopes),"
    " expires_at = $5::timestamptz, refreshed_at = now(), refreshing_until = NULL,"
    " status = 'active', last_error = NULL, refusals = 0, refused_first_at = NULL"
    " WHERE id = $1 AND secret_sealed = $2 RETURNING id",
    5};
/* A server that wants to end a connection refuses again; one that is mended in a while does not. */
static const struct db_stmt connection_fail_stmt = {
    "connection_fail",
    "UPDATE gateway_connection SET last_error = $4, refreshing_until = NULL,"
    " refusals = refusals + $5::boolean::integer, refused_first_at ="
    "  CASE WHEN $5::boolean THEN coalesce(refused_first_at, now()) ELSE refused_first_at END,"
    " status = CASE WHEN $3::boolean OR ($5::boolean AND refusals + 1 >= $6::integer"
    "   AND refused_first_at <= now() - make_interval(secs => $7::double precision))"
    "  THEN 'reauth_required' ELSE status END"
    " WHERE id = $1 AND secret_sealed = $2 RETURNING status <> 'active' AS lost",
    7};
struct connection_failed {
    bool lost;
};
static const struct db_column connection_fail_columns[] = {
    {"lost", DB_INTO(struct connection_failed, lost)},
};
#define CONNECTION_FAILED DB_TABLE(struct connection_failed, connection_fail_columns)
static const struct db_stmt connection_store_stmt = {
    "connection_store",
    "INSERT INTO gateway_connection (subject, idp, resource, binding, secret_sealed, scopes,"
    " account, expires_at, asked_scopes)"
    " VALUES ($1, $2, $3, $4, $5, $6::text[], $7, $8::timestamptz, $9::text[])"
    " ON CONFLICT (subject, idp, resource) DO UPDATE SET binding = excluded.binding,"
    " secret_sealed = excluded.secret_sealed, scopes = excluded.scopes,"
    " account = excluded.account, expires_at = excluded.expires_at, status = 'active',"
    " asked_scopes = excluded.asked_scopes, connected_at = now(), refreshed_at = NULL,"
    " refreshing_until = NULL, last_error = NULL, refusals = 0, refused_first_at = NULL",
    9};
static const struct db_stmt connections_of_person_stmt = {
    "connections_of_person",
    "SELECT json_build_object('resource', c.resource, 'displayName', r.document ->> 'displayName',"
    " 'account', c.account, 'scopes', c.scopes, 'status', c.status,"
    " 'connectedAt', to_char(c.connected_at" DB_TIME ","
    " 'lastUsedAt', to_char(c.last_used_at" DB_TIME ")"
    " FROM gateway_connection c JOIN managed_resource r ON r.name = c.resource"
    " WHERE c.subject = $1 AND c.idp = $2 ORDER BY c.resource",
    2};
static const struct db_stmt connections_remove_stmt = {
    "connections_remove", "DELETE FROM gateway_connection WHERE resource = $1 AND subject = $2", 2};

/* Return the place that the secrets of a connection are sealed for: a hash, because subjects may be
 * longer than a place. NULL: failure. */
static const char *
connection_place(TALLOC_CTX *mem, const char *subject, int64_t idp, const char *resource)
{
    unsigned char hash[SHA256_OCTETS];
    const char *text = talloc_asprintf(mem, "%s %lld %s", resource, (long long) idp, subject);
    const char *name = text != NULL && sha256(text, strlen(text), hash) == AZ_OK
                           ? b64url_encode(mem, hash, sizeof(hash))
                           : NULL;
    return name != NULL ? talloc_asprintf(mem, "gateway_connection/secret/%s", name) : NULL;
}

/* Return the value of a member on op->mem, wiped when it is freed; NULL: absent. */
static const char *
take_secret(struct op *op, const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    return json_is_string(value)
               ? secret_copy(op->mem, json_string_value(value), json_string_length(value))
               : NULL;
}

/* Open the secrets; false: they do not open. */
static bool
open_secrets(struct op *op, const char *place, const unsigned char *box, size_t box_length,
             struct connection_secrets *ret)
{
    unsigned char *plain = NULL;
    size_t length = 0;
    json_t *object = NULL;
    if (place == NULL
        || keyring_open(op->mem, op->az->keyring, KEYRING_CONNECTION, place, box, box_length,
                        &plain, &length)
               != AZ_OK)
        return false;
    enum az_status st =
        jsonx_parse(op->mem, (const char *) plain, length, SECRETS_DEPTH, &object, NULL);
    secret_wipe(plain, length);
    if (st != AZ_OK)
        return false;
    *ret = (struct connection_secrets){
        .access_token = take_secret(op, object, "access_token"),
        .refresh_token = take_secret(op, object, "refresh_token"),
        .issuer = take_secret(op, object, "issuer"),
        .revocation = take_secret(op, object, "revocation"),
        .typed = take_secret(op, object, "typed"),
    };
    return true;
}

static enum az_status
seal_secrets(struct op *op, const char *place, const struct connection_secrets *secrets,
             unsigned char **ret, size_t *ret_length)
{
    json_t *object = jsonx_own(
        op->mem, json_pack("{s:s*,s:s*,s:s*,s:s*,s:s*}", "access_token", secrets->access_token,
                           "refresh_token", secrets->refresh_token, "issuer", secrets->issuer,
                           "revocation", secrets->revocation, "typed", secrets->typed));
    char *text = object != NULL ? jsonx_dump(op->mem, object) : NULL;
    bool sealed = text != NULL && place != NULL
                  && keyring_seal(op->mem, op->az->keyring, KEYRING_CONNECTION, place, text,
                                  strlen(text), ret, ret_length)
                         == AZ_OK;
    if (text != NULL)
        secret_wipe(text, strlen(text));
    return sealed ? AZ_OK
                  : op_fail(op, AZ_SERVER_ERROR, NULL,
                            "the secrets of a connection cannot be encrypted");
}

/* Open the secrets of a row that has them. */
static void
connection_open(struct op *op, const char *subject, const struct connection_stored *stored,
                struct connection *ret)
{
    *ret = stored->row;
    const char *place = connection_place(op->mem, subject, ret->idp, stored->resource);
    memcpy(ret->binding, stored->binding, SHA256_OCTETS);
    ret->active =
        open_secrets(op, place, ret->sealed, ret->sealed_length, &ret->secrets) && stored->active;
    ret->person = ret->found = true;
}

enum az_status
connection_find(struct op *op, const char *subject, const char *resource, struct connection *ret)
{
    struct db_params params = {.count = 0};
    struct connection_stored stored = {.binding = NULL};
    *ret = (struct connection){.found = false};
    db_text(&params, subject);
    db_text(&params, resource);
    enum az_status st =
        db_fetch_row(op, &connection_find_stmt, &params, true, STORED, &stored, &ret->person);
    ret->idp = stored.row.idp;
    if (st == AZ_OK && stored.binding != NULL)
        connection_open(op, subject, &stored, ret);
    return st;
}

enum az_status
connections_find(struct op *op, const char *subject, const char *const *resources, size_t count,
                 struct connection *ret)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    for (size_t i = 0; i < count; i++)
        ret[i] = (struct connection){.found = false};
    db_text(&params, subject);
    db_words(op->mem, &params, resources, count);
    enum az_status st = db_exec(op, &connections_find_stmt, &params, true, &result);
    int rows = st == AZ_OK ? PQntuples(result) : 0;
    for (int row = 0; st == AZ_OK && row < rows; row++) {
        struct connection_stored stored = {.binding = NULL};
        size_t i = 0;
        st = db_read_row(op, result, row, STORED, &stored);
        while (st == AZ_OK && i < count && strcmp(resources[i], stored.resource) != 0)
            i++;
        if (st == AZ_OK && i < count)
            connection_open(op, subject, &stored, &ret[i]);
    }
    return st;
}

/* Bind the key of the row and the secrets that were read from it: a row with other secrets is
 * another connection. */
static void
bind_as_read(struct db_params *params, const struct connection *connection)
{
    db_number(params, connection->id);
    db_octets(params, connection->sealed, connection->sealed_length);
}

enum az_status
connection_lease(struct op *op, const struct connection *connection, int64_t seconds,
                 bool *ret_taken)
{
    struct db_params params = {.count = 0};
    PGresult *row;
    bind_as_read(&params, connection);
    db_number(&params, seconds);
    enum az_status st = db_exec(op, &connection_lease_stmt, &params, false, &row);
    *ret_taken = st == AZ_OK && PQntuples(row) == 1;
    return st;
}

/* Return the time of expiry, in milliseconds since 1970, or 0 if the token does not expire. */
static int64_t
life_end(const struct op *op, int64_t seconds)
{
    return seconds > 0 ? op->now_ms + seconds * 1000 : 0;
}

static void
connection_bind_end(struct db_params *params, int64_t end)
{
    if (end > 0)
        db_time(params, end);
    else
        db_text(params, NULL);
}

enum az_status
connection_renew(struct op *op, const struct connection *connection,
                 const struct connection_new *renewed, bool *ret_stored)
{
    struct db_params params = {.count = 0};
    PGresult *row;
    unsigned char *box = NULL;
    size_t length = 0;
    const char *place =
        connection_place(op->mem, renewed->subject, renewed->idp, renewed->resource);
    *ret_stored = false;
    enum az_status st = seal_secrets(op, place, &renewed->secrets, &box, &length);
    if (st != AZ_OK)
        return st;
    bind_as_read(&params, connection);
    db_octets(&params, box, length);
    db_words_or_null(op->mem, &params,
                     renewed->scopes != NULL ? words_array_list(op->mem, renewed->scopes) : NULL);
    connection_bind_end(&params, life_end(op, renewed->expires_in));
    st = db_exec(op, &connection_renew_stmt, &params, false, &row);
    *ret_stored = st == AZ_OK && PQntuples(row) == 1;
    return st;
}

enum az_status
connection_fail(struct op *op, const struct connection *connection, enum connection_failure how,
                const char *why, bool *ret_lost)
{
    struct db_params params = {.count = 0};
    struct connection_failed failed = {.lost = how == CONNECTION_LOST};
    bind_as_read(&params, connection);
    db_bool(&params, how == CONNECTION_LOST);
    db_text(&params, why);
    db_bool(&params, how == CONNECTION_REFUSED);
    db_number(&params, CONNECTION_REFUSALS_MAX);
    db_number(&params, CONNECTION_REFUSED_SECONDS_MAX);
    enum az_status st =
        db_fetch_row(op, &connection_fail_stmt, &params, false, CONNECTION_FAILED, &failed, NULL);
    *ret_lost = st == AZ_OK && failed.lost;
    return st;
}

enum az_status
connection_store(struct op *op, const struct connection_new *connection, bool *ret_stored)
{
    unsigned char *box = NULL;
    size_t length = 0;
    const char **scopes = words_array_list(op->mem, connection->scopes);
    json_t *none = jsonx_own(op->mem, json_array());
    const char **asked = words_array_list(
        op->mem, connection->asked_scopes != NULL ? connection->asked_scopes : none);
    const char *place =
        connection_place(op->mem, connection->subject, connection->idp, connection->resource);
    *ret_stored = false;
    if (scopes == NULL || asked == NULL)
        return op_no_memory(op);
    enum az_status st = seal_secrets(op, place, &connection->secrets, &box, &length);
    if (st != AZ_OK)
        return st;
    struct db_batch *batch = db_batch_new(op);
    struct db_params *params = &db_batch_add(batch, &connection_store_stmt)->params;
    db_text(params, connection->subject);
    db_number(params, connection->idp);
    db_text(params, connection->resource);
    db_octets(params, connection->binding, SHA256_OCTETS);
    db_octets(params, box, length);
    db_words_or_null(op->mem, params, scopes);
    db_text(params, connection->account);
    connection_bind_end(params, life_end(op, connection->expires_in));
    db_words_or_null(op->mem, params, asked);
    st = db_run_or_retry(op, batch, false, SQLSTATE_FOREIGN_KEY_VIOLATION);
    *ret_stored = st == AZ_OK;
    return st == AZ_RETRY ? AZ_OK : st;
}

enum az_status
connections_of_person(struct op *op, const struct session *session, json_t **ret)
{
    struct db_params params = {.count = 0};
    db_text(&params, session->subject);
    db_number(&params, session->idp);
    return db_fetch_array(op, &connections_of_person_stmt, &params, ret);
}

enum az_status
connections_remove(struct op *op, const char *resource, const char *subject, int64_t *ret_removed)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_text(&params, resource);
    db_text(&params, subject);
    enum az_status st = db_exec(op, &connections_remove_stmt, &params, false, &result);
    *ret_removed = st == AZ_OK ? db_written(result) : 0;
    return st;
}
