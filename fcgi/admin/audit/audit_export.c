#include "config.h"

#include "admin/audit/audit_export.h"

#include <string.h>
#include <time.h>

#include "admin/audit/audit_filter.h"
#include "admin/audit/audit_text.h"
#include "base/clock.h"
#include "base/iso8601.h"
#include "base/settings/settings.h"
#include "store/db/locks.h"

/* An export works for one third of the time and sleeps for the rest. With one half, p99 of /token
 * was twice as long on a busy machine. */
#define EXPORT_REST 2

/* Octets that are collected before they are sent. */
#define EXPORT_PIECE (64 << 10)

/* clang-format off */
const struct route_param audit_export_params[] = {
    AUDIT_FILTER_PARAMS,
    AUDIT_FILTER_SEARCH,
    AUDIT_FILTER_DAYS,
    AUDIT_FILTER_INSTANTS,
    {.name = "format", .help = "json, ndjson or csv; json if it is left out"},
    {.name = NULL},
};
/* clang-format on */

struct export
{
    const struct export_format *format;
    struct audit_filter filter;
    struct audit_walk walk;
    int64_t count;  /* rows written */
    int64_t most;   /* rows that may be written */
    bool truncated; /* there are more */
};

/* One format of the export. */
struct export_format {
    const char *name, *type, *disposition;
    void (*begin)(struct request *req, const struct export *export, struct buf *out);
    void (*row)(struct buf *out, const struct export *export, const struct audit_row *row);
    void (*end)(const struct export *export, struct buf *out);
};

/* ---- the forms ---- */

static void
json_begin(struct request *req, const struct export *export, struct buf *out)
{
    char now[ISO8601_MS_SIZE];
    const char *between = "";
    (void) export;
    iso8601_format_ms(req->op.now_ms, now);
    buf_append_format(out, "{\"exportedAt\":\"%s\",\"filters\":{", now);
    for (const struct route_param *param = audit_export_params; param->name != NULL; param++) {
        const char *value = audit_filter_param(req, param->name);
        if (value == NULL || strcmp(param->name, "format") == 0)
            continue;
        buf_append_format(out, "%s\"%s\":", between, param->name);
        audit_text_quote(out, value);
        between = ",";
    }
    buf_append_text(out, "},\"rows\":[");
}

static void
json_row(struct buf *out, const struct export *export, const struct audit_row *row)
{
    buf_append_text(out, export->count > 0 ? ",\n" : "\n");
    audit_text_json(out, row);
}

static void
json_end(const struct export *export, struct buf *out)
{
    buf_append_format(out, "\n],\"count\":%lld,\"truncated\":%s}\n", (long long) export->count,
                      export->truncated ? "true" : "false");
}

static void
ndjson_row(struct buf *out, const struct export *export, const struct audit_row *row)
{
    (void) export;
    audit_text_json(out, row);
    buf_append_char(out, '\n');
}

/* A list that breaks off must not look complete. */
static void
ndjson_end(const struct export *export, struct buf *out)
{
    if (export->truncated)
        buf_append_text(out, "{\"truncated\":true}\n");
}

static void
csv_begin(struct request *req, const struct export *export, struct buf *out)
{
    (void) req;
    (void) export;
    audit_text_csv_head(out);
}

static void
csv_row(struct buf *out, const struct export *export, const struct audit_row *row)
{
    (void) export;
    audit_text_csv(out, row);
}

static void
csv_end(const struct export *export, struct buf *out)
{
    if (export->truncated)
        buf_append_text(out, "truncated\r\n");
}

#define ATTACHMENT(name) "attachment; filename=\"" name "\""

static const struct export_format formats[] = {
    {"json",   "application/json",        ATTACHMENT("audit-logs.json"),   json_begin, json_row,   json_end},
    {"ndjson", "application/x-ndjson",    ATTACHMENT("audit-logs.ndjson"), NULL,       ndjson_row,
     ndjson_end                                                                                            },
    {"csv",    "text/csv; charset=utf-8", ATTACHMENT("audit-logs.csv"),    csv_begin,  csv_row,    csv_end },
};

static const struct export_format *
find_format(const char *name)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        if (name == NULL || strcmp(formats[i].name, name) == 0)
            return &formats[i];
    return NULL;
}

/* ---- sending ---- */

/* Send the text of the buffer and empty it. */
static enum az_status
flush(struct request *req, struct buf *out)
{
    if (out->status != AZ_OK)
        return op_fail(&req->op, AZ_SERVER_ERROR, NULL, "an audit row is too large to be exported");
    enum az_status st = out->len > 0 ? response_write(req, out->data, out->len) : AZ_OK;
    out->len = 0;
    return st;
}

