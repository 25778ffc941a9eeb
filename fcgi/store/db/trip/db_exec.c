/* One statement, one trip, and the common ways to read its rows. */
#include "config.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "store/db/db.h"

enum az_status
db_exec(struct op *op, const struct db_stmt *stmt, const struct db_params *params, bool reads_only,
        PGresult **ret_result)
{
    struct db_batch *batch = db_batch_new(op);
    struct db_step *step = db_batch_add(batch, stmt);
    if (params != NULL)
        db_params_copy(&step->params, params);
    enum az_status st = db_run(op, batch, reads_only);
    if (st != AZ_OK || ret_result == NULL)
        return st;
    *ret_result = step->result;
    return AZ_OK;
}

enum az_status
db_fetch_text(struct op *op, const struct db_stmt *stmt, const struct db_params *params,
              const char **ret)
{
    PGresult *result;
    enum az_status st = db_exec(op, stmt, params, true, &result);
    if (st == AZ_OK)
        *ret = db_get(result, 0, 0);
    return st;
}

enum az_status
db_fetch_list(struct op *op, const struct db_stmt *stmt, const struct db_params *params,
              const char **ret)
{
    PGresult *result;
    enum az_status st = db_exec(op, stmt, params, true, &result);
    if (st != AZ_OK)
        return st;
    size_t length = sizeof("[]");
    for (int row = 0; row < PQntuples(result); row++)
        length += (size_t) PQgetlength(result, row, 0) + 1;
    char *text = talloc_array(op->mem, char, (unsigned) length), *at = text;
    if (text == NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "database: out of memory for a list");
    *at++ = '[';
    for (int row = 0; row < PQntuples(result); row++) {
        if (row > 0)
            *at++ = ',';
        at = stpcpy(at, PQgetvalue(result, row, 0));
    }
    strcpy(at, "]");
    *ret = text;
    return AZ_OK;
}

enum az_status
db_fetch_array(struct op *op, const struct db_stmt *stmt, const struct db_params *params,
               json_t **ret)
{
    const char *text;
    enum az_status st = db_fetch_list(op, stmt, params, &text);
    if (st != AZ_OK)
        return st;
    if (jsonx_parse(op->mem, text, strlen(text), DB_JSON_DEPTH_MAX, ret, NULL) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "database: the list of %s cannot be read",
                       stmt->name);
    return AZ_OK;
}

enum az_status
db_write_read(struct op *op, const struct db_stmt *write, const struct db_params *params,
              const struct db_stmt *read, const char *taken, PGresult **ret)
{
    struct db_batch *batch = db_batch_new(op);
    struct db_step *first = db_batch_add(batch, write), *second = db_batch_add(batch, read);
    db_params_copy(&first->params, params);
    db_text(&second->params, params->value[0]);
    enum az_status st = db_run_or_retry(op, batch, false, SQLSTATE_UNIQUE_VIOLATION);
    if (st == AZ_RETRY)
        return op_fail(op, AZ_CONFLICT, taken, NULL);
    if (st == AZ_OK)
        *ret = PQntuples(first->result) == 1 ? second->result : NULL;
    return st;
}
