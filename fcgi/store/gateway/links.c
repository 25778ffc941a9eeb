#include "config.h"

#include "store/gateway/links.h"

#include <string.h>

#include "base/b64url.h"
#include "crypto/keyring.h"
#include "crypto/secret.h"
#include "store/db/db.h"
#include "store/db/keep/purge.h"

/* The person belongs to the provider of the subject's issuer, so no token can name another
 * provider. */
enum link_request_need_column { NEED_JTI, NEED_EXPIRES_AT };
static const struct db_stmt link_request_need_stmt = {
    "link_request_need",
    "WITH who AS (SELECT s.subject, p.id AS idp FROM subject s"
    "   JOIN identity_provider p ON p.issuer = s.issuer WHERE s.subject = $2),"
    " old AS (SELECT l.jti, l.expires_at FROM gateway_link_request l JOIN who w"
    "   ON w.subject = l.subject AND w.idp = l.idp WHERE l.resource = $3 AND l.client_id = $4"
    "    AND l.scopes = $5::text[] AND l.return_to = $6 AND l.used_at IS NULL"
    "    AND l.expires_at > now() + make_interval(secs => $9::double precision)"
    "   ORDER BY l.expires_at DESC LIMIT 1),"
    " new AS (INSERT INTO gateway_link_request (jti, subject, idp, resource, client_id, scopes,"
    "    return_to, flow_id, expires_at)"
    "   SELECT $1, w.subject, w.idp, $3, $4, $5::text[], $6, $7::uuid,"
    "    now() + make_interval(secs => $8::double precision) FROM who w"
    "   WHERE NOT EXISTS (SELECT 1 FROM old) RETURNING jti, expires_at)"
    " SELECT l.jti, floor(extract(epoch FROM l.expires_at))::bigint AS expires_at"
    " FROM (SELECT * FROM old UNION ALL SELECT * FROM new) l",
    9};

enum link_request_find_column {
    LINK_JTI,
    LINK_SUBJECT,
    LINK_IDP,
    LINK_RESOURCE,
    LINK_CLIENT_ID,
    LINK_CLIENT_NAME,
    LINK_RETURN_TO,
    LINK_FLOW_ID,
    LINK_SCOPES,
    LINK_USED,
    LINK_EXPIRED,
    LINK_AT_UPSTREAM,
    LINK_SESSION_HASH,
    LINK_BINDING,
    LINK_VERIFIER_SEALED,
    LINK_MADE_MS
};
static const struct db_stmt link_request_find_stmt = {
    "link_request_find",
    "SELECT l.jti, l.subject, l.idp, l.resource, l.client_id, c.client_name, l.return_to,"
    " l.flow_id, to_json(l.scopes) AS scopes, l.used_at IS NOT NULL AS used,"
    " l.expires_at <= now() AS expired, l.state_hash IS NOT NULL AS at_upstream, l.session_hash,"
    " l.binding, l.verifier_sealed,"
    " floor(extract(epoch FROM l.created_at) * 1000)::bigint AS made_ms FROM gateway_link_request l"
    " LEFT JOIN client c ON c.client_id = l.client_id WHERE l.jti = $1 OR l.state_hash = $2",
    2};
static const struct db_stmt link_request_mark_stmt = {
    "link_request_mark",
    "UPDATE gateway_link_request SET used_at = now(), session_hash = $2, binding = $3,"
    " state_hash = $4, verifier_sealed = $5,"
    " expires_at = now() + make_interval(secs => $6::double precision)"
    " WHERE jti = $1 AND used_at IS NULL AND expires_at > now()",
    6};
static const struct db_stmt link_request_close_stmt = {
    "link_request_close",
    "UPDATE gateway_link_request SET session_hash = NULL, state_hash = NULL,"
    " verifier_sealed = NULL WHERE jti = $1 AND session_hash = $2 AND expires_at > now()",
    2};
static const struct db_stmt link_requests_purge_stmt = {
    "link_requests_purge",
    "DELETE FROM gateway_link_request WHERE jti IN (SELECT jti FROM gateway_link_request"
    " WHERE expires_at <= now() ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED)",
    1};

enum az_status
link_request_need(struct op *op, const struct link_request_new *link, bool *ret_found,
                  unsigned char ret_jti[LINK_REQUEST_JTI_OCTETS], int64_t *ret_expires_at)
{
    struct db_params params = {.count = 0};
    PGresult *row;
    const unsigned char *jti = NULL;
    size_t length = 0;
    db_octets(&params, link->jti, LINK_REQUEST_JTI_OCTETS);
    db_text(&params, link->subject);
    db_text(&params, link->resource);
    db_text(&params, link->client_id);
    db_words_or_null(op->mem, &params, link->scopes);
    db_text(&params, link->return_to);
    db_text(&params, link->flow_id);
    db_number(&params, LINK_REQUEST_VALIDITY);
    db_number(&params, LINK_REQUEST_REST);
    *ret_found = false;
    enum az_status st = db_exec(op, &link_request_need_stmt, &params, false, &row);
    if (st == AZ_OK && PQntuples(row) == 1)
        st = db_read_octets(op, row, 0, NEED_JTI, &jti, &length);
    *ret_found = st == AZ_OK && length == LINK_REQUEST_JTI_OCTETS;
    if (!*ret_found)
        return st;
    memcpy(ret_jti, jti, LINK_REQUEST_JTI_OCTETS);
    *ret_expires_at = db_get_number(row, 0, NEED_EXPIRES_AT, 0);
    return AZ_OK;
}

