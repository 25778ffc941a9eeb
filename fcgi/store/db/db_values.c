#include "config.h"

#include "store/db/db.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/db/db_private.h"

static int
batch_destroy(struct db_batch *batch)
{
    db_batch_reset(batch);
    return 0;
}

struct db_batch *
db_batch_new(struct op *op)
{
    /* Of its 12 kB a request uses a tenth: what is not used is not cleared either. */
    struct db_batch *batch = talloc(op->mem, struct db_batch);
    if (batch == NULL)
        return NULL;
    batch->count = 0;
    batch->failed = NULL;
    batch->message[0] = '\0';
    talloc_set_destructor(batch, batch_destroy);
    return batch;
}

void
db_batch_reset(struct db_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        PQclear(batch->step[i].result);
        batch->step[i].result = NULL;
        batch->step[i].sqlstate[0] = '\0';
    }
    batch->failed = NULL;
}

bool
db_batch_failed_with(const struct db_batch *batch, const char *sqlstate)
{
    return batch->failed != NULL && strcmp(batch->failed->sqlstate, sqlstate) == 0;
}

const char *
db_batch_message(const struct db_batch *batch)
{
    return batch->message;
}

struct db_step *
db_batch_add_in(struct db_batch *batch, const struct db_stmt *stmt, uint32_t bucket, uint32_t day)
{
    if (batch == NULL || batch->count == DB_BATCH_MAX)
        return NULL;
    struct db_step *step = &batch->step[batch->count++];
    step->stmt = stmt;
    step->bucket = bucket;
    step->day = day;
    step->refresh = DB_NO_PARTITION;
    step->params.count = 0;
    step->result = NULL;
    step->sqlstate[0] = '\0';
    return step;
}

struct db_step *
db_batch_add(struct db_batch *batch, const struct db_stmt *stmt)
{
    return db_batch_add_in(batch, stmt, DB_NO_PARTITION, DB_NO_PARTITION);
}

struct db_step *
db_batch_begin(struct db_batch *batch)
{
    static const struct db_stmt begin_stmt = {"begin", "BEGIN", 0};
    return db_batch_add(batch, &begin_stmt);
}

struct db_step *
db_batch_commit(struct db_batch *batch)
{
    static const struct db_stmt commit_stmt = {"commit", "COMMIT", 0};
    return db_batch_add(batch, &commit_stmt);
}

void
db_text(struct db_params *params, const char *text)
{
    params->value[params->count] = text;
    params->format[params->count++] = 0;
}

void
db_octets(struct db_params *params, const void *octets, size_t length)
{
    params->value[params->count] = octets;
    params->length[params->count] = (int) length;
    params->format[params->count++] = 1;
}

/* Every row of the audit log has some: snprintf takes three times as long. */
void
db_number(struct db_params *params, int64_t number)
{
    char *room = params->room[params->count], digits[20];
    uint64_t rest = number < 0 ? 0 - (uint64_t) number : (uint64_t) number;
    size_t count = 0;
    if (number < 0)
        *room++ = '-';
    do
        digits[count++] = (char) ('0' + rest % 10);
    while ((rest /= 10) != 0);
    while (count > 0)
        *room++ = digits[--count];
    *room = '\0';
    db_text(params, params->room[params->count]);
}

void
db_bool(struct db_params *params, bool flag)
{
    db_text(params, flag ? "t" : "f");
}

/* Binary timestamptz: microseconds since 2000-01-01T00:00Z, big-endian (PostgreSQL with integer
 * datetimes). */
void
db_time(struct db_params *params, int64_t ms)
{
    unsigned char *room = (unsigned char *) params->room[params->count];
    uint64_t us = (uint64_t) ((ms - 946684800000LL) * 1000);
    for (int i = 7; i >= 0; i--, us >>= 8)
        room[i] = (unsigned char) us;
    db_octets(params, room, 8);
}

enum az_status
db_words(TALLOC_CTX *mem, struct db_params *params, const char *const *words, size_t count)
{
    char *text = talloc_strdup(mem, "{");
    for (size_t i = 0; i < count && text != NULL; i++) {
        text = talloc_strdup_append_buffer(text, i == 0 ? "\"" : ",\"");
        /* In runs up to the next octet that is escaped: a word may be a megabyte. */
        for (const char *c = words[i]; *c != '\0' && text != NULL;) {
            bool escaped = *c == '"' || *c == '\\';
            size_t run = strcspn(c + escaped, "\"\\") + escaped;
            if (escaped)
                text = talloc_strndup_append_buffer(text, "\\", 1);
            text = talloc_strndup_append_buffer(text, c, run);
            c += run;
        }
        text = talloc_strdup_append_buffer(text, "\"");
    }
    text = talloc_strdup_append_buffer(text, "}");
    if (text == NULL)
        return AZ_SERVER_ERROR;
    db_text(params, text);
    return AZ_OK;
}

enum az_status
db_exec(struct op *op, const struct db_stmt *stmt, const struct db_params *params, bool reads_only,
        PGresult **ret_result)
{
    struct db_batch *batch = db_batch_new(op);
    struct db_step *step = db_batch_add(batch, stmt);
    if (step == NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "no memory");
    /* The room of numbers moves with the copy: point the values at it again. */
    if (params != NULL) {
        step->params = *params;
        for (int i = 0; i < params->count; i++)
            if (params->value[i] == params->room[i])
                step->params.value[i] = step->params.room[i];
    }
    enum az_status st = db_run(op, batch, reads_only);
    if (st != AZ_OK || ret_result == NULL)
        return st;
    *ret_result = step->result;
    return AZ_OK;
}

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

static int
hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

enum az_status
db_get_octets(TALLOC_CTX *mem, const PGresult *result, int row, int column, unsigned char **ret,
              size_t *ret_len)
{
    const char *text = db_get(result, row, column);
    if (text == NULL || text[0] != '\\' || text[1] != 'x' || strlen(text) % 2 != 0)
        return AZ_INVALID;
    size_t len = strlen(text) / 2 - 1;
    unsigned char *octets = talloc_array(mem, unsigned char, (unsigned) len + 1);
    if (octets == NULL)
        return AZ_SERVER_ERROR;
    for (size_t i = 0; i < len; i++) {
        int high = hex_digit(text[2 + 2 * i]), low = hex_digit(text[3 + 2 * i]);
        if (high < 0 || low < 0) {
            talloc_free(octets);
            return AZ_INVALID;
        }
        octets[i] = (unsigned char) (high << 4 | low);
    }
    octets[len] = '\0';
    *ret = octets;
    *ret_len = len;
    return AZ_OK;
}

enum az_status
db_get_words(TALLOC_CTX *mem, const PGresult *result, int row, int column, const char ***ret)
{
    const char *text = db_get(result, row, column);
    if (text == NULL) {
        *ret = NULL;
        return AZ_OK;
    }
    json_auto_t *array = json_loads(text, 0, NULL);
    size_t count = json_array_size(array), index;
    const char **words =
        json_is_array(array) ? talloc_zero_array(mem, const char *, (unsigned) count + 1) : NULL;
    json_t *word;
    json_array_foreach (array, index, word)
        if (words != NULL
            && (!json_is_string(word)
                || (words[index] = talloc_strdup(words, json_string_value(word))) == NULL))
            TALLOC_FREE(words);
    *ret = words;
    return words != NULL ? AZ_OK : AZ_SERVER_ERROR;
}
