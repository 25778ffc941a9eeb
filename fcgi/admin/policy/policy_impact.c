#include "config.h"

#include "admin/policy/policy_impact.h"

#include <string.h>

#include "admin/audit/audit_filter.h"
#include "admin/policy/impact_candidate.h"
#include "admin/policy/impact_limits.h"
#include "admin/resource/resource_body.h"
#include "admin/trial_place.h"
#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "http/header_value.h"
#include "policy/impact/guards.h"
#include "policy/impact/job.h"
#include "policy/impact/period.h"
#include "policy/rows/data_key.h"
#include "policy/rows/rule.h"
#include "policy/save/deploy/deploy.h"
#include "store/policy/impact.h"

/* Longest revision and period that are read. */
#define REVISION_MAX 64
#define TIME_MAX 64

/* PolicyImpactRequest. */
struct impact_request {
    struct impact_forms forms;
    const char *since, *until;
    const json_t *filter, *limits;
    int64_t decisions, examples;
};

/* A filter, as it was given. */
struct impact_filter {
    const char *endpoint, *client_id, *subject_id, *outcome, *flow_id, *evaluation;
};

static const char *const evaluations[] = {"issue",         "preview", "introspect",    "authzen",
                                          "authzen_batch", "gateway", "gateway_tools", "register",
                                          "admin",         NULL};
static const char *const modes[] = {"merge", "replace", NULL};

static const char *
flow_rule(TALLOC_CTX *mem, const json_t *value)
{
    (void) mem;
    return audit_filter_flow_fault(json_string_value(value));
}

static const char *
key_rule(TALLOC_CTX *mem, const json_t *value)
{
    (void) mem;
    return policy_data_key_fault(json_string_value(value));
}