/* Return the place that a verifier is sealed for. */
static const char *
link_verifier_place(TALLOC_CTX *mem, const unsigned char jti[LINK_REQUEST_JTI_OCTETS])
{
    const char *id = b64url_encode(mem, jti, LINK_REQUEST_JTI_OCTETS);
    return id != NULL ? talloc_asprintf(mem, "gateway_link_request/verifier/%s", id) : NULL;
}

static enum az_status
open_link_verifier(struct op *op, const PGresult *row, struct link_request *link)
{
    const unsigned char *box = NULL;
    unsigned char *plain = NULL;
    size_t box_length = 0, length = 0;
    const char *place = link_verifier_place(op->mem, link->jti);
    enum az_status st = db_read_octets(op, row, 0, LINK_VERIFIER_SEALED, &box, &box_length);
    if (st != AZ_OK || box == NULL)
        return st;
    if (place == NULL
        || keyring_open(op->mem, op->az->keyring, KEYRING_CONNECTION, place, box, box_length,
                        &plain, &length)
               != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL,
                       "the PKCE verifier of a link cannot be decrypted");
    link->verifier = secret_copy(op->mem, plain, length);
    secret_wipe(plain, length);
    return link->verifier != NULL ? AZ_OK : op_no_memory(op);
}

/* Read a column of a fixed length; *ret stays NULL for SQL NULL. */
static enum az_status
read_fixed(struct op *op, const PGresult *row, int column, size_t wanted, const unsigned char **ret)
{
    size_t length = 0;
    enum az_status st = db_read_octets(op, row, 0, column, ret, &length);
    return st == AZ_OK && *ret != NULL && length != wanted
               ? op_fail(op, AZ_SERVER_ERROR, NULL, "the row of a link is damaged")
               : st;
}

enum az_status
link_request_find(struct op *op, const unsigned char *jti, const unsigned char *state_hash,
                  struct link_request *ret)
{
    struct db_params params = {.count = 0};
    PGresult *row;
    const unsigned char *id = NULL;
    *ret = (struct link_request){.found = false};
    db_octets(&params, jti, LINK_REQUEST_JTI_OCTETS);
    db_octets(&params, state_hash, SHA256_OCTETS);
    enum az_status st = db_exec(op, &link_request_find_stmt, &params, true, &row);
    if (st != AZ_OK || PQntuples(row) != 1)
        return st;
    struct link_request link = {
        .found = true,
        .used = db_get_bool(row, 0, LINK_USED),
        .expired = db_get_bool(row, 0, LINK_EXPIRED),
        .at_upstream = db_get_bool(row, 0, LINK_AT_UPSTREAM),
        .subject = db_get(row, 0, LINK_SUBJECT),
        .idp = db_get_number(row, 0, LINK_IDP, 0),
        .resource = db_get(row, 0, LINK_RESOURCE),
        .client_id = db_get(row, 0, LINK_CLIENT_ID),
        .client_name = db_get(row, 0, LINK_CLIENT_NAME),
        .return_to = db_get(row, 0, LINK_RETURN_TO),
        .flow_id = db_get(row, 0, LINK_FLOW_ID),
        .made_ms = db_get_number(row, 0, LINK_MADE_MS, 0),
    };
    st = db_read_json(op, row, 0, LINK_SCOPES, &link.scopes);
    if (st == AZ_OK)
        st = read_fixed(op, row, LINK_JTI, LINK_REQUEST_JTI_OCTETS, &id);
    if (st == AZ_OK)
        st = read_fixed(op, row, LINK_SESSION_HASH, SHA256_OCTETS, &link.session_hash);
    if (st == AZ_OK)
        st = read_fixed(op, row, LINK_BINDING, SHA256_OCTETS, &link.binding);
    if (st != AZ_OK)
        return st;
    memcpy(link.jti, id, LINK_REQUEST_JTI_OCTETS);
    if ((st = open_link_verifier(op, row, &link)) == AZ_OK)
        *ret = link;
    return st;
}

enum az_status
link_request_mark(struct op *op, const struct link_request *link,
                  const struct link_request_use *use, bool *ret_done)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    unsigned char *box = NULL;
    size_t length = 0;
    const char *place = link_verifier_place(op->mem, link->jti);
    if (use->verifier != NULL
        && (place == NULL
            || keyring_seal(op->mem, op->az->keyring, KEYRING_CONNECTION, place, use->verifier,
                            strlen(use->verifier), &box, &length)
                   != AZ_OK))
        return op_fail(op, AZ_SERVER_ERROR, NULL,
                       "the PKCE verifier of a link cannot be encrypted");
    db_octets(&params, link->jti, LINK_REQUEST_JTI_OCTETS);
    db_octets(&params, use->session_hash, SHA256_OCTETS);
    db_octets(&params, use->binding, SHA256_OCTETS);
    db_octets(&params, use->state_hash, SHA256_OCTETS);
    db_octets(&params, box, length);
    db_number(&params, LINK_REQUEST_VALIDITY);
    enum az_status st = db_exec(op, &link_request_mark_stmt, &params, false, &result);
    *ret_done = st == AZ_OK && db_written(result) == 1;
    return st;
}

enum az_status
link_request_close(struct op *op, const struct link_request *link,
                   const unsigned char session_hash[SHA256_OCTETS], bool *ret_done)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_octets(&params, link->jti, LINK_REQUEST_JTI_OCTETS);
    db_octets(&params, session_hash, SHA256_OCTETS);
    enum az_status st = db_exec(op, &link_request_close_stmt, &params, false, &result);
    *ret_done = st == AZ_OK && db_written(result) == 1;
    return st;
}

enum az_status
link_requests_purge(struct op *op)
{
    return db_purge(op, &link_requests_purge_stmt, 0, NULL);
}
