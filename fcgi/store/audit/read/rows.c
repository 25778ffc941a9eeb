#include "config.h"

#include "store/audit/read/rows.h"

#include <string.h>

#include "base/pack.h"
#include "base/words.h"
#include "store/audit/read/rows_private.h"

/* ---- the statements ---- */

/* Columns of a row. */
#define ROW_COLUMNS                                                                                \
    " id, to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')"             \
    " AS created_at, request_id, flow_id, client_id, subject_id, endpoint, operation, method,"     \
    " http_status, outcome, host(ip) AS ip, user_agent, request_summary,"                          \
    " policy_input, policy_decision"

/*
 * Rows of a day that match, from the largest id below $11 down to $12, until their documents have
 * $15 octets; at least one. Each statement names its day: a plan for all days takes 20 ms to make.
 * $16 to $20 are searched for; the summary is the text that jsonx_dump wrote, in which a quote
 * within a value has a backslash before it. A condition between the two halves has an index of its
 * own in the order of ids, so that only rows that match it are looked at.
 */
#define ROWS                                                                                       \
    "SELECT" ROW_COLUMNS " FROM (SELECT p.*, row_number() OVER (ORDER BY id DESC) AS place,"       \
    "  sum(coalesce(octet_length(policy_input), 0) + coalesce(octet_length(policy_decision), 0))"  \
    "   OVER (ORDER BY id DESC) AS held"                                                           \
    "  FROM (SELECT * FROM audit_log_p%D a WHERE " AUDIT_MATCHES
/* The reason $16 within the text of a summary: as a word of words_join_texts, or as it is, which is
 * how older rows have it. */
#define REASON_WORDS                                                                               \
    "ARRAY[regexp_replace(to_json(replace(replace($16, '%', '%25'), ' ', '%20'))::text, "          \
    "'^\"|\"$', '', 'g'), regexp_replace(to_json($16)::text, '^\"|\"$', '', 'g')]"
#define DOWN                                                                                       \
    "   AND a.id < $11::bigint AND a.id >= $12::bigint"                                            \
    "   AND ($16::text IS NULL OR " REASON_WORDS " && string_to_array("                            \
    "    substring(a.request_summary from '\"denyCodes\":\"((?:[^\"\\\\]|\\\\.)*)\"'), ' '))"      \
    "   AND ($17::text IS NULL OR strpos(a.request_summary, '\"resource\":' || to_json($17)) > 0)" \
    "   AND ($18::text IS NULL OR strpos(a.request_summary, '\"tool\":' || to_json($18)) > 0)"     \
    "   AND ($19::inet IS NULL OR a.ip = $19::inet)"                                               \
    "   AND ($20::text IS NULL OR strpos(replace(a.request_summary, '\"role\":', ''), '\":' || "   \
    "to_json($20)) > 0)"                                                                           \
    "   ORDER BY a.id DESC LIMIT $13 OFFSET $14) p) q"                                             \
    " WHERE held <= $15::bigint OR place = 1 ORDER BY id DESC"

/* clang-format off */
static const struct db_stmt rows_by_sample_stmt = {
    "rows_by_sample", ROWS " AND a.id = ANY (ARRAY(SELECT s.id FROM audit_log_p%D s"
    " WHERE s.id < $11::bigint AND s.id >= $12::bigint"
    " AND (hashint8extended(s.id, $21::bigint) & 9223372036854775807) < $22::bigint))" DOWN, 22};
static const struct db_stmt rows_by_request_stmt = {
    "rows_by_request", ROWS " AND a.request_id = $6" DOWN, 20};
static const struct db_stmt rows_by_flow_stmt = {
    "rows_by_flow", ROWS " AND a.flow_id = $5::uuid" DOWN, 20};
static const struct db_stmt rows_by_subject_stmt = {
    "rows_by_subject", ROWS " AND a.subject_id = $3" DOWN, 20};
static const struct db_stmt rows_by_client_stmt = {
    "rows_by_client", ROWS " AND a.client_id = $2" DOWN, 20};
static const struct db_stmt rows_by_outcome_stmt = {
    "rows_by_outcome", ROWS " AND a.outcome = $4 AND a.outcome <> 'allowed'" DOWN, 20};