/* clang-format off */
static const struct field patch_fields[] = {
    {"dataKey", FIELD_TEXT,   .required = true, .max = POLICY_DATA_KEY_MAX, .rule = key_rule,
     .help = "Key of the row", .example = "\"example.limits\""},
    {"merge",   FIELD_OBJECT, .required = true, .help = "JSON Merge Patch (RFC 7396)",
     .example = "{\"orders\": 50}"},
};
static const struct field_table patch_table = FIELD_TABLE("PolicyImpactPatch", patch_fields, 0);
static const struct field filter_fields[] = {
    {"endpoint",   FIELD_TEXT, .max = AUDIT_FILTER_TEXT_MAX,
     FIELD_INTO(struct impact_filter, endpoint), .help = "Only decisions of this endpoint",
     .example = "\"/token\""},
    {"clientId",   FIELD_TEXT, .max = AUDIT_FILTER_TEXT_MAX,
     FIELD_INTO(struct impact_filter, client_id), .help = "Only those of this client"},
    {"subjectId",  FIELD_TEXT, .max = AUDIT_FILTER_TEXT_MAX,
     FIELD_INTO(struct impact_filter, subject_id), .help = "Only those of this user"},
    {"outcome",    FIELD_TEXT, .words = audit_filter_outcomes,
     FIELD_INTO(struct impact_filter, outcome), .help = "Only requests with this outcome"},
    {"flowId",     FIELD_TEXT, .max = AUDIT_FILTER_TEXT_MAX, .rule = flow_rule,
     FIELD_INTO(struct impact_filter, flow_id), .help = "Only those of this flow, a UUID"},
    {"evaluation", FIELD_TEXT, .words = evaluations, FIELD_INTO(struct impact_filter, evaluation),
     .help = "Only decisions of this kind"},
};
static const struct field_table filter_table = FIELD_TABLE("PolicyImpactFilter", filter_fields, 0);
static const struct field impact_fields[] = {
    {"rules",       FIELD_ARRAY,     .max = DEPLOY_RULES_MAX,
     FIELD_INTO(struct impact_request, forms.rules), .help = "Rules of a deploy"},
    {"data",        FIELD_ARRAY,     .max = DEPLOY_DATA_MAX,
     FIELD_INTO(struct impact_request, forms.data), .help = "Data rows of a deploy"},
    {"deleteRules", FIELD_TEXT_LIST, .max = DEPLOY_RULES_MAX, .item_max = RULE_PATH_MAX,
     FIELD_INTO(struct impact_request, forms.delete_rules),
     .help = "Paths of rules that a deploy deletes"},
    {"deleteData",  FIELD_TEXT_LIST, .max = DEPLOY_DATA_MAX, .item_max = POLICY_DATA_KEY_MAX,
     FIELD_INTO(struct impact_request, forms.delete_data),
     .help = "Keys of data rows that a deploy deletes"},
    {"mode",        FIELD_TEXT,      .words = modes, FIELD_INTO(struct impact_request, forms.mode),
     .help = "Mode of the deploy: merge or replace"},
    {"rule",        FIELD_OBJECT,    FIELD_INTO(struct impact_request, forms.rule),
     .help = "One rule: path, content, enabled"},
    {"deleteRule",  FIELD_TEXT,      .max = RULE_PATH_MAX,
     FIELD_INTO(struct impact_request, forms.delete_rule), .help = "Path of a rule to delete"},
    {"row",         FIELD_OBJECT,    FIELD_INTO(struct impact_request, forms.row),
     .help = "One data row: dataKey, payload"},
    {"patch",       FIELD_OBJECT,    .shape = &patch_table,
     FIELD_INTO(struct impact_request, forms.patch), .help = "Change of a data row"},
    {"deleteRow",   FIELD_TEXT,      .max = POLICY_DATA_KEY_MAX,
     FIELD_INTO(struct impact_request, forms.delete_row), .help = "Key of a data row to delete"},
    {"rollback",    FIELD_INTEGER,   .min = 1, .max = INT64_MAX,
     FIELD_INTO(struct impact_request, forms.rollback),
     .help = "Bundle whose rows would be restored"},
    {"ifRevision",  FIELD_TEXT,      .max = REVISION_MAX,
     FIELD_INTO(struct impact_request, forms.if_revision), .help = "Revision that must be active"},
    {"since",       FIELD_TEXT,      .max = TIME_MAX, FIELD_INTO(struct impact_request, since),
     .help = "Period that ends now (30m, 24h, 7d), or its begin; 24h if it is left out",
     .example = "\"24h\""},
    {"until",       FIELD_TEXT,      .max = TIME_MAX, FIELD_INTO(struct impact_request, until),
     .help = "Time before which the decisions were made"},
    {"decisions",   FIELD_INTEGER,   .min = 1, .max = 5000000,
     FIELD_INTO(struct impact_request, decisions),
     .help = "Audit rows to look at; if there are more, about so many at random. Not more than "
             "SVC_IMPACT_DECISIONS"},
    {"examples",    FIELD_INTEGER,   .min = 0, .max = IMPACT_EXAMPLES_MAX,
     FIELD_INTO(struct impact_request, examples),
     .help = "Examples of each class; 10 if it is left out", .example = "10"},
    {"filter",      FIELD_OBJECT,    .shape = &filter_table,
     FIELD_INTO(struct impact_request, filter), .help = "Only decisions that match"},
    {"limits",      FIELD_OBJECT,    FIELD_INTO(struct impact_request, limits),
     .help = "Most decisions of newlyDenied, newlyAllowed, narrowed, widened, other, failing, "
             "notKnown: numbers, or percentages like 5%; the answer says which are "
             "passed", .example = "{\"newlyDenied\": 0}"},
};
const struct field_table policy_impact_table = FIELD_TABLE("PolicyImpactRequest", impact_fields, 0);
/* clang-format on */

/* A member of the body that holds the faults of an inner object. */
struct inner_place {
    struct request *req;
    const char *member;
};

static void
inner_fault(void *arg, const char *name, const char *why)
{
    const struct inner_place *place = arg;
    char *path = talloc_asprintf(place->req->op.mem, "%s%s%s", place->member,
                                 *name != '\0' ? "." : "", name);
    if (path != NULL)
        request_field_error(place->req, path, why);
}

