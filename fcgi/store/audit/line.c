#include "config.h"

#include "store/audit/line.h"

#include <string.h>

#include "base/digits.h"
#include "base/json/jsonx_text.h"
#include "base/pack.h"
#include "crypto/digest.h"
#include "store/audit/rows_private.h"
#include "store/db/partitions.h"

/* Columns of a row, in the order of the members. */
#define LINE_COLUMNS                                                                               \
    " id, CASE WHEN created_at < '0001-01-01 00:00:00+00' THEN '-' ELSE '' END"                    \
    "  || to_char(created_at" DB_TIME " AS at,"                                                    \
    " floor(extract(epoch FROM created_at))::bigint AS created, request_id AS request,"            \
    " flow_id AS flow, client_id AS client, subject_id AS subject, endpoint, operation, method,"   \
    " http_status AS status, outcome,"                                                             \
    " host(ip) || CASE masklen(ip) WHEN CASE family(ip) WHEN 4 THEN 32 ELSE 128 END THEN ''"       \
    "  ELSE '/' || masklen(ip) END AS ip, user_agent AS agent,"                                    \
    " request_summary AS summary, policy_input AS input, policy_decision AS decision"
enum audit_lines_column {
    LINE_ID,
    LINE_AT,
    LINE_CREATED,
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
/* Rows with one id in two partitions were not written by the service; they come one after the
 * other, in one answer. A year before Christ and a network look like the year and the address. */
static const struct db_stmt audit_lines_stmt = {
    "audit_lines",
    "SELECT" LINE_COLUMNS
    " FROM (SELECT * FROM audit_log WHERE id > $1::bigint AND id <= $2::bigint"
    "  ORDER BY id FETCH FIRST ($3) ROWS WITH TIES) x ORDER BY id, created_at",
    3};

/* The same until their documents have $4 octets; at least one. */
static const struct db_stmt audit_lines_some_stmt = {
    "audit_lines_some",
    "SELECT" LINE_COLUMNS " FROM (SELECT p.*, rank() OVER (ORDER BY id) AS place,"
    "  sum(coalesce(octet_length(request_summary), 0) + coalesce(octet_length(policy_input), 0)"
    "   + coalesce(octet_length(policy_decision), 0)) OVER (ORDER BY id) AS held"
    "  FROM (SELECT * FROM audit_log WHERE id > $1::bigint AND id <= $2::bigint"
    "   ORDER BY id FETCH FIRST ($3) ROWS WITH TIES) p) x"
    " WHERE held <= $4::bigint OR place = 1 ORDER BY id, created_at",
    4};
static const struct db_stmt audit_day_lines_stmt = {
    "audit_day_lines",
    "SELECT" LINE_COLUMNS " FROM (SELECT * FROM audit_log_p%D WHERE id > $1::bigint"
    "  ORDER BY id FETCH FIRST ($2) ROWS WITH TIES) x ORDER BY id, created_at",
    2};

/* The members that are texts of columns. */
static const struct {
    const char *name;
    enum audit_lines_column column;
    bool number;
} members[] = {
    {"at",        LINE_AT,        false},
    {"request",   LINE_REQUEST,   false},
    {"flow",      LINE_FLOW,      false},
    {"client",    LINE_CLIENT,    false},
    {"subject",   LINE_SUBJECT,   false},
    {"endpoint",  LINE_ENDPOINT,  false},
    {"operation", LINE_OPERATION, false},
    {"method",    LINE_METHOD,    false},
    {"status",    LINE_STATUS,    true },
    {"outcome",   LINE_OUTCOME,   false},
    {"ip",        LINE_IP,        false},
    {"agent",     LINE_AGENT,     false},
};

enum az_status
audit_lines_read(struct op *op, int64_t after, int64_t up_to, PGresult **ret)
{
    struct db_params params = {.count = 0};
    db_number(&params, after);
    db_number(&params, up_to);
    db_number(&params, AUDIT_LINES_ROWS);
    return db_exec(op, &audit_lines_stmt, &params, true, ret);
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
    return db_exec(op, &audit_lines_some_stmt, &params, true, ret);
}

enum az_status
audit_line_row(struct op *op, const PGresult *result, int row, struct audit_row *ret)
{
    *ret = (struct audit_row){
        .id = db_get_number(result, row, LINE_ID, 0),
        .created_at = db_get(result, row, LINE_AT),
        .request_id = db_get(result, row, LINE_REQUEST),
        .flow_id = db_get(result, row, LINE_FLOW),
        .client_id = db_get(result, row, LINE_CLIENT),
        .subject_id = db_get(result, row, LINE_SUBJECT),
        .endpoint = db_get(result, row, LINE_ENDPOINT),
        .operation = db_get(result, row, LINE_OPERATION),
        .method = db_get(result, row, LINE_METHOD),
        .http_status = db_get_number(result, row, LINE_STATUS, 0),
        .outcome = db_get(result, row, LINE_OUTCOME),
        .ip = db_get(result, row, LINE_IP),
        .user_agent = db_get(result, row, LINE_AGENT),
        .summary = db_get(result, row, LINE_SUMMARY),
    };
    enum az_status st = audit_row_unpack(op, result, row, LINE_INPUT, &ret->input);
    return st == AZ_OK ? audit_row_unpack(op, result, row, LINE_DECISION, &ret->decision) : st;
}

enum az_status
audit_lines_fetch(struct op *op, int64_t id, PGresult **ret)
{
    return audit_lines_read(op, id - 1, id, ret);
}

enum az_status
audit_lines_read_day(struct op *op, uint32_t day, int64_t after, PGresult **ret)
{
    struct db_batch *batch = db_batch_new(op);
    struct db_step *step = db_batch_add_in(batch, &audit_day_lines_stmt, DB_NO_PARTITION, day);
    db_number(&step->params, after);
    db_number(&step->params, AUDIT_LINES_ROWS);
    enum az_status st = db_run(op, batch, true);
    *ret = step->result;
    return st;
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

/* Return the octets of a JSON string with its quotes, whose first quote is at text; 0: it has no
 * end, or a line feed. */
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
put_document(struct buf *line, const char *name, const char *text)
{
    buf_append_format(line, ",\"%s\":", name);
    if (is_object(text))
        buf_append_text(line, text);
    else
        put_string(line, text);
}

/* Append a packed document. */
static enum az_status
put_packed(struct op *op, struct buf *line, const PGresult *result, int row, int column,
           const char *name)
{
    const unsigned char *packed = NULL;
    size_t packed_length = 0, length;
    char *text, hex[SHA256_HEX_SIZE];
    enum az_status st = db_read_octets(op, result, row, column, &packed, &packed_length);
    if (st != AZ_OK || packed == NULL)
        return st;
    st = unpack_text(op->mem, packed, packed_length, &text, &length);
    if (st == AZ_OK && strlen(text) == length)
        put_document(line, name, text);
    else if (st == AZ_OK || st == AZ_INVALID) {
        st = sha256_hex(packed, packed_length, hex);
        buf_append_format(line, ",\"%s\":{\"damaged\":\"%s\"}", name, hex);
    }
    return st == AZ_OK ? AZ_OK
                       : op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory for an audit row");
}

enum az_status
audit_line_get(struct op *op, const PGresult *result, int row, struct audit_line *ret)
{
    BUF_AUTO line;
    const char *summary = db_get(result, row, LINE_SUMMARY);
    buf_init(&line, op->mem, AUDIT_LINE_MAX);
    ret->id = db_get_number(result, row, LINE_ID, 0);
    ret->day = partition_day(db_get_number(result, row, LINE_CREATED, 0));
    buf_append_format(&line, "{\"v\":1,\"id\":%lld", (long long) ret->id);
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        const char *text = db_get(result, row, members[i].column);
        if (text == NULL)
            continue;
        buf_append_format(&line, ",\"%s\":", members[i].name);
        if (members[i].number)
            buf_append_text(&line, text);
        else
            put_string(&line, text);
    }
    if (summary != NULL)
        put_document(&line, "summary", summary);
    enum az_status st = put_packed(op, &line, result, row, LINE_INPUT, "input");
    if (st == AZ_OK)
        st = put_packed(op, &line, result, row, LINE_DECISION, "decision");
    buf_append_char(&line, '}');
    if (st == AZ_OK && (ret->text = buf_take(&line, &ret->length)) == NULL)
        st = op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory for the line of audit row %lld",
                     (long long) ret->id);
    return st;
}