/* The index audit_log_endpoint leaves out the endpoints that most rows are of. */
#define BUSY_ENDPOINTS                                                                             \
    "('/token', '/introspect', '/userinfo', '/access/v1/evaluation', '/access/v1/evaluations')"
static const char *const busy_endpoints[] = {
    "/token", "/introspect", "/userinfo", "/access/v1/evaluation", "/access/v1/evaluations", NULL};
static const struct db_stmt rows_by_endpoint_stmt = {
    "rows_by_endpoint", ROWS " AND a.endpoint = $1 AND a.endpoint NOT IN " BUSY_ENDPOINTS DOWN, 20};
/* Requests to the admin API name their object; they are few compared with those of clients. */
static const struct db_stmt rows_by_object_stmt = {
    "rows_by_object", ROWS " AND a.endpoint LIKE '/admin/%' AND a.endpoint NOT IN " BUSY_ENDPOINTS DOWN, 20};
/* clang-format on */
enum rows_by_id_column {
    ROW_ID,
    ROW_CREATED_AT,
    ROW_REQUEST_ID,
    ROW_FLOW_ID,
    ROW_CLIENT_ID,
    ROW_SUBJECT_ID,
    ROW_ENDPOINT,
    ROW_OPERATION,
    ROW_METHOD,
    ROW_HTTP_STATUS,
    ROW_OUTCOME,
    ROW_IP,
    ROW_USER_AGENT,
    ROW_REQUEST_SUMMARY,
    ROW_POLICY_INPUT,
    ROW_POLICY_DECISION
};
static const struct db_stmt rows_by_id_stmt = {"rows_by_id", ROWS DOWN, 20};

/* An id does not tell its day, so this looks into the index of each partition. */
static const struct db_stmt rows_fetch_stmt = {
    "rows_fetch", "SELECT" ROW_COLUMNS " FROM audit_log WHERE id = $1", 1};

/* ---- a filter ---- */

void
audit_filter_bind(struct db_params *params, const struct audit_filter *filter)
{
    db_text(params, filter->endpoint);
    db_text(params, filter->client_id);
    db_text(params, filter->subject_id);
    db_text(params, filter->outcome);
    db_text(params, filter->flow_id);
    db_text(params, filter->request_id);
    db_text(params, filter->operation);
    if (filter->http_status != 0)
        db_number(params, filter->http_status);
    else
        db_text(params, NULL);
    if (filter->has_from)
        db_time(params, filter->from_ms);
    else
        db_text(params, NULL);
    if (filter->has_until)
        db_time(params, filter->until_ms);
    else
        db_text(params, NULL);
}

bool
audit_filter_is_fine(const struct audit_filter *filter)
{
    return filter->subject_id != NULL || filter->flow_id != NULL || filter->request_id != NULL;
}

/* Return how many conditions the filter has, besides times. */
static int
count_conditions(const struct audit_filter *filter)
{
    const void *const given[] = {filter->endpoint,  filter->client_id, filter->subject_id,
                                 filter->outcome,   filter->flow_id,   filter->request_id,
                                 filter->operation, filter->reason,    filter->resource,
                                 filter->tool,      filter->ip,        filter->object};
    int count = filter->http_status != 0;
    for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++)
        count += given[i] != NULL;
    return count;
}

/*
 * Choose the statement by the condition that fewest rows match; NULL: no index knows one. *ret_few:
 * the index leads to few rows that do not match. That is so for a request, a flow, a subject or
 * an object; the rows of an outcome, an endpoint or a client may be most of the log.
 */
static const struct db_stmt *
choose_statement(const struct audit_filter *filter, bool *ret_few)
{
    bool refused = filter->outcome != NULL && strcmp(filter->outcome, "allowed") != 0;
    bool rare = filter->endpoint != NULL && !words_has(busy_endpoints, filter->endpoint);
    bool alone = count_conditions(filter) == 1;
    const struct {
        bool given, few;
        const struct db_stmt *stmt;
    } choices[] = {
        {filter->sample != NULL,     false, &rows_by_sample_stmt  },
        {filter->request_id != NULL, true,  &rows_by_request_stmt },
        {filter->flow_id != NULL,    true,  &rows_by_flow_stmt    },
        {filter->subject_id != NULL, true,  &rows_by_subject_stmt },
        {filter->object != NULL,     true,  &rows_by_object_stmt  },
        {refused,                    alone, &rows_by_outcome_stmt },
        {rare,                       alone, &rows_by_endpoint_stmt},
        {filter->client_id != NULL,  alone, &rows_by_client_stmt  },
    };
    *ret_few = false;
    for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++)
        if (choices[i].given) {
            *ret_few = choices[i].few;
            return choices[i].stmt;
        }
    return NULL;
}