static void
read_inner(struct request *req, const char *member, const struct field_table *table,
           const json_t *value, void *ret)
{
    struct inner_place place = {req, member};
    if (value != NULL)
        fields_read(req->op.mem, table, value, inner_fault, &place, ret, NULL);
}

/* Read the period. */
static void
read_period(struct request *req, const struct impact_request *given, struct audit_filter *filter)
{
    int64_t now = req->op.now_ms;
    filter->has_from = filter->has_until = true;
    filter->until_ms = now;
    if (given->until != NULL && !impact_period_read(given->until, now, &filter->until_ms))
        request_field_error(req, "until", "must be a time, or a period like 30m, 24h or 7d");
    if (!impact_period_read(given->since != NULL ? given->since : IMPACT_PERIOD, now,
                            &filter->from_ms))
        request_field_error(req, "since", "must be a period like 30m, 24h or 7d, or a time");
    else if (filter->from_ms >= filter->until_ms)
        request_field_error(req, "since", "must be before until");
}

/* Read the body. */
static enum az_status
read_request(struct request *req, struct impact_request *ret, struct impact_selection *selection)
{
    const struct settings *cfg = req->op.az->cfg;
    struct impact_filter filter = {.endpoint = NULL};
    ret->decisions = cfg->impact_decisions;
    ret->examples = IMPACT_EXAMPLES;
    fields_read(req->op.mem, &policy_impact_table, req->json, request_field_fault, req, ret, NULL);
    read_inner(req, "filter", &filter_table, ret->filter, &filter);
    read_inner(req, "patch", &patch_table, ret->forms.patch, NULL);
    impact_limits_check(req, "limits", ret->limits);
    *selection = (struct impact_selection){
        .filter = {.endpoint = filter.endpoint,
                   .client_id = filter.client_id,
                   .subject_id = filter.subject_id,
                   .outcome = filter.outcome,
                   .flow_id = filter.flow_id},
        .evaluation = filter.evaluation,
        .decisions =
            ret->decisions < cfg->impact_decisions ? ret->decisions : cfg->impact_decisions,
        .seconds = cfg->impact_seconds,
        .examples = ret->examples,
    };
    read_period(req, ret, &selection->filter);
    return req->error_body == NULL && req->op.fault.status == AZ_OK
               ? AZ_OK
               : op_fail(&req->op, AZ_INVALID_FIELDS, NULL, NULL);
}

/* Reasons why a preview does not measure a guard; a save measures each guard. */
#define WHY_PERIOD "its period begins before that of the measurement"
#define WHY_PART "the measurement has a filter or an end, so it leaves decisions out"

/* Count against the limits of the request, and against the guards whose decisions are all looked
 * at: a filter would hide some. *ret_digest names the guards. */
static enum az_status
add_watches(struct request *req, const struct impact_request *given,
            struct impact_selection *selection, const char **ret_digest)
{
    struct guards guards;
    struct jsonx_build watches = {jsonx_own(req->op.mem, json_array()), false};
    int64_t from = selection->filter.from_ms, earliest = from;
    bool part = given->filter != NULL || given->until != NULL;
    enum az_status st = guards_read(&req->op, &guards);
    *ret_digest = guards.digest;
    if (st != AZ_OK)
        return st;
    if (json_object_size(given->limits) > 0)
        jsonx_append(&watches,
                     json_pack("{s:n,s:I,s:O,s:b}", "name", "fromMs", (json_int_t) from, "limits",
                               (json_t *) (uintptr_t) given->limits, "count", 0));
    guards_watch(&guards, req->op.now_ms, part ? INT64_MAX : from, part ? WHY_PART : WHY_PERIOD,
                 &watches, &earliest);
    selection->watches = jsonx_built(&watches);
    return selection->watches != NULL ? AZ_OK : op_no_memory(&req->op);
}

/* Return what is looked at, for those who read the run, as JSON text. */
static const char *
selection_text(struct request *req, const struct impact_request *given,
               const struct impact_selection *selection, const char *guards)
{
    json_t *text = json_pack("{s:s,s:s*,s:I,s:O*,s:O*,s:s}", "since",
                             given->since != NULL ? given->since : IMPACT_PERIOD, "until",
                             given->until, "decisions", (json_int_t) selection->decisions, "filter",
                             given->filter, "limits", given->limits, "guards", guards);
    return jsonx_dump(req->op.mem, jsonx_own(req->op.mem, text));
}

