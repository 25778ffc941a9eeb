#include "config.h"

#include "admin/audit/audit_search.h"

#include <string.h>

#include "admin/audit/audit_filter.h"
#include "admin/audit/audit_logs.h"
#include "admin/resource/page_place.h"
#include "base/clock.h"
#include "base/digits.h"

static const char *const views[] = {"full", "summary", NULL};

/* clang-format off */
const struct route_param audit_search_params[] = {
    AUDIT_FILTER_PARAMS,
    AUDIT_FILTER_SEARCH,
    AUDIT_FILTER_DAYS,
    AUDIT_FILTER_INSTANTS,
    {.name = "after", .help = "`next` of the answer before"},
    {.name = "size", .min = 1, .max = AUDIT_SEARCH_SIZE_MAX, .help = "Rows of an answer"},
    {.name = "view", .words = views,
     .help = "summary leaves out the question and the answer of policy"},
    {.name = NULL},
};
/* clang-format on */

/* There is no number of a page; the text is never shown. */
static const struct page_limits search_limits = {AUDIT_SEARCH_SIZE, AUDIT_SEARCH_SIZE_MAX,
                                                 INT64_MAX, ""};

struct search {
    struct audit_filter filter;
    struct audit_walk_mark after; /* day -1: from the newest row on */
    struct audit_walk walk;
    int64_t size, rows; /* asked for, and found */
    bool summary;
    bool more;                   /* rows may be left, after `next` */
    struct audit_walk_mark next; /* where the next answer begins */
};

/* Read a place as this service writes it: number of the day, dot, id. */
static bool
read_place(TALLOC_CTX *mem, const char *text, struct audit_walk_mark *ret)
{
    const char *dot = strchr(text, '.');
    const char *day = dot != NULL ? talloc_strndup(mem, text, (size_t) (dot - text)) : NULL;
    return day != NULL && digits_read(day, INT32_MAX, &ret->day)
           && digits_read(dot + 1, INT64_MAX, &ret->id) && ret->id > 0;
}

static enum az_status
read_search(struct request *req, struct search *ret)
{
    const char *after = audit_filter_param(req, "after"), *view = audit_filter_param(req, "view");
    *ret = (struct search){.after = {.day = -1}};
    ret->size = page_place_read(req, &search_limits).size;
    ret->summary = view != NULL && strcmp(view, "summary") == 0;
    if (view != NULL && !ret->summary && strcmp(view, "full") != 0)
        request_field_error(req, "view", "must be full or summary");
    if (after != NULL && !read_place(req->op.mem, after, &ret->after))
        request_field_error(req, "after", "must be `next` of an answer");
    return audit_filter_read(req, &ret->filter);
}

/* Append the rows of one step, as many as there is room for. */
static enum az_status
search_step(struct op *op, struct search *search, struct buf *out)
{
    PGresult *result;
    bool any;
    int64_t day = audit_walk_place(&search->walk).day;
    enum az_status st = audit_walk_next(op, &search->walk, &result, &any);
    if (st != AZ_OK)
        return st;
    int64_t room = search->size - search->rows;
    int found = result != NULL ? PQntuples(result) : 0;
    const struct audit_part part = {result, found < room ? found : (int) room, search->summary};
    search->more = found > part.rows || search->walk.days > 0;
    search->next = found > part.rows
                       ? (struct audit_walk_mark){day, audit_rows_id(result, part.rows - 1)}
                       : audit_walk_place(&search->walk);
    st = audit_logs_append(op, &part, search->rows == 0, out);
    search->rows += part.rows;
    return st;
}

enum az_status
audit_search_handle(struct request *req)
{
    struct search search;
    const int64_t end = clock_monotonic_ms() + AUDIT_SEARCH_MS;
    BUF_AUTO out;
    buf_init(&out, req->op.mem, HTTP_ANSWER_MAX);
    buf_append_text(&out, "{\"content\":[");
    enum az_status st = read_search(req, &search);
    if (st == AZ_OK)
        st = audit_walk_begin(&req->op, &search.filter, &search.walk);
    if (st == AZ_OK && search.after.day >= 0)
        audit_walk_after(&search.walk, &search.after);
    search.more = st == AZ_OK && search.walk.days > 0;
    do {
        if (st == AZ_OK && search.more)
            st = search_step(&req->op, &search, &out);
    } while (st == AZ_OK && search.more && search.rows < search.size && clock_monotonic_ms() < end);
    if (st != AZ_OK)
        return st;
    buf_append_text(&out, "]");
    if (search.more)
        buf_append_format(&out, ",\"next\":\"%lld.%lld\"", (long long) search.next.day,
                          (long long) search.next.id);
    buf_append_text(&out, "}");
    return audit_logs_respond(req, &out);
}