/* ---- slices ---- */

struct db_step *
audit_slice_add(struct db_batch *batch, const struct audit_filter *filter,
                const struct audit_slice *slice, bool *ret_indexed)
{
    const struct db_stmt *stmt = choose_statement(filter, ret_indexed);
    struct db_step *step =
        db_batch_add_in(batch, stmt != NULL ? stmt : &rows_by_id_stmt, DB_NO_PARTITION, slice->day);
    audit_filter_bind(&step->params, filter);
    db_number(&step->params, slice->below);
    db_number(&step->params, slice->least);
    db_number(&step->params, slice->limit);
    db_number(&step->params, slice->offset);
    db_number(&step->params, slice->octets);
    db_text(&step->params, filter->reason);
    db_text(&step->params, filter->resource);
    db_text(&step->params, filter->tool);
    db_text(&step->params, filter->ip);
    db_text(&step->params, filter->object);
    if (filter->sample != NULL) {
        db_number(&step->params, filter->sample->seed);
        db_number(&step->params, filter->sample->limit);
    }
    return step;
}

int64_t
audit_rows_id(const PGresult *result, int row)
{
    return db_get_number(result, row, ROW_ID, 0);
}

/* ---- a row ---- */

enum az_status
audit_rows_fetch(struct op *op, int64_t id, PGresult **ret)
{
    struct db_params params = {.count = 0};
    db_number(&params, id);
    return db_exec(op, &rows_fetch_stmt, &params, true, ret);
}

/* In place of a document that another version packed with a dictionary that is gone; the rest of
 * the row is still worth reading. */
#define UNREADABLE "{\"error\":\"the stored document cannot be read by this version\"}"

bool
audit_rows_is_readable(const char *document)
{
    return strcmp(document, UNREADABLE) != 0;
}

/* Unpack a document of a row; *ret stays NULL if the row has none. */
static enum az_status
audit_row_unpack(struct op *op, const PGresult *result, int row, int column, const char **ret)
{
    const unsigned char *packed = NULL;
    size_t packed_length, length;
    char *text;
    enum az_status st = db_read_octets(op, result, row, column, &packed, &packed_length);
    if (st != AZ_OK || packed == NULL)
        return st;
    st = unpack_text(op->mem, packed, packed_length, &text, &length);
    if (st != AZ_OK && st != AZ_INVALID)
        return op_no_memory(op);
    *ret = st == AZ_OK ? text : UNREADABLE;
    return AZ_OK;
}

void
audit_rows_head(const PGresult *result, int row, struct audit_row *ret)
{
    *ret = (struct audit_row){
        .id = db_get_number(result, row, ROW_ID, 0),
        .created_at = db_get(result, row, ROW_CREATED_AT),
        .request_id = db_get(result, row, ROW_REQUEST_ID),
        .flow_id = db_get(result, row, ROW_FLOW_ID),
        .client_id = db_get(result, row, ROW_CLIENT_ID),
        .subject_id = db_get(result, row, ROW_SUBJECT_ID),
        .endpoint = db_get(result, row, ROW_ENDPOINT),
        .operation = db_get(result, row, ROW_OPERATION),
        .method = db_get(result, row, ROW_METHOD),
        .http_status = db_get_number(result, row, ROW_HTTP_STATUS, 0),
        .outcome = db_get(result, row, ROW_OUTCOME),
        .ip = db_get(result, row, ROW_IP),
        .user_agent = db_get(result, row, ROW_USER_AGENT),
        .summary = db_get(result, row, ROW_REQUEST_SUMMARY),
    };
}

enum az_status
audit_rows_get(struct op *op, const PGresult *result, int row, struct audit_row *ret)
{
    audit_rows_head(result, row, ret);
    enum az_status st = audit_row_unpack(op, result, row, ROW_POLICY_INPUT, &ret->input);
    if (st == AZ_OK)
        st = audit_row_unpack(op, result, row, ROW_POLICY_DECISION, &ret->decision);
    return st;
}
