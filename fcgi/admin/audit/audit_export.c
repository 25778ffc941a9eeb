#include "config.h"

#include "admin/audit/audit_export.h"

#include <string.h>
#include <time.h>

#include "admin/audit/audit_filter.h"
#include "admin/audit/export_forms.h"
#include "audit/event.h"
#include "base/clock.h"
#include "base/settings/settings.h"
#include "store/audit/proof/log_lines.h"
#include "store/db/keep/locks.h"

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
    {.name = "format",
     .help = "json, ndjson, csv, ocsf, otlp, or lines (the log that proves itself, without "
             "filters); json if it is left out"},
    {.name = NULL},
};
/* clang-format on */

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
        struct export_row given = {.row = &row};
        if (export->count == export->most) {
            export->truncated = true;
            return AZ_OK;
        }
        if ((each.mem = talloc_new(req->op.mem)) == NULL)
            return op_no_memory(&req->op);
        given.mem = each.mem;
        st = audit_rows_get(&each, result, i, &row);
        if (st == AZ_OK)
            st = audit_leaves_find(&each, &export->leaves, row.id, &given.place);
        req->op.fault = each.fault;
        if (st == AZ_OK) {
            export->format->row(out, export, &given);
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
        return op_no_memory(&req->op);
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

/* The log as lines on its way. */
struct lines {
    struct request *req;
    struct buf out;
    int64_t started; /* work on this piece; clock_monotonic_us() */
    enum az_status st;
};

static bool
take_line(void *context, const char *line, size_t length)
{
    struct lines *lines = context;
    buf_append(&lines->out, line, length);
    buf_append_char(&lines->out, '\n');
    if (lines->out.len <= EXPORT_PIECE && lines->out.status == AZ_OK)
        return true;
    lines->st = flush(lines->req, &lines->out);
    rest(clock_monotonic_us() - lines->started);
    lines->started = clock_monotonic_us();
    if (lines->st == AZ_OK && *lines->req->op.az->stopping)
        lines->st =
            op_fail(&lines->req->op, AZ_UNAVAILABLE, NULL, "the service stops during an export");
    return lines->st == AZ_OK;
}

/* Send the log over all rows: notes and rows as they were hashed. Its size is not limited, since a
 * part of it would prove nothing. */
static enum az_status
export_lines(struct request *req)
{
    struct lines lines = {.req = req, .started = clock_monotonic_us()};
    buf_init(&lines.out, req->op.mem, EXPORT_PIECE + AUDIT_LINE_MAX);
    enum az_status st = audit_log_lines(&req->op, take_line, &lines);
    if (lines.st != AZ_OK)
        st = lines.st;
    if (st == AZ_OK)
        st = flush(req, &lines.out);
    buf_done(&lines.out);
    return st;
}

static enum az_status
export_stream(struct request *req)
{
    struct op after = op_beside(&req->op, req->op.mem);
    struct export *export = req->res.stream_arg;
    bool ignored;
    BUF_AUTO out;
    buf_init(&out, req->op.mem, EXPORT_PIECE + AUDIT_EVENT_MAX);
    enum az_status st =
        export->format->row != NULL ? export_rows(req, export, &out) : export_lines(req);
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

/* The log as lines has all rows: a filter would leave out what proves the rest. */
static void
refuse_filters(struct request *req)
{
    for (const struct route_param *param = audit_export_params; param->name != NULL; param++)
        if (strcmp(param->name, "format") != 0 && audit_filter_param(req, param->name) != NULL)
            request_field_error(req, param->name, "cannot be used with format lines");
}

enum az_status
audit_export_handle(struct request *req)
{
    const char *name = audit_filter_param(req, "format");
    struct export *export = talloc_zero(req->op.mem, struct export);
    if (export == NULL)
        return op_no_memory(&req->op);
    export->most = req->op.az->cfg->audit_export_max_rows;
    if ((export->format = export_form_find(name)) == NULL)
        request_field_error(req, "format", "must be json, ndjson, csv, ocsf, otlp or lines");
    else if (export->format->row == NULL)
        refuse_filters(req);
    enum az_status st = audit_filter_read(req, &export->filter);
    if (st == AZ_OK)
        st = audit_walk_begin(&req->op, &export->filter, &export->walk);
    if (st == AZ_OK)
        st = audit_leaves_begin(&req->op, &export->leaves);
    if (st == AZ_OK)
        st = audit_export_take_place(req);
    if (st != AZ_OK)
        return st;
    respond_header(req, "Content-Disposition", export->format->disposition);
    return respond_stream(req, export->format->type, export_stream, export);
}
