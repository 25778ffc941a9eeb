/* Rows of results, read by tables. */
#include "config.h"

#include "store/db/trip/db_row.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "store/db/db_private.h"

/* The target of a row. */
struct reading {
    TALLOC_CTX *mem; /* for what is allocated */
    bool copies;     /* texts too */
    char *to;        /* the struct */
};

static bool
read_number(const char *text, int64_t min, int64_t max, int64_t *ret)
{
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || number < min || number > max)
        return false;
    *ret = number;
    return true;
}

static enum az_status
read_text(const struct reading *reading, const char *text, const char **ret)
{
    *ret = reading->copies ? talloc_strdup(reading->mem, text) : text;
    return *ret != NULL ? AZ_OK : AZ_SERVER_ERROR;
}

static enum az_status
read_octets(const struct reading *reading, const struct db_column *column, const char *text,
            const unsigned char **ret)
{
    unsigned char *octets;
    size_t length;
    enum az_status st = db_octets_of(reading->mem, text, &octets, &length);
    if (st != AZ_OK || (column->size > 0 && length != column->size))
        return st != AZ_OK ? st : AZ_INVALID;
    *ret = octets;
    if (column->size == 0)
        *(size_t *) (void *) (reading->to + column->length) = length;
    return AZ_OK;
}

/* Read a value that is not NULL. AZ_INVALID: it is not of its kind. AZ_SERVER_ERROR: no memory. */
static enum az_status
read_value(const struct reading *reading, const struct db_column *column, const char *text)
{
    void *at = reading->to + column->offset;
    int64_t number = 0;
    bool fits = true;
    switch (column->kind) {
    case DB_SKIPPED:
        break;
    case DB_TEXT:
        return read_text(reading, text, at);
    case DB_TRUTH:
        *(bool *) at = text[0] == 't';
        fits = (text[0] == 't' || text[0] == 'f') && text[1] == '\0';
        break;
    case DB_NUMBER:
        fits = read_number(text, INT64_MIN, INT64_MAX, at);
        break;
    case DB_INT:
        fits = read_number(text, INT_MIN, INT_MAX, &number);
        *(int *) at = (int) number;
        break;
    case DB_SIZE:
        fits = read_number(text, 0, INT64_MAX, &number);
        *(size_t *) at = (size_t) number;
        break;
    case DB_FIXED:
        fits = db_octets_into(text, at, column->size);
        break;
    case DB_OCTETS:
        return read_octets(reading, column, text, at);
    case DB_JSON:
        return jsonx_parse(reading->mem, text, strlen(text), DB_JSON_DEPTH_MAX, at, NULL);
    case DB_WORDS:
        return db_words_of(reading->mem, text, at);
    }
    return fits ? AZ_OK : AZ_INVALID;
}

/* Read the columns of a row. *ret_failed is the one that cannot be read. */
static enum az_status
read_columns(const struct reading *reading, const PGresult *result, int row,
             const struct db_table *table, const struct db_column **ret_failed)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct db_column *column = *ret_failed = &table->column[i];
        enum az_status st = AZ_OK;
        if (!PQgetisnull(result, row, (int) i))
            st = read_value(reading, column, PQgetvalue(result, row, (int) i));
        else if (column->needed || column->kind == DB_FIXED)
            st = AZ_INVALID;
        if (st != AZ_OK)
            return st;
    }
    return AZ_OK;
}

static enum az_status
read_row(struct op *op, const struct reading *reading, const PGresult *result, int row,
         const struct db_table *table)
{
    const struct db_column *failed = NULL;
    enum az_status st = AZ_INVALID;
    if (row < PQntuples(result) && PQnfields(result) == (int) table->count)
        st = read_columns(reading, result, row, table, &failed);
    if (st == AZ_OK)
        return AZ_OK;
    memset(reading->to, 0, table->size);
    if (st != AZ_INVALID)
        return op_no_memory(op);
    return failed != NULL ? op_fail(op, AZ_SERVER_ERROR, NULL, "database: column %s cannot be read",
                                    failed->name)
                          : op_fail(op, AZ_SERVER_ERROR, NULL,
                                    "database: the row with column %s has %d columns in place of "
                                    "%zu, or is not there",
                                    table->column[0].name, PQnfields(result), table->count);
}

enum az_status
db_read_row(struct op *op, const PGresult *result, int row, const struct db_table *table, void *ret)
{
    return read_row(op, &(struct reading){.mem = op->mem, .to = ret}, result, row, table);
}

enum az_status
db_copy_row(struct op *op, TALLOC_CTX *mem, const PGresult *result, int row,
            const struct db_table *table, void *ret)
{
    return read_row(op, &(struct reading){.mem = mem, .copies = true, .to = ret}, result, row,
                    table);
}

enum az_status
db_read_rows(struct op *op, const PGresult *result, const struct db_table *table, void *ret,
             size_t *ret_count)
{
    int rows = PQntuples(result);
    char *array = talloc_zero_size(op->mem, ((size_t) rows + 1) * table->size);
    if (array == NULL)
        return op_no_memory(op);
    for (int row = 0; row < rows; row++) {
        enum az_status st = db_read_row(op, result, row, table, array + (size_t) row * table->size);
        if (st != AZ_OK)
            return st;
    }
    *(void **) ret = array;
    *ret_count = (size_t) rows;
    return AZ_OK;
}

enum az_status
db_fetch_row(struct op *op, const struct db_stmt *stmt, const struct db_params *params,
             bool reads_only, const struct db_table *table, void *ret, bool *ret_found)
{
    PGresult *result;
    enum az_status st = db_exec(op, stmt, params, reads_only, &result);
    bool found = st == AZ_OK && PQntuples(result) > 0;
    if (found)
        st = db_read_row(op, result, 0, table, ret);
    if (ret_found != NULL)
        *ret_found = found && st == AZ_OK;
    return st;
}
