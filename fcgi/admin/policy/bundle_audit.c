#include "config.h"

#include "admin/policy/bundle_audit.h"

#include <string.h>

#include "admin/policy/impact_limits.h"
#include "admin/policy/policy_bundle.h"
#include "admin/policy/policy_refusal.h"
#include "admin/resource/page_place.h"
#include "admin/resource/resource.h"
#include "admin/resource/resource_body.h"
#include "admin/resource/resource_page.h"
#include "base/digits.h"
#include "base/iso8601.h"
#include "base/json/jsonx.h"
#include "policy/save/bundle/bundle_diff.h"
#include "policy/save/deploy/rollback.h"
#include "store/policy/bundle_history.h"

static const char *const rollback_modes[] = {"replace", "dry-run", NULL};

/* clang-format off */
const struct route_param bundle_audit_list_params[] = {
    {.name = "rulePath", .help = "Only bundles that have the rule of this path"},
    {.name = "dataKey", .help = "Only bundles that have the data row of this key"},
    {.name = "triggeredBy", .help = "Only bundles by the admin key of this label"},
    {.name = "revision", .help = "Only bundles of this revision, as decisions and engines name it"},
    RESOURCE_PAGE_PARAMS,
    {.name = NULL}
};
const struct route_param bundle_audit_rollback_params[] = {
    SAVE_PARAMS,
    {.name = "mode", .words = rollback_modes,
     .help = "replace, the default; with dry-run nothing is saved, and the answer counts what "
             "would be"},
    {.name = NULL}
};
const struct route_param bundle_audit_at_params[] = {
    {.name = "timestamp", .required = true, .help = "Time like 2026-01-31T12:00:00Z"},
    {.name = NULL}
};
const struct route_param bundle_audit_diff_params[] = {
    {.name = "from", .required = true, .max = INT64_MAX, .help = "Id of the earlier bundle"},
    {.name = "to", .required = true, .max = INT64_MAX, .help = "Id of the later bundle"},
    {.name = NULL}
};
/* clang-format on */

const struct admin_resource bundle_history_resource = {.rows = &bundle_history_rows,
                                                       .list_max = BUNDLE_AUDIT_SIZE};

static enum az_status
no_such_bundle(struct request *req)
{
    return op_fail(&req->op, AZ_NOT_FOUND, NULL, "no such bundle");
}

/* ---- one entry or many ---- */

static enum az_status
bundle_audit_respond(struct request *req, enum az_status st, const char *dto)
{
    if (st != AZ_OK)
        return st;
    return resource_respond(req, "bundle", dto);
}

enum az_status
bundle_audit_latest_handle(struct request *req)
{
    const char *dto = NULL;
    enum az_status st = bundle_history_latest(&req->op, &dto);
    return bundle_audit_respond(req, st, dto);
}

/* The database gets the time as it was parsed here, not the text of the caller. */
enum az_status
bundle_audit_at_handle(struct request *req)
{
    const char *timestamp = request_param(req, "timestamp"), *dto = NULL;
    char text[ISO8601_MS_SIZE];
    int64_t ms;
    if (timestamp == NULL)
        return request_invalid_field(req, "timestamp", "is required");
    if (iso8601_parse(timestamp, strlen(timestamp), &ms) != AZ_OK
        || iso8601_format_ms(ms, text) != AZ_OK)
        return request_invalid_field(req, "timestamp",
                                     "must be a date-time like 2026-01-31T12:00:00Z or "
                                     "2026-01-31T12:00:00%2B02:00");
    enum az_status st = bundle_history_at(&req->op, text, &dto);
    return bundle_audit_respond(req, st, dto);
}

enum az_status
bundle_audit_get_handle(struct request *req)
{
    const char *dto = NULL;
    int64_t id = 0;
    enum az_status st = path_id_read(req, &id);
    if (st == AZ_OK)
        st = bundle_history_fetch(&req->op, id, &dto);
    return bundle_audit_respond(req, st, dto);
}

