#include "config.h"

#include "store/db/rows/json_rows.h"

#include "store/db/rows/object_owners.h"

enum az_status
json_rows_list(struct op *op, const struct json_rows *rows, const char *const *filters, int count,
               const char **ret_array)
{
    struct db_params params = {.count = 0};
    for (int i = 0; i < count; i++)
        db_text(&params, filters[i]);
    return db_fetch_list(op, rows->list, &params, ret_array);
}

static const struct db_stmt plan_each_stmt = {
    "plan_each", "SELECT set_config('plan_cache_mode', 'force_custom_plan', true)", 0};

enum az_status
json_rows_filter(struct op *op, const struct db_stmt *stmt, const struct db_params *params,
                 PGresult **ret)
{
    struct db_batch *batch = db_batch_new(op);
    db_batch_begin(batch);
    db_batch_add(batch, &plan_each_stmt);
    struct db_step *step = db_batch_add(batch, stmt);
    db_batch_commit(batch);
    db_params_copy(&step->params, params);
    enum az_status st = db_run(op, batch, true);
    *ret = step->result;
    return st;
}

/* Columns of `page`. */
enum { PAGE_TOTAL, PAGE_ARRAY };

enum az_status
json_rows_page(struct op *op, const struct json_rows *rows, const char *const *filters, int count,
               struct json_page *page)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    for (int i = 0; i < count; i++)
        db_text(&params, filters[i]);
    if (page->limit > 0)
        db_number(&params, page->limit);
    else
        db_text(&params, NULL);
    db_number(&params, page->offset);
    enum az_status st = json_rows_filter(op, rows->page, &params, &result);
    if (st != AZ_OK)
        return st;
    page->total = db_get_number(result, 0, PAGE_TOTAL, 0);
    page->array = db_get(result, 0, PAGE_ARRAY);
    return AZ_OK;
}

/* Columns of `fetch`. */
enum { SHOWN_DTO, SHOWN_VERSION };

static struct json_shown
json_rows_shown(const PGresult *result)
{
    return (struct json_shown){
        .dto = db_get(result, 0, SHOWN_DTO),
        .version = PQnfields(result) > SHOWN_VERSION ? db_get(result, 0, SHOWN_VERSION) : NULL};
}

enum az_status
json_rows_fetch(struct op *op, const struct json_rows *rows, const char *key,
                struct json_shown *ret)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_text(&params, key);
    enum az_status st = db_exec(op, rows->fetch, &params, true, &result);
    if (st == AZ_OK)
        *ret = json_rows_shown(result);
    return st;
}

/* Fail because no row was written: the row does not exist, or has another version. */
static enum az_status
json_rows_missing(struct op *op, const struct json_rows *rows, const char *version)
{
    return version != NULL ? op_fail(op, AZ_PRECONDITION_FAILED, NULL, NULL)
                           : op_fail(op, AZ_NOT_FOUND, NULL, "no such %s", rows->noun);
}

static enum az_status
json_rows_after(struct op *op, const struct json_rows *rows)
{
    return rows->after != NULL ? db_exec(op, rows->after, NULL, false, NULL) : AZ_OK;
}

/* Write a row and the mark of its owner, both or neither. *ret is NULL, and there is no mark, when
 * the statement wrote nothing. */
static enum az_status
json_rows_write_marked(struct op *op, const struct json_rows *rows, const struct db_stmt *stmt,
                       const struct json_row *row, const struct db_params *params, PGresult **ret)
{
    bool inside = db_in_transaction(op->az->db);
    enum az_status st = inside ? AZ_OK : db_begin(op);
    if (st != AZ_OK)
        return st;
    st = db_write_read(op, stmt, params, rows->fetch, rows->taken, ret);
    if (st == AZ_OK && *ret != NULL)
        st = object_owner_mark(op, row->owner, rows->owned, row->key);
    return inside ? st : db_end(op, st);
}

/* Write a row and read it back. ret->dto is NULL when the statement wrote nothing. */
static enum az_status
json_rows_write(struct op *op, const struct json_rows *rows, const struct db_stmt *stmt,
                const struct json_row *row, struct json_shown *ret)
{
    struct db_params params = {.count = 0};
    PGresult *read = NULL;
    db_text(&params, row->key);
    db_text(&params, row->columns);
    if (row->sealed != NULL)
        db_octets(&params, row->sealed, row->sealed_length);
    else if (stmt->params > params.count)
        db_text(&params, NULL);
    if (stmt->params > params.count)
        db_text(&params, row->version);
    enum az_status st = row->owner != NULL && rows->owned != NULL
                            ? json_rows_write_marked(op, rows, stmt, row, &params, &read)
                            : db_write_read(op, stmt, &params, rows->fetch, rows->taken, &read);
    if (st != AZ_OK || read == NULL)
        return st;
    *ret = json_rows_shown(read);
    return json_rows_after(op, rows);
}

enum az_status
json_rows_insert(struct op *op, const struct json_rows *rows, const struct json_row *row,
                 struct json_shown *ret)
{
    struct json_shown shown = {.dto = NULL};
    enum az_status st = json_rows_write(op, rows, rows->insert, row, &shown);
    if (st == AZ_OK && shown.dto == NULL)
        return op_fail(op, AZ_CONFLICT,
                       talloc_asprintf(op->mem, "%s '%.*s'%s is already in use", rows->key,
                                       JSON_ROWS_KEY_SHOWN, row->key, rows->besides),
                       NULL);
    if (st == AZ_OK)
        *ret = shown;
    return st;
}

enum az_status
json_rows_replace(struct op *op, const struct json_rows *rows, const struct json_row *row,
                  struct json_shown *ret)
{
    struct json_shown shown = {.dto = NULL};
    enum az_status st = json_rows_write(op, rows, rows->replace, row, &shown);
    if (st == AZ_OK && shown.dto == NULL)
        return json_rows_missing(op, rows, row->version);
    if (st == AZ_OK)
        *ret = shown;
    return st;
}

enum az_status
json_rows_delete(struct op *op, const struct json_rows *rows, const char *key, const char *version)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_text(&params, key);
    if (rows->remove->params > params.count)
        db_text(&params, version);
    enum az_status st = db_exec(op, rows->remove, &params, false, &result);
    if (st != AZ_OK)
        return st;
    return PQntuples(result) > 0 ? json_rows_after(op, rows) : json_rows_missing(op, rows, version);
}
