/* Rows that are read by a table: each kind of column, values that are refused, and no memory. */
#include "config.h"

#include "store/db/trip/db_row.h"

#include <limits.h>
#include <string.h>

#include "env.h"
#include "scarce.h"
#include "tap.h"

struct sample {
    const char *text;
    bool truth;
    int64_t number;
    int small;
    size_t size;
    unsigned char fixed[2];
    const unsigned char *octets;
    size_t length;
    const unsigned char *exact;
    json_t *json;
    const char **words;
};

/* clang-format off */
static const struct db_column columns[] = {
    {"skipped", DB_SKIP},
    {"text",    DB_INTO(struct sample, text), .needed = true},
    {"truth",   DB_INTO(struct sample, truth)},
    {"number",  DB_INTO(struct sample, number)},
    {"small",   DB_INTO(struct sample, small)},
    {"size",    DB_INTO(struct sample, size)},
    {"fixed",   DB_INTO(struct sample, fixed)},
    {"octets",  DB_OCTETS_INTO(struct sample, octets, length)},
    {"exact",   DB_EXACTLY_INTO(struct sample, exact, 2)},
    {"json",    DB_INTO(struct sample, json)},
    {"words",   DB_INTO(struct sample, words)},
};
#define COUNT (sizeof(columns) / sizeof(columns[0]))

/* A row that can be read. */
static const char *const good[COUNT] = {
    "?", "text", "t", "-5", "7", "9", "\\x0102", "\\x0a0b0c", "\\x0d0e", "{\"a\":[1]}", "[\"b\",\"c\"]",
};

/* A row as the good one, but for one column. */
static const struct {
    const char *column;
    const char *value; /* NULL: SQL NULL */
    bool is_read;
    const char *name;
} cases[] = {
    {"skipped", NULL, true, "NULL in a column that nothing reads"},
    {"text", "", true, "an empty text"},
    {"text", NULL, false, "NULL where a value is needed"},
    {"truth", NULL, true, "NULL where it is allowed: a boolean"},
    {"truth", "f", true, "false"},
    {"truth", "true", false, "a boolean that PostgreSQL does not write"},
    {"truth", "", false, "... an empty one"},
    {"number", NULL, true, "... a number"},
    {"number", "9223372036854775807", true, "the largest number"},
    {"number", "9223372036854775808", false, "one past it"},
    {"number", "-9223372036854775808", true, "the smallest number"},
    {"number", "-9223372036854775809", false, "one below it"},
    {"number", "", false, "an empty number"},
    {"number", "1.5", false, "a number that is not whole"},
    {"number", "x", false, "a text for a number"},
    {"small", "2147483647", true, "the largest int"},
    {"small", "2147483648", false, "one past it"},
    {"small", "-2147483648", true, "the smallest int"},
    {"small", "-2147483649", false, "one below it"},
    {"size", "0", true, "a size of 0"},
    {"size", "-1", false, "a size below it"},
    {"fixed", NULL, false, "NULL for octets that are always there"},
    {"fixed", "\\x01", false, "one octet in place of two"},
    {"fixed", "\\x010203", false, "three of them"},
    {"fixed", "\\x01zz", false, "octets that are not hexadecimal"},
    {"fixed", "0102", false, "octets in another form"},
    {"octets", NULL, true, "... octets"},
    {"octets", "\\x", true, "no octets"},
    {"octets", "\\x0", false, "half of an octet"},
    {"octets", "", false, "an empty text for octets"},
    {"exact", NULL, true, "... octets of one length"},
    {"exact", "\\x0d", false, "octets of a shorter one"},
    {"exact", "\\x0d0e0f", false, "octets of a longer one"},
    {"json", NULL, true, "... JSON"},
    {"json", "{", false, "a text that is not JSON"},
    {"words", NULL, true, "... words"},
    {"words", "[]", true, "no words"},
    {"words", "{}", false, "an object for words"},
    {"words", "[1]", false, "a number for a word"},
};
/* clang-format on */

static const struct db_table *
table(size_t count)
{
    static struct db_table some;
    some = (struct db_table){columns, count, sizeof(struct sample)};
    return &some;
}

/* Return a result with rows of the good values, but for one column of the last. */
static PGresult *
result_of(int rows, size_t different, const char *value)
{
    PGresult *result = PQmakeEmptyPGresult(NULL, PGRES_TUPLES_OK);
    PGresAttDesc fields[COUNT];
    memset(fields, 0, sizeof(fields));
    for (size_t i = 0; i < COUNT; i++)
        fields[i].name = (char *) (uintptr_t) columns[i].name;
    PQsetResultAttrs(result, (int) COUNT, fields);
    for (int row = 0; row < rows; row++)
        for (size_t i = 0; i < COUNT; i++) {
            const char *text = row == rows - 1 && i == different ? value : good[i];
            PQsetvalue(result, row, (int) i, (char *) (uintptr_t) text,
                       text != NULL ? (int) strlen(text) : -1);
        }
    return result;
}

