#include "config.h"

#include "store/people/admin_links.h"

#include "base/settings/settings.h"
#include "store/db/db.h"
#include "store/people/admin_keys_private.h"

/* clang-format off */
static const struct db_stmt admin_link_make_stmt = {
    "admin_link_make",
    "WITH gone AS (DELETE FROM admin_link l"
    "   WHERE l.created_at <= now() - make_interval(secs => $4::double precision)),"
    " made AS (INSERT INTO admin_link (id_hash, admin_key, issuer)"
    "   SELECT $1, k.id, $2 FROM admin_key k WHERE k.id::text = $3 AND " ADMIN_KEY_IS_VALID
    "   RETURNING created_at)"
    " SELECT to_char((created_at + make_interval(secs => $4::double precision))" DB_TIME
    " FROM made",
    4};

/* A second use finds no row. A link of another issuer stays. */
enum admin_link_use_column { LINK_ID, LINK_LABEL, LINK_ROLE };
static const struct db_stmt admin_link_use_stmt = {
    "admin_link_use",
    "WITH spent AS (DELETE FROM admin_link l WHERE l.id_hash = $1 AND l.issuer = $2"
    "   RETURNING l.admin_key, l.created_at),"
    " found AS (SELECT k.id, k.label, k.role FROM spent l JOIN admin_key k ON k.id = l.admin_key"
    "   WHERE l.created_at > now() - make_interval(secs => $3::double precision)"
    "    AND " ADMIN_KEY_IS_VALID "),"
    " used AS (" ADMIN_KEY_USED ") SELECT id, label, role FROM found",
    3};
/* clang-format on */

enum az_status
admin_link_make(struct op *op, const unsigned char hash[SHA256_OCTETS], const char *key_id,
                const char **ret_ends)
{
    struct db_params params = {.count = 0};
    db_octets(&params, hash, SHA256_OCTETS);
    db_text(&params, op->az->cfg->oidc_issuer);
    db_text(&params, key_id);
    db_number(&params, ADMIN_LINK_VALIDITY);
    enum az_status st = db_fetch_text(op, &admin_link_make_stmt, &params, ret_ends);
    return st == AZ_OK && *ret_ends == NULL
               ? op_fail(op, AZ_NOT_FOUND, NULL, "no valid admin key %s", key_id)
               : st;
}

enum az_status
admin_link_use(struct op *op, const unsigned char hash[SHA256_OCTETS], struct admin_key *ret)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    *ret = (struct admin_key){.id = NULL};
    db_octets(&params, hash, SHA256_OCTETS);
    db_text(&params, op->az->cfg->oidc_issuer);
    db_number(&params, ADMIN_LINK_VALIDITY);
    enum az_status st = db_exec(op, &admin_link_use_stmt, &params, false, &result);
    if (st == AZ_OK && PQntuples(result) > 0)
        *ret = (struct admin_key){.id = db_get(result, 0, LINK_ID),
                                  .label = db_get(result, 0, LINK_LABEL),
                                  .role = admin_role_of(db_get(result, 0, LINK_ROLE))};
    return st;
}