/* ---- answering ---- */

/* Name the reason why nothing can be measured now. */
static enum az_status
policy_impact_refuse(struct request *req, enum az_status st)
{
    struct az_fault *fault = &req->op.fault;
    return st == AZ_BUSY          ? az_fail_as(fault, AZ_IMPACT_IN_PROGRESS, NULL)
           : st == AZ_UNAVAILABLE ? az_fail_as(fault, AZ_IMPACT_UNAVAILABLE, NULL)
                                  : st;
}

/* Wait for the run as the caller prefers, and answer. */
static enum az_status
policy_impact_respond(struct request *req, int64_t id)
{
    const char *prefer = request_header(req, "HTTP_PREFER"), *dto;
    TRIAL_PLACE_AUTO place = {NULL};
    long wait =
        prefer != NULL ? header_prefer_wait(prefer, POLICY_IMPACT_WAIT_MAX) : POLICY_IMPACT_WAIT;
    bool running;
    if (wait > 0 && trial_place_take(req, &place) != AZ_OK) {
        wait = 0; /* the state is told, without a worker that waits */
        az_fault_clear(&req->op.fault);
    }
    enum az_status st = impact_wait(&req->op, id, wait * 1000, &dto, &running);
    if (st == AZ_OK && dto == NULL)
        return op_fail(&req->op, AZ_NOT_FOUND, NULL, "no such measurement");
    if (st == AZ_OK && running)
        respond_header(req, "Location",
                       talloc_asprintf(req->op.mem, "%s/admin/api/policy-impact/%lld",
                                       req->op.az->cfg->oidc_issuer, (long long) id));
    return st == AZ_OK ? respond_json_text(req, running ? 202 : 200, dto) : st;
}

enum az_status
policy_impact_create_handle(struct request *req)
{
    struct impact_request given = {.since = NULL};
    struct impact_selection selection;
    struct impact_pair pair;
    TRIAL_PLACE_AUTO place = {NULL};
    const char *guards;
    int64_t id;
    enum az_status st = read_request(req, &given, &selection);
    if (st == AZ_OK)
        st = trial_place_take(req, &place);
    if (st != AZ_OK)
        return st;
    if ((st = impact_candidate_read(req, &given.forms, &pair)) != AZ_OK)
        return policy_impact_refuse(req, st);
    trial_place_drop(&place);
    if ((st = add_watches(req, &given, &selection, &guards)) != AZ_OK)
        return st;
    const struct impact_label label = {req->admin.label,
                                       selection_text(req, &given, &selection, guards)};
    if (label.selection == NULL)
        return op_no_memory(&req->op);
    if ((st = impact_start(&req->op, &pair, &selection, &label, &id)) != AZ_OK)
        return policy_impact_refuse(req, st);
    req->audit.summary = talloc_asprintf(req->op.mem, "{\"impact\":%lld,\"candidate\":\"%s\"}",
                                         (long long) id, pair.candidate.revision);
    return policy_impact_respond(req, id);
}

enum az_status
policy_impact_get_handle(struct request *req)
{
    int64_t id = 0;
    enum az_status st = path_id_read(req, &id);
    return st == AZ_OK ? policy_impact_respond(req, id) : st;
}

enum az_status
policy_impact_list_handle(struct request *req)
{
    const char *list;
    enum az_status st = impact_list(&req->op, &list);
    return st == AZ_OK ? respond_json_text(req, 200, list) : st;
}

enum az_status
policy_impact_delete_handle(struct request *req)
{
    bool found = false;
    int64_t id = 0;
    enum az_status st = path_id_read(req, &id);
    if (st == AZ_OK)
        st = impact_remove(&req->op, id, &found);
    if (st != AZ_OK)
        return st;
    return found ? respond_empty(req, 204)
                 : op_fail(&req->op, AZ_NOT_FOUND, NULL, "no such measurement");
}
