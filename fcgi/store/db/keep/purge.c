#include "config.h"

#include "store/db/keep/purge.h"

enum az_status
db_purge(struct op *op, const struct db_stmt *stmt, int64_t number, int64_t *removed)
{
    int64_t rows = DB_PURGE_BATCH;
    while (rows == DB_PURGE_BATCH && !*op->az->stopping) {
        struct db_params params = {.count = 0};
        PGresult *result;
        db_number(&params, DB_PURGE_BATCH);
        if (number != 0)
            db_number(&params, number);
        enum az_status st = db_exec(op, stmt, &params, false, &result);
        if (st != AZ_OK)
            return st;
        rows = db_written(result);
        if (removed != NULL)
            *removed += rows;
    }
    return AZ_OK;
}
