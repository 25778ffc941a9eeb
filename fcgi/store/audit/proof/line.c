#include "config.h"

#include "store/audit/proof/line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/iso8601.h"
#include "base/json/jsonx_text.h"
#include "base/pack.h"
#include "crypto/digest.h"
#include "store/audit/read/rows_private.h"
#include "store/db/keep/partitions.h"

/* 2000-01-01T00:00Z, from which PostgreSQL counts. Milliseconds since 1970. */
#define POSTGRES_EPOCH_MS 946684800000LL

/* Columns of a row, in the order of the members, and of rows.c, whose reader takes them. Functions
 * that format cost more than all else: a time comes as the octets that PostgreSQL stores, and the
 * text of an address has a network if it is one. */
#define LINE_COLUMNS                                                                               \
    " id, timestamptz_send(created_at) AS at, request_id AS request, flow_id AS flow,"             \
    " client_id AS client, subject_id AS subject, endpoint, operation, method,"                    \
    " http_status AS status, outcome, ip, user_agent AS agent,"                                    \
    " request_summary AS summary, policy_input AS input, policy_decision AS decision"
enum audit_lines_column {
    LINE_ID,
    LINE_AT,
    LINE_REQUEST,
    LINE_FLOW,
    LINE_CLIENT,
    LINE_SUBJECT,
    LINE_ENDPOINT,
    LINE_OPERATION,
    LINE_METHOD,
    LINE_STATUS,
    LINE_OUTCOME,
    LINE_IP,
    LINE_AGENT,
    LINE_SUMMARY,
    LINE_INPUT,
    LINE_DECISION
};
/* Rows until their documents have $4 octets; at least one. Rows with one id in two partitions were
 * not written by the service; they come one after the other, in one answer, and in the order of
 * their times by the second statement. */
#define LINES                                                                                      \
    "SELECT" LINE_COLUMNS " FROM (SELECT p.*, rank() OVER (ORDER BY id) AS place,"                 \
    "  sum(coalesce(octet_length(request_summary), 0) + coalesce(octet_length(policy_input), 0)"   \
    "   + coalesce(octet_length(policy_decision), 0)) OVER (ORDER BY id) AS held"                  \
    "  FROM (SELECT * FROM audit_log WHERE id > $1::bigint AND id <= $2::bigint"                   \
    "   ORDER BY id FETCH FIRST ($3) ROWS WITH TIES) p) x"                                         \
    " WHERE held <= $4::bigint OR place = 1 ORDER BY id"
static const struct db_stmt audit_lines_stmt = {"audit_lines", LINES, 4};
static const struct db_stmt audit_lines_twice_stmt = {"audit_lines_twice", LINES ", created_at", 4};
static const struct db_stmt audit_day_lines_stmt = {
    "audit_day_lines",
    "SELECT" LINE_COLUMNS " FROM (SELECT * FROM audit_log_p%D WHERE id > $1::bigint"
    "  ORDER BY id FETCH FIRST ($2) ROWS WITH TIES) x ORDER BY id, created_at",
    2};

/* The members that are texts of columns, as they begin. */
static const struct {
    const char *begin;
    enum audit_lines_column column;
    bool number;
} members[] = {
    {",\"request\":",   LINE_REQUEST,   false},
    {",\"flow\":",      LINE_FLOW,      false},
    {",\"client\":",    LINE_CLIENT,    false},
    {",\"subject\":",   LINE_SUBJECT,   false},
    {",\"endpoint\":",  LINE_ENDPOINT,  false},
    {",\"operation\":", LINE_OPERATION, false},
    {",\"method\":",    LINE_METHOD,    false},
    {",\"status\":",    LINE_STATUS,    true },
    {",\"outcome\":",   LINE_OUTCOME,   false},
    {",\"ip\":",        LINE_IP,        false},
    {",\"agent\":",     LINE_AGENT,     false},
};

/* Read rows by one of the two statements. */
static enum az_status
read_lines(struct op *op, const struct db_stmt *stmt, const struct db_params *params,
           PGresult **ret)
{
    struct db_batch *batch = db_batch_new(op);
    db_batch_begin(batch);
    db_batch_add(batch, &audit_plan_once_stmt);
    struct db_step *step = db_batch_add(batch, stmt);
    db_batch_commit(batch);
    db_params_copy(&step->params, params);
    enum az_status st = db_run(op, batch, true);
    *ret = step->result;
    return st;
}

