#include "config.h"

#include "admin/policy/policy_shadow.h"

#include <string.h>

#include "admin/policy/impact_limits.h"
#include "admin/policy/policy_bundle.h"
#include "base/json/jsonx.h"
#include "base/words.h"
#include "http/header_value.h"
#include "policy/decide/console_guard.h"
#include "policy/engine/shadow_tap.h"
#include "policy/impact/guards.h"
#include "policy/impact/period.h"
#include "policy/impact/tally.h"
#include "policy/rows/data_key.h"
#include "policy/rows/rule.h"
#include "policy/save/deploy/deploy.h"
#include "policy/shadow/change.h"
#include "policy/shadow/result.h"
#include "store/policy/shadow.h"

/* The share of decisions, the time that a shadow has without `until`, and the longest, in
 * milliseconds: a change that was not promoted in a month is of a policy that is no longer there.
 */
#define RATE 10
#define UNTIL "14d"
#define UNTIL_MAX_MS (30 * INT64_C(86400000))
/* Longest text of a time that is read. */
#define TIME_MAX 64
/* Nesting of a result. */
#define RESULT_DEPTH_MAX 64
/* The version of a shadow (shadow_shown): its id and the revision that it is made of. */
#define SHADOW_VERSION "%lld.%s"

/* PolicyShadowRequest. */
struct shadow_request {
    const json_t *rules, *data, *delete_rules, *delete_data;
    const char *mode, *until, *message;
    int64_t rate;
};

static const char *const modes[] = {"merge", "replace", NULL};

/* clang-format off */
static const struct field shadow_fields[] = {
    {"rules",       FIELD_ARRAY,     .max = DEPLOY_RULES_MAX,
     FIELD_INTO(struct shadow_request, rules), .help = "Rules of a deploy",
     .example = "[{\"path\": \"custom/example.rego\", \"content\": \"package "
                "custom.example\\n\\nlimit := 100\\n\"}]"},
    {"data",        FIELD_ARRAY,     .max = DEPLOY_DATA_MAX,
     FIELD_INTO(struct shadow_request, data), .help = "Data rows of a deploy"},
    {"deleteRules", FIELD_TEXT_LIST, .max = DEPLOY_RULES_MAX, .item_max = RULE_PATH_MAX,
     FIELD_INTO(struct shadow_request, delete_rules),
     .help = "Paths of rules that a deploy deletes"},
    {"deleteData",  FIELD_TEXT_LIST, .max = DEPLOY_DATA_MAX, .item_max = POLICY_DATA_KEY_MAX,
     FIELD_INTO(struct shadow_request, delete_data),
     .help = "Keys of data rows that a deploy deletes"},
    {"mode",        FIELD_TEXT,      .words = modes, FIELD_INTO(struct shadow_request, mode),
     .help = "Mode of the deploy: merge or replace"},
    {"rate",        FIELD_INTEGER,   .min = 1, .max = SHADOW_RATE_MAX,
     FIELD_INTO(struct shadow_request, rate),
     .help = "One decision in so many is put to the shadow; 10 if it is left out", .example = "10"},
    {"until",       FIELD_TEXT,      .max = TIME_MAX, FIELD_INTO(struct shadow_request, until),
     .help = "Time that the shadow has (30m, 24h, 7d), or its end, at most 30 days from now; 14d "
             "if it is left out", .example = "\"14d\""},
    {"message",     FIELD_TEXT,      .max = SAVE_MESSAGE_MAX,
     FIELD_INTO(struct shadow_request, message),
     .help = "Reason of the change, for the history if it is promoted; at most 500 octets"},
};
const struct field_table policy_shadow_table = FIELD_TABLE("PolicyShadowRequest", shadow_fields, 0);
/* clang-format on */

/* ---- reading */

static void
set_given(struct jsonx_build *body, const char *name, const json_t *value)
{
    if (value != NULL)
        jsonx_set(body, name, json_incref((json_t *) (uintptr_t) value));
}

/* Read the change as a deploy. */
static enum az_status
read_change(struct request *req, const struct shadow_request *given, struct deploy *ret)
{
    struct jsonx_build body = {jsonx_own(req->op.mem, json_object()), false};
    const char *mode;
    if (given->rules == NULL && given->data == NULL && given->delete_rules == NULL
        && given->delete_data == NULL)
        return request_invalid_field(req, "",
                                     "needs a change: rules, data, deleteRules or deleteData");
    set_given(&body, "rules", given->rules);
    set_given(&body, "data", given->data);
    set_given(&body, "deleteRules", given->delete_rules);
    set_given(&body, "deleteData", given->delete_data);
    if (given->mode != NULL)
        jsonx_set(&body, "mode", json_string(given->mode));
    if (given->message != NULL)
        jsonx_set(&body, "message", json_string(given->message));
    if (jsonx_built(&body) == NULL)
        return op_no_memory(&req->op);
    return policy_bundle_read(req, body.value, ret, &mode);
}

/* Rows that decide nothing, and that a shadow leaves alone: it is made again of each revision, so
 * it would take back who lost a role, or a guard that was added, while it was compared. */
