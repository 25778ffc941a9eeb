/* Reading columns of results. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/digits.h"
#include "base/json/jsonx.h"
#include "store/db/db.h"
#include "store/db/db_private.h"

const char *
db_get(const PGresult *result, int row, int column)
{
    if (row >= PQntuples(result) || PQgetisnull(result, row, column))
        return NULL;
    return PQgetvalue(result, row, column);
}

int64_t
db_get_number(const PGresult *result, int row, int column, int64_t otherwise)
{
    const char *text = db_get(result, row, column);
    return text != NULL ? strtoll(text, NULL, 10) : otherwise;
}

bool
db_get_bool(const PGresult *result, int row, int column)
{
    const char *text = db_get(result, row, column);
    return text != NULL && text[0] == 't';
}

int64_t
db_written(const PGresult *result)
{
    return strtoll(PQcmdTuples((PGresult *) (uintptr_t) result), NULL, 10);
}

bool
db_result_ok(const PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);
    return status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK;
}

bool
db_result_is_whole(const PGresult *result)
{
    PGresult *same = (PGresult *) (uintptr_t) result;
    if (PQresultStatus(result) == PGRES_TUPLES_OK)
        return *PQcmdTuples(same) == '\0' || db_written(result) == PQntuples(result);
    return db_result_ok(result) && strncmp(PQcmdStatus(same), "SELECT", strlen("SELECT")) != 0;
}

PGresult *
db_result_keep(PGresult *kept, PGresult *next)
{
    bool failed = kept != NULL && !db_result_ok(kept);
    PQclear(failed ? next : kept);
    return failed ? kept : next;
}

/* Return the number of octets of a bytea in text form (hex), or SIZE_MAX if the text is no such. */
static size_t
octets_in(const char *text)
{
    size_t digits = strlen(text);
    bool is_hex = digits >= 2 && text[0] == '\\' && text[1] == 'x' && digits % 2 == 0;
    return is_hex ? digits / 2 - 1 : SIZE_MAX;
}

bool
db_octets_into(const char *text, unsigned char *octets, size_t length)
{
    if (octets_in(text) != length)
        return false;
    for (size_t i = 0; i < length; i++) {
        int high = digits_hex(text[2 + 2 * i]), low = digits_hex(text[3 + 2 * i]);
        if (high < 0 || low < 0)
            return false;
        octets[i] = (unsigned char) (high << 4 | low);
    }
    return true;
}

enum az_status
db_octets_of(TALLOC_CTX *mem, const char *text, unsigned char **ret, size_t *ret_len)
{
    size_t length = octets_in(text);
    if (length == SIZE_MAX)
        return AZ_INVALID;
    unsigned char *octets = talloc_array(mem, unsigned char, (unsigned) length + 1);
    if (octets == NULL)
        return AZ_SERVER_ERROR;
    if (!db_octets_into(text, octets, length)) {
        talloc_free(octets);
        return AZ_INVALID;
    }
    octets[length] = '\0';
    *ret = octets;
    *ret_len = length;
    return AZ_OK;
}

enum az_status
db_get_octets(TALLOC_CTX *mem, const PGresult *result, int row, int column, unsigned char **ret,
              size_t *ret_len)
{
    const char *text = db_get(result, row, column);
    return text != NULL ? db_octets_of(mem, text, ret, ret_len) : AZ_INVALID;
}

enum az_status
db_words_of(TALLOC_CTX *mem, const char *text, const char ***ret)
{
    json_auto_t *array = json_loads(text, 0, NULL);
    size_t count = json_array_size(array), index;
    json_t *word;
    if (!json_is_array(array))
        return AZ_INVALID;
    const char **words = talloc_zero_array(mem, const char *, (unsigned) count + 1);
    enum az_status st = words != NULL ? AZ_OK : AZ_SERVER_ERROR;
    json_array_foreach (array, index, word) {
        if (st == AZ_OK && !json_is_string(word))
            st = AZ_INVALID;
        if (st == AZ_OK && (words[index] = talloc_strdup(words, json_string_value(word))) == NULL)
            st = AZ_SERVER_ERROR;
    }
    if (st == AZ_OK)
        *ret = words;
    else
        talloc_free(words);
    return st;
}

enum az_status
db_get_words(TALLOC_CTX *mem, const PGresult *result, int row, int column, const char ***ret)
{
    const char *text = db_get(result, row, column);
    *ret = NULL;
    return text == NULL || db_words_of(mem, text, ret) == AZ_OK ? AZ_OK : AZ_SERVER_ERROR;
}

enum az_status
db_read_octets(struct op *op, const PGresult *result, int row, int column,
               const unsigned char **ret, size_t *ret_len)
{
    unsigned char *octets;
    if (db_get(result, row, column) == NULL)
        return AZ_OK;
    if (db_get_octets(op->mem, result, row, column, &octets, ret_len) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "database: column %s cannot be read",
                       PQfname(result, column));
    *ret = octets;
    return AZ_OK;
}

enum az_status
db_read_json(struct op *op, const PGresult *result, int row, int column, json_t **ret)
{
    const char *text = db_get(result, row, column);
    if (text == NULL)
        return AZ_OK;
    if (jsonx_parse(op->mem, text, strlen(text), DB_JSON_DEPTH_MAX, ret, NULL) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "database: column %s cannot be read",
                       PQfname(result, column));
    return AZ_OK;
}
