#include "config.h"

#include "admin/audit/audit_logs.h"

#include "admin/audit/audit_filter.h"
#include "admin/audit/audit_text.h"
#include "admin/resource/page_place.h"
#include "admin/resource/resource_body.h"

/* clang-format off */
const struct route_param audit_logs_params[] = {
    AUDIT_FILTER_PARAMS,
    AUDIT_FILTER_SEARCH,
    AUDIT_FILTER_DAYS,
    {.name = "page", .max = INT32_MAX, .help = "Number of the page, from 0"},
    {.name = "size", .min = 1, .max = AUDIT_SIZE_MAX, .help = "Rows of a page"},
    {.name = "sort", .repeatable = true, .help = "Ignored: the newest row is always first"},
    {.name = NULL},
};
/* clang-format on */

/* Limits of a page. */
static const struct page_limits audit_limits = {AUDIT_SIZE, AUDIT_SIZE_MAX, AUDIT_OFFSET_MAX,
                                                "filters or the export"};

/* The page that was asked for, and the number of rows on it and on all pages. */
struct place {
    int64_t number, size; /* from 0; rows */
    int64_t rows, total;
};

/* Read a row, or of a summary all but its documents. */
static enum az_status
read_row(struct op *op, const PGresult *result, int i, bool summary, struct audit_row *ret)
{
    if (!summary)
        return audit_rows_get(op, result, i, ret);
    audit_rows_head(result, i, ret);
    return AZ_OK;
}

/* Each row has memory of its own. */
enum az_status
audit_logs_append(struct op *op, const struct audit_part *part, bool first, struct buf *out)
{
    for (int i = 0; i < part->rows; i++) {
        struct op each = *op;
        struct audit_row row;
        each.mem = talloc_new(op->mem);
        enum az_status st = read_row(&each, part->result, i, part->summary, &row);
        if (st != AZ_OK) {
            op->fault = each.fault;
            return st;
        }
        if (i > 0 || !first)
            buf_append_char(out, ',');
        audit_text_json(out, &row);
        talloc_free(each.mem);
    }
    return AZ_OK;
}

enum az_status
audit_logs_respond(struct request *req, struct buf *out)
{
    char *text = buf_take(out, NULL);
    if (text == NULL)
        return op_fail(&req->op, AZ_SERVER_ERROR, "The response is too large; ask for fewer rows",
                       "a page of audit rows is too large, or out of memory");
    return respond_json_text(req, 200, text);
}

/* No row on a page is beyond the total, whatever was dropped or written between two statements. */
static void
settle_total(struct place *page)
{
    int64_t seen = page->number * page->size + page->rows;
    if (page->rows > 0 && page->total < seen)
        page->total = seen;
}

#define SORT "{\"empty\":true,\"sorted\":false,\"unsorted\":true}"

/* Append the members of PageAuditLogDto behind the rows. */
static void
append_place(struct buf *out, const struct place *page)
{
    int64_t pages = (page->total + page->size - 1) / page->size;
    buf_append_format(out,
                      "],\"empty\":%s,\"first\":%s,\"last\":%s,\"number\":%lld,\"size\":%lld,"
                      "\"numberOfElements\":%lld,\"totalPages\":%lld,\"totalElements\":%lld,"
                      "\"pageable\":{\"offset\":%lld,\"pageNumber\":%lld,\"pageSize\":%lld,"
                      "\"paged\":true,\"unpaged\":false,\"sort\":" SORT "},\"sort\":" SORT "}",
                      page->rows == 0 ? "true" : "false", page->number == 0 ? "true" : "false",
                      page->number + 1 >= pages ? "true" : "false", (long long) page->number,
                      (long long) page->size, (long long) page->rows, (long long) pages,
                      (long long) page->total, (long long) (page->number * page->size),
                      (long long) page->number, (long long) page->size);
}

enum az_status
audit_logs_handle(struct request *req)
{
    const struct page_place asked = page_place_read(req, &audit_limits);
    struct place page = {.number = asked.number, .size = asked.size};
    struct audit_filter filter;
    struct audit_page found;
    BUF_AUTO out;
    buf_init(&out, req->op.mem, HTTP_ANSWER_MAX);
    enum az_status st = audit_filter_read(req, &filter);
    if (st == AZ_OK)
        st = audit_rows_page(&req->op, &filter, page.number * page.size, page.size, &found);
    if (st != AZ_OK)
        return st;
    buf_append_text(&out, "{\"content\":[");
    for (size_t i = 0; i < found.results && st == AZ_OK; i++) {
        const struct audit_part part = {found.result[i], PQntuples(found.result[i]), false};
        st = audit_logs_append(&req->op, &part, page.rows == 0, &out);
        page.rows += part.rows;
    }
    page.total = found.total;
    settle_total(&page);
    append_place(&out, &page);
    return st == AZ_OK ? audit_logs_respond(req, &out) : st;
}

enum az_status
audit_log_handle(struct request *req)
{
    int64_t id;
    PGresult *result;
    BUF_AUTO out;
    buf_init(&out, req->op.mem, AUDIT_TEXT_MAX);
    enum az_status st = path_id_read(req, &id);
    if (st == AZ_OK)
        st = audit_rows_fetch(&req->op, id, &result);
    if (st == AZ_OK && PQntuples(result) == 0)
        return op_fail(&req->op, AZ_NOT_FOUND, NULL, "no such audit row");
    if (st != AZ_OK)
        return st;
    const struct audit_part part = {result, PQntuples(result), false};
    st = audit_logs_append(&req->op, &part, true, &out);
    return st == AZ_OK ? audit_logs_respond(req, &out) : st;
}