/* Send the rows of one step. Each has memory of its own: a document may be 1 MB when unpacked. */
static enum az_status
send_rows(struct request *req, struct export *export, const PGresult *result, struct buf *out)
{
    enum az_status st = AZ_OK;
    for (int i = 0; i < PQntuples(result) && st == AZ_OK; i++) {
        struct op each = req->op;
        struct audit_row row;
        if (export->count == export->most) {
            export->truncated = true;
            return AZ_OK;
        }
        if ((each.mem = talloc_new(req->op.mem)) == NULL)
            return op_fail(&req->op, AZ_SERVER_ERROR, NULL, "out of memory");
        st = audit_rows_get(&each, result, i, &row);
        req->op.fault = each.fault;
        if (st == AZ_OK) {
            export->format->row(out, export, &row);
            export->count++;
        }
        talloc_free(each.mem);
        if (st == AZ_OK && (out->len > EXPORT_PIECE || out->status != AZ_OK))
            st = flush(req, out);
    }
    return st;
}

/* Sleep for a multiple of the time that the work took: the process, the database and the web server
 * are free for other requests then. */
static void
rest(int64_t worked_us)
{
    int64_t us = worked_us * EXPORT_REST;
    const struct timespec pause = {us / 1000000, us % 1000000 * 1000};
    nanosleep(&pause, NULL);
}

/* Read and send the next rows, with memory of their own. */
static enum az_status
export_step(struct request *req, struct export *export, struct buf *out, bool *ret_more)
{
    int64_t started = clock_monotonic_us();
    PGresult *result;
    struct op step = req->op;
    if ((step.mem = talloc_new(req->op.mem)) == NULL)
        return op_fail(&req->op, AZ_SERVER_ERROR, NULL, "out of memory");
    enum az_status st = audit_walk_next(&step, &export->walk, &result, ret_more);
    req->op.fault = step.fault;
    if (st == AZ_OK && result != NULL)
        st = send_rows(req, export, result, out);
    if (st == AZ_OK)
        st = flush(req, out);
    talloc_free(step.mem);
    rest(clock_monotonic_us() - started);
    return st;
}

static enum az_status
export_rows(struct request *req, struct export *export, struct buf *out)
{
    bool more = true;
    if (export->format->begin != NULL)
        export->format->begin(req, export, out);
    enum az_status st = flush(req, out);
    while (st == AZ_OK && more && !export->truncated) {
        st = export_step(req, export, out, &more);
        if (st == AZ_OK && *req->op.az->stopping)
            st = op_fail(&req->op, AZ_UNAVAILABLE, NULL, "the service stops during an export");
    }
    if (st == AZ_OK && export->format->end != NULL)
        export->format->end(export, out);
    return st == AZ_OK ? flush(req, out) : st;
}

static enum az_status
export_stream(struct request *req)
{
    struct op after = op_beside(&req->op, req->op.mem);
    bool ignored;
    BUF_AUTO out;
    buf_init(&out, req->op.mem, EXPORT_PIECE + AUDIT_TEXT_MAX);
    enum az_status st = export_rows(req, req->res.stream_arg, &out);
    lock_session_drop(&after, LOCK_EXPORT, "", &ignored);
    return st;
}

/* ---- the request ---- */

/* One export at a time: two would slow other requests down. */
static enum az_status
audit_export_take_place(struct request *req)
{
    bool got = false;
    if (strcmp(req->method, "HEAD") == 0)
        return AZ_OK;
    enum az_status st = lock_session_try(&req->op, LOCK_EXPORT, "", &got);
    if (st == AZ_OK && !got)
        return op_fail(&req->op, AZ_BUSY, "Another export is running; try again when it has ended",
                       NULL);
    return st;
}

enum az_status
audit_export_handle(struct request *req)
{
    const char *name = audit_filter_param(req, "format");
    struct export *export = talloc_zero(req->op.mem, struct export);
    if (export == NULL)
        return op_fail(&req->op, AZ_SERVER_ERROR, NULL, "out of memory");
    export->most = req->op.az->cfg->audit_export_max_rows;
    if ((export->format = find_format(name)) == NULL)
        request_field_error(req, "format", "must be json, ndjson or csv");
    enum az_status st = audit_filter_read(req, &export->filter);
    if (st == AZ_OK)
        st = audit_walk_begin(&req->op, &export->filter, &export->walk);
    if (st == AZ_OK)
        st = audit_export_take_place(req);
    if (st != AZ_OK)
        return st;
    respond_header(req, "Content-Disposition", export->format->disposition);
    return respond_stream(req, export->format->type, export_stream, export);
}