static const char *const rows_left_out[] = {GUARDS_ROW, CONSOLE_ROW, NULL};

/* Refuse a change of such a row, and leave out one that is as it is: a directory that was pulled
 * has it. */
static enum az_status
check_rows(struct request *req, struct deploy *deploy)
{
    struct deploy_data *kept =
        talloc_array(req->op.mem, struct deploy_data, (unsigned) deploy->data_rows + 1);
    size_t count = 0;
    enum az_status st = kept != NULL ? AZ_OK : op_no_memory(&req->op);
    for (size_t i = 0; i < deploy->data_rows && st == AZ_OK; i++) {
        const struct deploy_data *data = &deploy->data[i];
        bool same = true;
        if (!words_has(rows_left_out, data->data_key))
            kept[count++] = *data;
        else
            st = guards_row_is(&req->op, data->data_key, data->payload, &same);
        char *name = same ? NULL : talloc_asprintf(req->op.mem, "data[%zu].dataKey", i);
        if (name != NULL && st == AZ_OK)
            request_field_error(req, name,
                                "differs from the row of the service: it has limits of saves or "
                                "roles of people, which decide nothing");
    }
    deploy->data = kept;
    deploy->data_rows = count;
    return st;
}

/* Read the end. */
static void
read_until(struct request *req, const char *text, int64_t *ret)
{
    int64_t now = req->op.now_ms;
    if (!impact_period_read_end(text != NULL ? text : UNTIL, now, ret))
        request_field_error(req, "until", "must be a period like 30m, 24h or 7d, or a time");
    else if (*ret <= now || *ret > now + UNTIL_MAX_MS)
        request_field_error(req, "until", "must be at most 30 days from now, and not over");
}

static enum az_status
read_request(struct request *req, struct shadow_new *ret, struct deploy *deploy)
{
    struct shadow_request given = {.rate = RATE};
    fields_read(req->op.mem, &policy_shadow_table, req->json, request_field_fault, req, &given,
                NULL);
    read_until(req, given.until, &ret->ends_ms);
    ret->rate = given.rate;
    ret->message = given.message;
    enum az_status st = req->error_body == NULL ? read_change(req, &given, deploy) : AZ_OK;
    if (st != AZ_OK)
        return st;
    if ((st = check_rows(req, deploy)) != AZ_OK)
        return st;
    return req->error_body == NULL && req->op.fault.status == AZ_OK
               ? AZ_OK
               : op_fail(&req->op, AZ_INVALID_FIELDS, NULL, NULL);
}

/* ---- answering */

/* Return a shadow with its result, on op->mem; NULL: no memory, or damaged. */
static json_t *
shadow_json(struct op *op, const struct shadow_shown *shown)
{
    json_t *dto = NULL, *result = NULL;
    if (jsonx_parse(op->mem, shown->dto, strlen(shown->dto), RESULT_DEPTH_MAX, &dto, NULL) != AZ_OK
        || (shown->result != NULL
            && jsonx_parse(op->mem, shown->result, strlen(shown->result), RESULT_DEPTH_MAX, &result,
                           NULL)
                   != AZ_OK))
        return NULL;
    struct jsonx_build out = {dto, false};
    if (result != NULL)
        jsonx_set(&out, "result",
                  json_incref(shadow_result_show(op->mem, result, IMPACT_KEYS_SHOWN)));
    return jsonx_built(&out);
}

static enum az_status
policy_shadow_respond(struct request *req, int status, const struct shadow_shown *shown)
{
    json_t *dto = shadow_json(&req->op, shown);
    if (dto == NULL)
        return op_fail(&req->op, AZ_SERVER_ERROR, NULL, "the shadow cannot be shown");
    respond_header(req, "ETag", talloc_asprintf(req->op.mem, "\"%s\"", shown->version));
    return respond_json(req, status, dto);
}

static enum az_status
no_shadow(struct request *req)
{
    return op_fail(&req->op, AZ_NOT_FOUND, NULL, "no shadow is active");
}

/* Name the shadow in the audit row. */
static void
policy_shadow_note(struct request *req, int64_t id, const char *base, const char *candidate,
                   const char *message)
{
    req->audit.summary = jsonx_dump(
        req->op.mem,
        jsonx_own(req->op.mem, json_pack("{s:I,s:s*,s:s*,s:s*}", "shadow", (json_int_t) id, "base",
                                         base, "candidate", candidate, "message", message)));
}

enum az_status
policy_shadow_get_handle(struct request *req)
{
    struct shadow_shown shown;
    enum az_status st = shadow_fetch(&req->op, &shown);
    if (st != AZ_OK)
        return st;
    return shown.dto != NULL ? policy_shadow_respond(req, 200, &shown) : no_shadow(req);
}

/* ---- saving */