/* ---- the rows ---- */

enum az_status
bundle_audit_fetch_content(struct request *req, int64_t id, json_t **ret)
{
    const char *dto = NULL;
    json_t *content = NULL;
    enum az_status st = bundle_history_content(&req->op, id, &content);
    if (st == AZ_OK && content == NULL)
        st = bundle_history_fetch(&req->op, id, &dto);
    if (st != AZ_OK)
        return st;
    if (content == NULL && dto == NULL)
        return no_such_bundle(req);
    if (content == NULL)
        return op_fail(
            &req->op, AZ_CONFLICT,
            talloc_asprintf(req->op.mem,
                            "The rows of bundle %lld are not available: it was published "
                            "by an older version",
                            (long long) id),
            NULL);
    *ret = content;
    return AZ_OK;
}

enum az_status
bundle_audit_content_handle(struct request *req)
{
    json_t *content = NULL;
    int64_t id = 0;
    enum az_status st = path_id_read(req, &id);
    if (st == AZ_OK)
        st = bundle_audit_fetch_content(req, id, &content);
    return st == AZ_OK ? respond_json(req, 200, content) : st;
}

static bool
bundle_audit_id_param(struct request *req, const char *name, int64_t *ret)
{
    const char *text = request_param(req, name);
    if (text != NULL && digits_read(text, INT64_MAX, ret))
        return true;
    request_field_error(req, name, text == NULL ? "is required" : "must be a bundle id");
    return false;
}

enum az_status
bundle_audit_diff_handle(struct request *req)
{
    json_t *from = NULL, *to = NULL;
    int64_t from_id = 0, to_id = 0;
    bool from_good = bundle_audit_id_param(req, "from", &from_id),
         to_good = bundle_audit_id_param(req, "to", &to_id);
    if (!from_good || !to_good)
        return op_fail(&req->op, AZ_INVALID_FIELDS, NULL, NULL);
    enum az_status st = bundle_audit_fetch_content(req, from_id, &from);
    if (st == AZ_OK)
        st = bundle_audit_fetch_content(req, to_id, &to);
    return st == AZ_OK ? respond_json(req, 200, bundle_diff(req->op.mem, from, to)) : st;
}

/* ---- rollback ---- */

/* Name the restored bundle in the audit row. */
static void
bundle_audit_note(struct request *req, int64_t id)
{
    req->audit.summary = jsonx_dump(
        req->op.mem, jsonx_own(req->op.mem, json_pack("{s:I}", "bundle", (json_int_t) id)));
}

/* Read the mode of a rollback. */
static enum az_status
read_mode(struct request *req, bool *ret_dry_run)
{
    const struct route_param mode = {.name = "mode", .words = rollback_modes};
    const char *text = page_filter_read(req, &mode);
    *ret_dry_run = text != NULL && strcmp(text, "dry-run") == 0;
    return req->error_body == NULL ? AZ_OK : op_fail(&req->op, AZ_INVALID_FIELDS, NULL, NULL);
}

enum az_status
bundle_audit_rollback_handle(struct request *req)
{
    struct save_limits limits;
    struct rollback how = {.who = req->admin.label, .limits = &limits};
    struct deploy_result result = {.data_key = NULL};
    json_t *content = NULL;
    int64_t id = 0;
    enum az_status st = path_id_read(req, &id);
    if (st == AZ_OK)
        st = save_params_read(req, &limits, &how.message, &how.if_revision);
    if (st == AZ_OK)
        st = read_mode(req, &how.dry_run);
    if (st == AZ_OK)
        bundle_audit_note(req, id);
    if (st == AZ_OK)
        st = bundle_audit_fetch_content(req, id, &content);
    if (st != AZ_OK)
        return st;
    st = deploy_rollback(&req->op, content, &how, &result);
    return policy_bundle_answer(req, st, rollback_modes[how.dry_run], &result);
}
