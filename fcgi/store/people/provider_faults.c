#include "config.h"

#include "store/people/provider_faults.h"

#include "store/db/db.h"

/* clang-format off */
static const struct db_stmt provider_fault_note_stmt = {
    "provider_fault_note",
    "INSERT INTO provider_fault AS f (idp, code, first_at, last_at, n)"
    " SELECT p.id, $2, now(), now(), 1 FROM identity_provider p WHERE p.id = $1 AND NOT EXISTS ("
    "  SELECT 1 FROM provider_fault o WHERE o.idp = p.id AND o.code = $2"
    "   AND o.last_at > now() - interval '1 minute')"
    " ON CONFLICT (idp, code) DO UPDATE SET last_at = now(),"
    "  first_at = CASE WHEN f.last_at < now() - interval '24 hours' THEN now() ELSE f.first_at END,"
    "  n = CASE WHEN f.last_at < now() - interval '24 hours' THEN 1 ELSE f.n + 1 END", 2};
enum provider_userinfo_had_column { HAD_ANY };
static const struct db_stmt provider_userinfo_had_stmt = {
    "provider_userinfo_had",
    "SELECT EXISTS (SELECT 1 FROM provider_userinfo WHERE idp = $1) AS any", 1};
/* clang-format on */

enum az_status
provider_fault_note(struct op *op, int64_t idp, const char *code)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_number(&params, idp);
    db_text(&params, code);
    return db_exec(op, &provider_fault_note_stmt, &params, false, &result);
}

enum az_status
provider_userinfo_had(struct op *op, int64_t idp, bool *ret_had)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_number(&params, idp);
    enum az_status st = db_exec(op, &provider_userinfo_had_stmt, &params, false, &result);
    *ret_had = st != AZ_OK || db_get_bool(result, 0, HAD_ANY);
    return st;
}
