#include "config.h"

#include "store/clients/clients_statement.h"

#include "store/db/db.h"

/* Only the administrator's clients have a statement, so a client that registered itself under the
 * name later does not hold it. */
enum client_statement_column { STATEMENT_ENABLED, STATEMENT_SAME };
static const struct db_stmt client_statement_stmt = {
    "client_statement",
    "SELECT enabled, issued_statement IS NOT DISTINCT FROM $2 AS same FROM client"
    " WHERE client_id = $1",
    2};

const char *
statement_holder_text(enum statement_holder holder)
{
    static const char *const texts[] = {
        [STATEMENT_HOLDER_HAS_IT] = "holds the statement",
        [STATEMENT_HOLDER_DISABLED] = "is disabled",
        [STATEMENT_HOLDER_REPLACED] = "has another statement or none now",
        [STATEMENT_HOLDER_GONE] = "does not exist",
    };
    return texts[holder];
}

enum az_status
client_holds_statement(struct op *op, const char *client_id, const char *statement,
                       enum statement_holder *ret)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_text(&params, client_id);
    db_text(&params, statement);
    enum az_status st = db_exec(op, &client_statement_stmt, &params, true, &result);
    if (st != AZ_OK)
        return st;
    if (PQntuples(result) == 0)
        *ret = STATEMENT_HOLDER_GONE;
    else if (!db_get_bool(result, 0, STATEMENT_SAME))
        *ret = STATEMENT_HOLDER_REPLACED;
    else
        *ret = db_get_bool(result, 0, STATEMENT_ENABLED) ? STATEMENT_HOLDER_HAS_IT
                                                         : STATEMENT_HOLDER_DISABLED;
    return AZ_OK;
}