static size_t
column_of(const char *name)
{
    size_t i = 0;
    while (strcmp(columns[i].name, name) != 0)
        i++;
    return i;
}

static bool
is_whole(const struct sample *got)
{
    return strcmp(got->text, "text") == 0 && got->truth && got->number == -5 && got->small == 7
           && got->size == 9 && memcmp(got->fixed, "\1\2", 2) == 0 && got->length == 3
           && memcmp(got->octets, "\x0a\x0b\x0c", 3) == 0 && memcmp(got->exact, "\x0d\x0e", 2) == 0
           && json_array_size(json_object_get(got->json, "a")) == 1
           && strcmp(got->words[0], "b") == 0 && strcmp(got->words[1], "c") == 0
           && got->words[2] == NULL;
}

static bool
is_empty(const struct sample *got)
{
    static const struct sample empty;
    return memcmp(got, &empty, sizeof(empty)) == 0;
}

static void
test_cases(struct op *op)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        PGresult *result = result_of(1, column_of(cases[i].column), cases[i].value);
        struct sample got;
        memset(&got, 0, sizeof(got));
        got.number = 3;
        enum az_status st = db_read_row(op, result, 0, table(COUNT), &got);
        is_int(st, cases[i].is_read ? AZ_OK : AZ_SERVER_ERROR, "%s: %s", cases[i].column,
               cases[i].name);
        if (!cases[i].is_read) {
            ok(strstr(op->fault.detail, cases[i].column) != NULL, "... the fault names the column");
            ok(is_empty(&got), "... and nothing is left of the row");
        } else if (strcmp(cases[i].column, "number") == 0 && cases[i].value == NULL) {
            is_int(got.number, 3, "... the default stays");
        }
        az_fault_clear(&op->fault);
        PQclear(result);
    }
}

static void
test_shape(struct op *op)
{
    PGresult *result = result_of(2, COUNT, NULL);
    struct sample got = {.number = 3}, *all;
    size_t count = 0;
    is_int(db_read_row(op, result, 0, table(COUNT), &got), AZ_OK, "a row of each kind");
    ok(is_whole(&got), "... has its values");
    ok(got.text == PQgetvalue(result, 0, 1), "... its texts stay in the result");
    is_int(db_read_rows(op, result, table(COUNT), &all, &count), AZ_OK, "all rows");
    ok(count == 2 && is_whole(&all[0]) && is_whole(&all[1]), "... have their values");
    is_int(db_read_row(op, result, 0, table(COUNT - 1), &got), AZ_SERVER_ERROR,
           "more columns than the table has are refused");
    ok(is_empty(&got), "... and nothing is left of the row");
    az_fault_clear(&op->fault);
    PGresult *narrow = PQmakeEmptyPGresult(NULL, PGRES_TUPLES_OK);
    PGresAttDesc field = {.name = (char *) (uintptr_t) "skipped"};
    PQsetResultAttrs(narrow, 1, &field);
    PQsetvalue(narrow, 0, 0, (char *) (uintptr_t) "1", 1);
    is_int(db_read_row(op, narrow, 0, table(COUNT), &got), AZ_SERVER_ERROR,
           "too few columns are refused");
    az_fault_clear(&op->fault);
    is_int(db_read_row(op, result, 2, table(COUNT), &got), AZ_SERVER_ERROR,
           "a row that is not there is refused");
    az_fault_clear(&op->fault);
    PQclear(narrow);
    PQclear(result);
}

/* Copy a row; the copy must not need the result. */
static enum scarce_outcome
attempt(TALLOC_CTX *mem, void *arg)
{
    struct op *op = arg;
    struct sample got = {.number = 3};
    PGresult *result = result_of(1, COUNT, NULL);
    enum az_status st = db_copy_row(op, mem, result, 0, table(COUNT), &got);
    PQclear(result);
    az_fault_clear(&op->fault);
    return st == AZ_OK ? (is_whole(&got) ? SCARCE_WHOLE : SCARCE_WRONG)
           : st == AZ_SERVER_ERROR && is_empty(&got) ? SCARCE_FAILED
                                                     : SCARCE_WRONG;
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct op op = env_op(mem, env_az(mem));
    plan(0);
    test_cases(&op);
    test_shape(&op);
    struct scarce_count count = scarce_talloc(attempt, &op, 4096, 8);
    scarce_is_seen(&count, "talloc");
    count = scarce_jansson(attempt, &op);
    scarce_is_seen(&count, "Jansson");
    talloc_free(mem);
    return done();
}
