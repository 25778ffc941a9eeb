#include "config.h"

#include "store/db/json_rows.h"

enum az_status
json_rows_list(struct op *op, const struct json_rows *rows, const char *const *filters, int count,
               const char **ret_array)
{
    struct db_params params = {.count = 0};
    for (int i = 0; i < count; i++)
        db_text(&params, filters[i]);
    return db_fetch_list(op, rows->list, &params, ret_array);
}

enum az_status
json_rows_fetch(struct op *op, const struct json_rows *rows, const char *key, const char **ret_dto)
{
    struct db_params params = {.count = 0};
    db_text(&params, key);
    return db_fetch_text(op, rows->fetch, &params, ret_dto);
}

static enum az_status
json_rows_missing(struct op *op, const struct json_rows *rows)
{
    return op_fail(op, AZ_NOT_FOUND, NULL, "no such %s", rows->noun);
}

static enum az_status
json_rows_after(struct op *op, const struct json_rows *rows)
{
    return rows->after != NULL ? db_exec(op, rows->after, NULL, false, NULL) : AZ_OK;
}

/* Write a row and read it back. *ret_dto is NULL when the statement wrote nothing. */
static enum az_status
json_rows_write(struct op *op, const struct json_rows *rows, const struct db_stmt *stmt,
                const struct json_row *row, const char **ret_dto)
{
    struct db_params params = {.count = 0};
    db_text(&params, row->key);
    db_text(&params, row->columns);
    if (row->sealed != NULL)
        db_octets(&params, row->sealed, row->sealed_length);
    else if (stmt->params > params.count)
        db_text(&params, NULL);
    enum az_status st = db_write_read(op, stmt, &params, rows->fetch, rows->taken, ret_dto);
    return st == AZ_OK && *ret_dto != NULL ? json_rows_after(op, rows) : st;
}

enum az_status
json_rows_insert(struct op *op, const struct json_rows *rows, const struct json_row *row,
                 const char **ret_dto)
{
    const char *dto = NULL;
    enum az_status st = json_rows_write(op, rows, rows->insert, row, &dto);
    if (st == AZ_OK && dto == NULL)
        return op_fail(op, AZ_CONFLICT,
                       talloc_asprintf(op->mem, "%s '%.*s'%s is already in use", rows->key,
                                       JSON_ROWS_KEY_SHOWN, row->key, rows->besides),
                       NULL);
    if (st == AZ_OK)
        *ret_dto = dto;
    return st;
}

enum az_status
json_rows_replace(struct op *op, const struct json_rows *rows, const struct json_row *row,
                  const char **ret_dto)
{
    const char *dto = NULL;
    enum az_status st = json_rows_write(op, rows, rows->replace, row, &dto);
    if (st == AZ_OK && dto == NULL)
        return json_rows_missing(op, rows);
    if (st == AZ_OK)
        *ret_dto = dto;
    return st;
}

enum az_status
json_rows_delete(struct op *op, const struct json_rows *rows, const char *key)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_text(&params, key);
    enum az_status st = db_exec(op, rows->remove, &params, false, &result);
    if (st != AZ_OK)
        return st;
    return PQntuples(result) > 0 ? json_rows_after(op, rows) : json_rows_missing(op, rows);
}