/* Find the shadow that a save may replace; *ret is its id, or 0. */
static enum az_status
check_replaced(struct request *req, int64_t *ret)
{
    struct shadow_shown shown;
    enum az_status st = shadow_fetch(&req->op, &shown);
    *ret = 0;
    if (st != AZ_OK)
        return st;
    if (!request_has_if_match(req))
        return shown.active
                   ? op_fail(&req->op, AZ_CONFLICT,
                             "There is a shadow; drop it, or replace it with If-Match", NULL)
                   : AZ_OK;
    *ret = shown.active ? shown.id : 0;
    return request_if_match(req, shown.active ? shown.version : NULL);
}

/* Plan the change, which is refused as a save is. */
static enum az_status
plan_change(struct request *req, const struct deploy *deploy, struct shadow_new *shadow)
{
    struct deploy_result result = {.data_key = NULL};
    struct impact_pair pair;
    json_t *errors = NULL;
    enum az_status st = deploy_measure(&req->op, deploy, &result, &pair, &errors);
    if (st == AZ_UNAVAILABLE)
        return az_fail_as(&req->op.fault, AZ_IMPACT_UNAVAILABLE, NULL);
    st = policy_bundle_refuse(req, st, &result);
    if (errors != NULL && req->error_body != NULL)
        json_object_set(req->error_body, "errors", errors);
    if (st != AZ_OK)
        return st;
    shadow->base = pair.base.revision;
    shadow->candidate = pair.candidate.revision;
    shadow->change = shadow_change_write(req->op.mem, deploy, &result);
    return shadow->change != NULL ? AZ_OK : op_no_memory(&req->op);
}

enum az_status
policy_shadow_put_handle(struct request *req)
{
    struct deploy deploy = {.source = "deploy", .who = req->admin.label};
    struct shadow_new shadow = {.who = req->admin.label};
    struct shadow_shown shown;
    int64_t replaced = 0, id = 0;
    enum az_status st = read_request(req, &shadow, &deploy);
    if (st == AZ_OK)
        st = check_replaced(req, &replaced);
    if (st == AZ_OK)
        st = plan_change(req, &deploy, &shadow);
    if (st == AZ_OK)
        st = shadow_insert(&req->op, &shadow, replaced, &id);
    if (st == AZ_OK && id == 0)
        return op_fail(&req->op, AZ_CONFLICT, "Another shadow was saved meanwhile", NULL);
    if (st == AZ_OK)
        st = shadow_fetch(&req->op, &shown);
    if (st != AZ_OK)
        return st;
    policy_shadow_note(req, id, shadow.base, shadow.candidate, shadow.message);
    shadow_tap_wake(req->op.az->shadow_tap);
    return policy_shadow_respond(req, 201, &shown);
}

/* ---- ending */

/* Find the shadow that is active, and that the caller has seen. */
static enum az_status
find_active(struct request *req, struct shadow_shown *ret)
{
    enum az_status st = shadow_fetch(&req->op, ret);
    if (st == AZ_OK && !ret->active)
        return no_shadow(req);
    return st == AZ_OK ? request_if_match(req, ret->version) : st;
}

enum az_status
policy_shadow_delete_handle(struct request *req)
{
    struct shadow_shown shown;
    bool found = false;
    enum az_status st = find_active(req, &shown);
    if (st == AZ_OK)
        st = shadow_end(&req->op, shown.id, "dropped", req->admin.label, &found);
    if (st != AZ_OK)
        return st;
    policy_shadow_note(req, shown.id, NULL, NULL, NULL);
    return found ? respond_empty(req, 204) : no_shadow(req);
}

/* Read the deploy of the shadow that the caller has seen: after the revision that it was compared
 * with. */
static enum az_status
read_promoted(struct request *req, struct deploy *ret)
{
    struct shadow_work work;
    enum az_status st = shadow_fetch_active(&req->op, 0, &work);
    if (st == AZ_OK && work.id == 0)
        return no_shadow(req);
    if (st == AZ_OK)
        st = request_if_match(
            req, talloc_asprintf(req->op.mem, SHADOW_VERSION, (long long) work.id, work.base));
    if (st == AZ_OK)
        st = shadow_change_read(&req->op, work.change, ret);
    if (st != AZ_OK)
        return st;
    ret->shadow = work.id;
    ret->who = req->admin.label;
    ret->message = work.message;
    ret->if_revision = work.base;
    return AZ_OK;
}

enum az_status
policy_shadow_promote_handle(struct request *req)
{
    struct shadow_shown shown;
    struct deploy deploy;
    struct deploy_result result;
    struct save_limits limits;
    enum az_status st = impact_limits_read(req, &limits);
    if (st == AZ_OK)
        st = find_active(req, &shown);
    if (st == AZ_OK && !request_has_if_match(req))
        return request_invalid_field(req, "If-Match",
                                     "must be the ETag of the shadow, whose result was seen");
    if (st == AZ_OK)
        st = read_promoted(req, &deploy);
    if (st != AZ_OK)
        return st;
    deploy.limits = &limits;
    policy_shadow_note(req, deploy.shadow, deploy.if_revision, NULL, deploy.message);
    st = deploy_run(&req->op, &deploy, &result);
    return policy_bundle_answer(req, st, shadow_change_mode(&deploy), &result);
}