/* True if two rows have one id. */
static bool
has_twins(const PGresult *result)
{
    for (int i = 1; i < PQntuples(result); i++)
        if (strcmp(PQgetvalue(result, i, LINE_ID), PQgetvalue(result, i - 1, LINE_ID)) == 0)
            return true;
    return false;
}

enum az_status
audit_lines_read_some(struct op *op, int64_t after, int64_t up_to, int64_t rows, int64_t octets,
                      PGresult **ret)
{
    struct db_params params = {.count = 0};
    db_number(&params, after);
    db_number(&params, up_to);
    db_number(&params, rows);
    db_number(&params, octets);
    enum az_status st = read_lines(op, &audit_lines_stmt, &params, ret);
    return st == AZ_OK && has_twins(*ret) ? read_lines(op, &audit_lines_twice_stmt, &params, ret)
                                          : st;
}

enum az_status
audit_lines_read(struct op *op, int64_t after, int64_t up_to, PGresult **ret)
{
    return audit_lines_read_some(op, after, up_to, AUDIT_LINES_ROWS, AUDIT_LINES_OCTETS, ret);
}

/* Octets of a time with its NUL: ISO 8601, or a number. */
#define TIME_SIZE 32

/* Write the time of a row, cut to milliseconds, and return it in seconds since 1970. A time that
 * ISO 8601 has no year for is the number of its microseconds since 2000. */
static int64_t
read_time(const PGresult *result, int row, char text[TIME_SIZE])
{
    const char *octets = db_get(result, row, LINE_AT);
    uint64_t stored = octets != NULL ? strtoull(octets + strlen("\\x"), NULL, 16) : 0;
    int64_t us = (int64_t) stored, ms = us / 1000 - (us % 1000 < 0);
    ms += POSTGRES_EPOCH_MS;
    if (iso8601_format_ms(ms, text) != AZ_OK)
        snprintf(text, TIME_SIZE, "%lld", (long long) us);
    return ms / 1000 - (ms % 1000 < 0);
}

enum az_status
audit_line_row(struct op *op, const PGresult *result, int row, struct audit_row *ret)
{
    char *at = talloc_zero_size(op->mem, TIME_SIZE);
    if (at == NULL)
        return op_no_memory(op);
    read_time(result, row, at);
    enum az_status st = audit_rows_get(op, result, row, ret);
    ret->created_at = at;
    return st;
}

/* Read rows of a day with ids above `after`. *ret is NULL if the day has no partition. */
static enum az_status
read_day(struct op *op, uint32_t day, int64_t after, int64_t rows, PGresult **ret)
{
    struct db_batch *batch = db_batch_new(op);
    struct db_step *step = db_batch_add_in(batch, &audit_day_lines_stmt, DB_NO_PARTITION, day);
    db_number(&step->params, after);
    db_number(&step->params, rows);
    enum az_status st = db_run_or_retry(op, batch, true, SQLSTATE_UNDEFINED_TABLE);
    *ret = st == AZ_OK ? step->result : NULL;
    return st == AZ_RETRY ? AZ_OK : st;
}

enum az_status
audit_lines_fetch(struct op *op, int64_t id, int64_t day, PGresult **ret)
{
    enum az_status st =
        day >= 0 && day < DB_NO_PARTITION ? read_day(op, (uint32_t) day, id - 1, 1, ret) : AZ_OK;
    if (st != AZ_OK || (*ret != NULL && PQntuples(*ret) == 1 && audit_line_id(*ret, 0) == id))
        return st;
    return audit_lines_read(op, id - 1, id, ret);
}

enum az_status
audit_lines_read_day(struct op *op, uint32_t day, int64_t after, PGresult **ret)
{
    return read_day(op, day, after, AUDIT_DAY_ROWS, ret);
}

int64_t
audit_line_id(const PGresult *result, int row)
{
    return db_get_number(result, row, LINE_ID, 0);
}

/* Append a JSON string by RFC 8785 section 3.2.2.2: escapes of control characters have small
 * letters. */
