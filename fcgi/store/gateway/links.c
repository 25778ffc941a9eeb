#include "config.h"

#include "store/gateway/links.h"

#include <string.h>

#include "base/b64url.h"
#include "crypto/keyring.h"
#include "crypto/secret.h"
#include "store/db/keep/purge.h"
#include "store/db/trip/db_row.h"

/* The person belongs to the provider of the subject's issuer, so no token can name another
 * provider. */
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
struct link_needed {
    unsigned char jti[LINK_REQUEST_JTI_OCTETS];
    int64_t expires_at;
};
static const struct db_column link_request_need_columns[] = {
    {"jti",        DB_INTO(struct link_needed, jti)       },
    {"expires_at", DB_INTO(struct link_needed, expires_at)},
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
struct link_stored {
    struct link_request link;    /* without its verifier */
    const unsigned char *sealed; /* the verifier, or NULL */
    size_t sealed_length;
};
/* clang-format off */
static const struct db_column link_request_find_columns[] = {
    {"jti",             DB_INTO(struct link_stored, link.jti)},
    {"subject",         DB_INTO(struct link_stored, link.subject), .needed = true},
    {"idp",             DB_INTO(struct link_stored, link.idp), .needed = true},
    {"resource",        DB_INTO(struct link_stored, link.resource), .needed = true},
    {"client_id",       DB_INTO(struct link_stored, link.client_id), .needed = true},
    {"client_name",     DB_INTO(struct link_stored, link.client_name)},
    {"return_to",       DB_INTO(struct link_stored, link.return_to), .needed = true},
    {"flow_id",         DB_INTO(struct link_stored, link.flow_id)},
    {"scopes",          DB_INTO(struct link_stored, link.scopes)},
    {"used",            DB_INTO(struct link_stored, link.used), .needed = true},
    {"expired",         DB_INTO(struct link_stored, link.expired), .needed = true},
    {"at_upstream",     DB_INTO(struct link_stored, link.at_upstream)},
    {"session_hash",    DB_EXACTLY_INTO(struct link_stored, link.session_hash, SHA256_OCTETS)},
    {"binding",         DB_EXACTLY_INTO(struct link_stored, link.binding, SHA256_OCTETS)},
    {"verifier_sealed", DB_OCTETS_INTO(struct link_stored, sealed, sealed_length)},
    {"made_ms",         DB_INTO(struct link_stored, link.made_ms)},
};
/* clang-format on */
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
    struct link_needed needed;
    db_octets(&params, link->jti, LINK_REQUEST_JTI_OCTETS);
    db_text(&params, link->subject);
    db_text(&params, link->resource);
    db_text(&params, link->client_id);
    db_words_or_null(op->mem, &params, link->scopes);
    db_text(&params, link->return_to);
    db_text(&params, link->flow_id);
    db_number(&params, LINK_REQUEST_VALIDITY);
    db_number(&params, LINK_REQUEST_REST);
    enum az_status st =
        db_fetch_row(op, &link_request_need_stmt, &params, false,
                     DB_TABLE(struct link_needed, link_request_need_columns), &needed, ret_found);
    if (!*ret_found)
        return st;
    memcpy(ret_jti, needed.jti, LINK_REQUEST_JTI_OCTETS);
    *ret_expires_at = needed.expires_at;
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
open_link_verifier(struct op *op, const struct link_stored *stored, struct link_request *link)
{
    unsigned char *plain = NULL;
    size_t length = 0;
    const char *place = link_verifier_place(op->mem, link->jti);
    if (stored->sealed == NULL)
        return AZ_OK;
    if (place == NULL
        || keyring_open(op->mem, op->az->keyring, KEYRING_CONNECTION, place, stored->sealed,
                        stored->sealed_length, &plain, &length)
               != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL,
                       "the PKCE verifier of a link cannot be decrypted");
    link->verifier = secret_copy(op->mem, plain, length);
    secret_wipe(plain, length);
    return link->verifier != NULL ? AZ_OK : op_no_memory(op);
}

enum az_status
link_request_find(struct op *op, const unsigned char *jti, const unsigned char *state_hash,
                  struct link_request *ret)
{
    struct db_params params = {.count = 0};
    struct link_stored stored = {.sealed = NULL};
    bool found;
    *ret = (struct link_request){.found = false};
    db_octets(&params, jti, LINK_REQUEST_JTI_OCTETS);
    db_octets(&params, state_hash, SHA256_OCTETS);
    enum az_status st =
        db_fetch_row(op, &link_request_find_stmt, &params, true,
                     DB_TABLE(struct link_stored, link_request_find_columns), &stored, &found);
    if (!found || (st = open_link_verifier(op, &stored, &stored.link)) != AZ_OK)
        return st;
    *ret = stored.link;
    ret->found = true;
    return AZ_OK;
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