static void
put_string(struct buf *line, const char *text)
{
    buf_append_char(line, '"');
    for (size_t length = strlen(text); length > 0;) {
        size_t plain = 0;
        while (plain < length && (unsigned char) text[plain] >= 0x20 && text[plain] != '"'
               && text[plain] != '\\')
            plain++;
        buf_append(line, text, plain);
        text += plain;
        length -= plain;
        if (length > 0) {
            char escape[JSONX_ESCAPE_MAX];
            size_t taken = jsonx_put_escape(escape, (unsigned char) *text++);
            for (size_t i = 2; i < taken; i++)
                if (escape[i] >= 'A' && escape[i] <= 'F')
                    escape[i] = (char) (escape[i] - 'A' + 'a');
            buf_append(line, escape, taken);
            length--;
        }
    }
    buf_append_char(line, '"');
}

/* Return the octets of a JSON string with its quotes, whose first quote is at text; 0: the string
 * has no end, or contains a line feed. */
static size_t
string_length(const char *text)
{
    for (size_t at = 1; text[at] != '\0' && text[at] != '\n'; at++) {
        if (text[at] == '"')
            return at + 1;
        if (text[at] == '\\' && text[++at] == '\0')
            return 0;
    }
    return 0;
}

/* True if a text is one JSON object by its brackets and strings, without a line feed: then nothing
 * in it can be taken for a member beside it. */
static bool
is_object(const char *text)
{
    size_t depth = 0;
    if (*text != '{')
        return false;
    while (*text != '\0' && *text != '\n') {
        size_t taken = *text == '"' ? string_length(text) : 1;
        if (taken == 0)
            return false;
        if (*text == '{' || *text == '[')
            depth++;
        else if ((*text == '}' || *text == ']') && --depth == 0)
            return text[1] == '\0';
        text += taken;
    }
    return false;
}

static void
put_document(struct buf *line, const char *begin, const char *text)
{
    buf_append_text(line, begin);
    if (is_object(text))
        buf_append_text(line, text);
    else
        put_string(line, text);
}

/* Append a packed document. */
static enum az_status
put_packed(struct op *op, struct buf *line, const PGresult *result, int row, int column,
           const char *begin)
{
    unsigned char *packed;
    size_t packed_length = 0, length;
    char *text = NULL, hex[SHA256_HEX_SIZE];
    if (db_get(result, row, column) == NULL)
        return AZ_OK;
    enum az_status st = db_get_octets(op->mem, result, row, column, &packed, &packed_length);
    if (st != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "database: column %s cannot be read",
                       PQfname(result, column));
    st = unpack_text(op->mem, packed, packed_length, &text, &length);
    if (st == AZ_OK && strlen(text) == length)
        put_document(line, begin, text);
    else if (st == AZ_OK || st == AZ_INVALID) {
        st = sha256_hex(packed, packed_length, hex);
        buf_append_format(line, "%s{\"damaged\":\"%s\"}", begin, hex);
    }
    talloc_free(packed);
    talloc_free(text);
    return st == AZ_OK ? AZ_OK : op_no_memory(op);
}

enum az_status
audit_line_get(struct op *op, const PGresult *result, int row, struct audit_line *ret)
{
    BUF_AUTO line;
    char at[TIME_SIZE];
    const char *summary = db_get(result, row, LINE_SUMMARY);
    buf_init(&line, op->mem, AUDIT_LINE_MAX);
    ret->id = db_get_number(result, row, LINE_ID, 0);
    ret->day = partition_day(read_time(result, row, at));
    buf_append_format(&line, "{\"v\":1,\"id\":%lld,\"at\":\"%s\"", (long long) ret->id, at);
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        const char *text = db_get(result, row, members[i].column);
        if (text == NULL)
            continue;
        buf_append_text(&line, members[i].begin);
        if (members[i].number)
            buf_append_text(&line, text);
        else
            put_string(&line, text);
    }
    if (summary != NULL)
        put_document(&line, ",\"summary\":", summary);
    enum az_status st = put_packed(op, &line, result, row, LINE_INPUT, ",\"input\":");
    if (st == AZ_OK)
        st = put_packed(op, &line, result, row, LINE_DECISION, ",\"decision\":");
    buf_append_char(&line, '}');
    if (st == AZ_OK && (ret->text = buf_take(&line, &ret->length)) == NULL)
        st = op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory for the line of audit row %lld",
                     (long long) ret->id);
    return st;
}
