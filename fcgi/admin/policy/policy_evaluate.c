#include "config.h"

#include "admin/policy/policy_evaluate.h"

#include <string.h>

#include "admin/policy/evaluate_beside.h"
#include "admin/policy/policy_refusal.h"
#include "admin/policy/policy_replay.h"
#include "admin/trial_place.h"
#include "base/json/fields.h"
#include "base/json/jsonx.h"
#include "base/pack.h"
#include "base/words.h"
#include "policy/decide/decision.h"
#include "policy/decide/gateway.h"
#include "policy/decide/question.h"
#include "policy/engine/engine.h"
#include "policy/rows/cedar_rule.h"
#include "policy/rows/cedar_trial.h"
#include "policy/rows/rule.h"
#include "policy/trial/evaluate.h"
#include "store/audit/read/audit_read.h"

/* The path below which the entrypoints of decisions are (policy.md 6.3). */
#define DECISIONS "svc/decision/"

/* One request and its results. */
struct evaluation {
    const char *path;    /* path as given, or NULL */
    const json_t *input; /* input as given, or the stored one */
    int64_t audit_id;    /* 0: not given */
    struct evaluate_beside beside;
    const json_t *explain_given; /* true, false or a word */
    enum engine_explain explain;
    struct audit_record row; /* audit row that is replayed */
    json_t *before;          /* decision of that time; null if it was not kept */
    json_t *lacks;           /* what the stored input lacks; see gateway_not_stored() */
    const char *target;      /* path that the engine evaluates */
    struct engine_trial trial;
};

/* clang-format off */
static const struct field evaluate_fields[] = {
    {"path",    FIELD_TEXT,    .max = POLICY_EVALUATE_PATH_MAX, FIELD_INTO(struct evaluation, path),
     .help = "Rule or value to evaluate, or the path of a Cedar rule",
     .example = "\"svc/decision/issue\""},
    {"input",   FIELD_OBJECT,  FIELD_INTO(struct evaluation, input),
     .help = "Input of the evaluation, in place of auditId; of a Cedar rule also a request with "
             "principal, action, resource, context and entities", .example = "{\"client\": "
                                                                      "{\"id\": \"shop\"}}"},
    {"auditId", FIELD_INTEGER, .min = 1, .max = INT64_MAX, FIELD_INTO(struct evaluation, audit_id),
     .help = "Audit row whose stored input is evaluated again"},
    {"changes", FIELD_OBJECT,  .shape = &evaluate_changes_table,
     FIELD_INTO(struct evaluation, beside.changes),
     .help = "Changes of the policy that are not saved: it answers with them"},
    {"revision", FIELD_INTEGER, .min = 1, .max = INT64_MAX,
     FIELD_INTO(struct evaluation, beside.revision),
     .help = "Id of a bundle whose rows answer, in place of the active ones"},
    {"explain", FIELD_ANY,     FIELD_INTO(struct evaluation, explain_given),
     .help = "true, false, notes, fails, full or debug: trace of the evaluation",
     .example = "false"},
};
const struct field_table policy_evaluate_table = FIELD_TABLE("PolicyEvaluationRequest",
                                                             evaluate_fields, 0);
/* clang-format on */

/* ---- rules ---- */

const char *
policy_evaluate_path_fault(const char *path)
{
    static const char word[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    if (strlen(path) > POLICY_EVALUATE_PATH_MAX)
        return "is too long";
    for (;;) {
        size_t length = strspn(path, word);
        path += length;
        if (length == 0 || (*path != '/' && *path != '\0'))
            return "must be words of A-Z a-z 0-9 _ - separated by slashes";
        if (*path++ == '\0')
            return NULL;
    }
}

/* True if a path is that of a rule in Cedar. A dot is in no other path. */
static bool
is_cedar_rule(const char *path)
{
    return rule_path_fault(path) == NULL && strcmp(rule_kind(path), "cedar") == 0;
}

static bool
read_explain(const json_t *given, enum engine_explain *ret)
{
    if (given == NULL || json_is_null(given) || json_is_boolean(given)) {
        *ret = json_is_true(given) ? ENGINE_EXPLAIN_FULL : ENGINE_EXPLAIN_OFF;
        return true;
    }
    for (int i = ENGINE_EXPLAIN_OFF + 1; json_is_string(given) && i < ENGINE_EXPLAIN_COUNT; i++)
        if (strcmp(json_string_value(given), engine_explain_words[i]) == 0) {
            *ret = (enum engine_explain) i;
            return true;
        }
    return false;
}

/* True if a path names an entrypoint itself. */
static bool
is_decision(const char *path)
{
    return strncmp(path, DECISIONS, strlen(DECISIONS)) == 0
           && strchr(path + strlen(DECISIONS), '/') == NULL;
}

/* ---- reading ---- */

/* A policy that is not active answers the entrypoints of decisions alone, without a trace: their
 * plan is all that is made of it. */
static void
check_beside(struct request *req, const struct evaluation *evaluation)
{
    const char *member = evaluation->beside.changes != NULL ? "changes" : "revision";
    if (evaluation->beside.changes != NULL && evaluation->beside.revision != 0)
        request_field_error(req, "revision", "cannot be given together with changes");
    if (evaluation->explain != ENGINE_EXPLAIN_OFF)
        request_field_error(req, "explain", "is there for the active policy alone");
    if (evaluation->path != NULL && !is_decision(evaluation->path))
        request_field_error(req, member, "needs a path of a decision, such as svc/decision/issue");
}

static enum az_status
policy_evaluate_read(struct request *req, struct evaluation *ret)
{
    const char *why;
    fields_read(req->op.mem, &policy_evaluate_table, req->json, request_field_fault, req, ret,
                NULL);
    if (!read_explain(ret->explain_given, &ret->explain))
        request_field_error(req, "explain", "must be true, false, notes, fails, full or debug");
    if (ret->path != NULL && !is_cedar_rule(ret->path)
        && (why = policy_evaluate_path_fault(ret->path)) != NULL)
        request_field_error(req, "path", why);
    const json_t *path = json_object_get(req->json, "path"),
                 *input = json_object_get(req->json, "input"),
                 *audit_id = json_object_get(req->json, "auditId");
    bool has_input = input != NULL && !json_is_null(input),
         has_audit_id = audit_id != NULL && !json_is_null(audit_id);
    if (has_input && has_audit_id)
        request_field_error(req, "auditId", "cannot be given together with input");
    if (!has_input && !has_audit_id)
        request_field_error(req, "input", "is required unless auditId is given");
    if (ret->beside.changes != NULL || ret->beside.revision != 0)
        check_beside(req, ret);
    if (!has_audit_id && (path == NULL || json_is_null(path)))
        request_field_error(req, "path", "is required unless auditId is given");
    return req->error_body == NULL && req->op.fault.status == AZ_OK
               ? AZ_OK
               : op_fail(&req->op, AZ_INVALID_FIELDS, NULL, NULL);
}

static enum az_status
policy_evaluate_unpack(struct op *op, const unsigned char *packed, size_t length, json_t **ret)
{
    char *text;
    size_t text_length;
    if (unpack_text(op->mem, packed, length, &text, &text_length) != AZ_OK
        || jsonx_parse(op->mem, text, text_length, ENGINE_ANSWER_DEPTH_MAX, ret, NULL) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "a document of an audit row is damaged");
    return AZ_OK;
}

/* Find the entrypoint that a stored input was for. */
static enum az_status
policy_evaluate_find_path(struct request *req, struct evaluation *evaluation)
{
    evaluation->path = question_entrypoint(req->op.mem, evaluation->input);
    if (evaluation->path == NULL || policy_evaluate_path_fault(evaluation->path) != NULL)
        return op_fail(&req->op, AZ_UNPROCESSABLE,
                       "The stored policy input does not name an evaluation; give a path", NULL);
    return AZ_OK;
}

static enum az_status
fetch_replay(struct request *req, struct evaluation *evaluation)
{
    struct op *op = &req->op;
    struct audit_record *row = &evaluation->row;
    json_t *input = NULL;
    enum az_status st = audit_fetch(op, evaluation->audit_id, row);
    if (st == AZ_OK && row->input == NULL)
        return op_fail(op, AZ_UNPROCESSABLE,
                       "The audit row has no policy input: it records no policy decision",
                       "audit row of %s", row->endpoint);
    if (st == AZ_OK)
        st = policy_evaluate_unpack(op, row->input, row->input_length, &input);
    evaluation->input = input;
    evaluation->before = jsonx_own(op->mem, json_null());
    if (st == AZ_OK && row->decision != NULL)
        st = policy_evaluate_unpack(op, row->decision, row->decision_length, &evaluation->before);
    if (st == AZ_OK
        && (evaluation->lacks = gateway_not_stored(op->mem, input, evaluation->before)) == NULL)
        st = op_no_memory(op);
    return st == AZ_OK && evaluation->path == NULL ? policy_evaluate_find_path(req, evaluation)
                                                   : st;
}

/* ---- asking ---- */

/* Return the path that the engine evaluates, or NULL if out of memory. */
static const char *
policy_evaluate_target(TALLOC_CTX *mem, const char *path)
{
    if (is_cedar_rule(path)) {
        const char *digits = cedar_rule_digits(mem, path);
        return digits != NULL ? talloc_asprintf(mem, CEDAR_RULE_DOCUMENT "%s/result", digits)
                              : NULL;
    }
    return is_decision(path) ? talloc_asprintf(mem, "%s/result", path) : path;
}

/* Give a Cedar rule its input: the member `cedar` as decisions have it, or a request of Cedar. */
static enum az_status
policy_evaluate_cedar(struct request *req, struct evaluation *evaluation)
{
    const char *why;
    json_t *input = NULL;
    if (json_object_get(evaluation->input, "cedar") != NULL)
        return AZ_OK;
    if (evaluation->audit_id != 0)
        return op_fail(&req->op, AZ_UNPROCESSABLE,
                       "The stored policy input has no member cedar, which Cedar rules read", NULL);
    enum az_status st = cedar_trial_input(req->op.mem, evaluation->input, &input, &why);
    if (st == AZ_INVALID)
        return request_invalid_field(req, "input", why);
    evaluation->input = input;
    return st == AZ_OK ? st : op_fail(&req->op, st, NULL, "out of memory for a Cedar request");
}

/* Record the path and the revision in the audit row. With its input and answer too, the row would
 * count as a decision for a client. */
static void
policy_evaluate_note(struct request *req, const struct evaluation *evaluation)
{
    struct jsonx_build summary = {
        jsonx_own(req->op.mem, json_pack("{s:s,s:s*}", "path", evaluation->target, "revision",
                                         evaluation->trial.revision)),
        false};
    if (evaluation->audit_id != 0)
        jsonx_set(&summary, "auditId", json_integer(evaluation->audit_id));
    req->audit.summary = jsonx_dump(req->op.mem, jsonx_built(&summary));
}

/* Answer 422 {error, error_description, errors}: the fault of the rule in the words of the
 * engine. */
static enum az_status
policy_evaluate_refuse(struct request *req, const struct engine_trial *trial)
{
    req->error_body = jsonx_own(req->op.mem, json_pack("{s:s,s:s,s:O*}", "error", trial->error,
                                                       "error_description", trial->message,
                                                       "errors", trial->errors));
    return AZ_UNPROCESSABLE;
}

/* Answer 503: a rule that does not end cannot be told from an engine that does not answer. */
static enum az_status
policy_evaluate_outage(struct op *op)
{
    return az_fail_as(&op->fault, AZ_UNAVAILABLE,
                      "The policy engine is not reachable or takes too long");
}

static enum az_status
policy_evaluate_ask(struct request *req, struct evaluation *evaluation)
{
    evaluation->target = policy_evaluate_target(req->op.mem, evaluation->path);
    if (evaluation->target == NULL)
        return op_no_memory(&req->op);
    policy_evaluate_note(req, evaluation);
    bool beside = evaluation->beside.changes != NULL || evaluation->beside.revision != 0;
    enum az_status st = beside ? evaluate_beside_ask(req, &evaluation->beside, evaluation->target,
                                                     evaluation->input, &evaluation->trial)
                               : trial_evaluate(&req->op, evaluation->target, evaluation->input,
                                                evaluation->explain, &evaluation->trial);
    if (st != AZ_OK && beside && evaluation->trial.error == NULL)
        return st;
    if (st == AZ_UNPROCESSABLE)
        return policy_evaluate_refuse(req, &evaluation->trial);
    if (st == AZ_UNAVAILABLE)
        return policy_evaluate_outage(&req->op);
    if (st == AZ_OK)
        policy_evaluate_note(req, evaluation);
    return st;
}

/*
 * Put the answer into the form in which decisions are stored: reasons in order, no reserved claims.
 * Its own values serve as its bounds, because only the endpoint that asked knew the real ones. An
 * answer that is not a decision stays as it is.
 */
static enum az_status
policy_evaluate_settle(struct op *op, json_t *answer)
{
    const struct decision_bounds bounds = {
        .scopes = json_object_get(answer, "scopes"),
        .resource = json_string_value(json_object_get(answer, "resource")),
        .resource_types = json_object_get(answer, "resource_types"),
        .details = json_object_get(answer, "authorization_details"),
    };
    struct decision decision = {.revision = ""};
    enum az_status st = decision_read(op, answer, &bounds, &decision);
    if (st == AZ_UNAVAILABLE)
        az_fault_clear(&op->fault);
    return st == AZ_UNAVAILABLE ? AZ_OK : st;
}

/* ---- answering ---- */

/* Add the members that both forms of the answer have, and answer 200. */
static enum az_status
policy_evaluate_respond(struct request *req, const struct engine_trial *trial, json_t *body)
{
    bool whole =
        body != NULL
        && (trial->result != NULL || json_object_set_new(body, "undefined", json_true()) == 0)
        && (trial->explanation == NULL
            || json_object_set(body, "explanation", trial->explanation) == 0)
        && (trial->metrics == NULL || json_object_set(body, "metrics", trial->metrics) == 0)
        && json_object_set_new(body, "revision", json_string(trial->revision)) == 0;
    return respond_json(req, 200, whole ? body : NULL);
}

static enum az_status
respond_trial(struct request *req, const struct engine_trial *trial)
{
    return policy_evaluate_respond(
        req, trial, jsonx_own(req->op.mem, json_pack("{s:O?}", "result", trial->result)));
}

/*
 * Answer 200 without `after` and `changed`: the stored input lacks values, so the engine's answer
 * to it would be the answer to another question.
 */
static enum az_status
respond_incomparable(struct request *req, const struct evaluation *evaluation)
{
    static const char why[] =
        "The row does not have all of the input: argument_mode of the data row "
        "svc.operator.controls.audit decides what is stored. Set it to full for later rows, or "
        "complete the input and evaluate it with path and input";
    const struct audit_record *row = &evaluation->row;
    policy_evaluate_note(req, evaluation);
    return respond_json(
        req, 200,
        jsonx_own(req->op.mem,
                  json_pack("{s:s,s:s,s:O,s:b,s:s,s:O}", "endpoint", row->endpoint, "createdAt",
                            row->created_at, "before", evaluation->before, "comparable", 0,
                            "notComparable", why, "notStored", evaluation->lacks)));
}

static enum az_status
respond_replay(struct request *req, struct evaluation *evaluation)
{
    const struct audit_record *row = &evaluation->row;
    json_t *after = evaluation->trial.result;
    enum az_status st = policy_evaluate_settle(&req->op, after);
    if (st != AZ_OK)
        return st;
    const json_t *seen = after != NULL ? after : jsonx_own(req->op.mem, json_null());
    json_t *changes = policy_replay_changes(req->op.mem, evaluation->before, seen);
    json_t *body =
        jsonx_own(req->op.mem, json_pack("{s:s,s:s,s:b,s:O,s:O?,s:b,s:O}", "endpoint",
                                         row->endpoint, "createdAt", row->created_at, "comparable",
                                         1, "before", evaluation->before, "after", after, "changed",
                                         json_array_size(changes) > 0, "changes", changes));
    return policy_evaluate_respond(req, &evaluation->trial, body);
}

enum az_status
policy_evaluate_handle(struct request *req)
{
    struct evaluation evaluation = {.path = NULL};
    TRIAL_PLACE_AUTO place = {NULL};
    enum az_status st = policy_evaluate_read(req, &evaluation);
    if (st == AZ_OK && evaluation.audit_id != 0)
        st = fetch_replay(req, &evaluation);
    if (st == AZ_OK && json_array_size(evaluation.lacks) > 0)
        return respond_incomparable(req, &evaluation);
    if (st == AZ_OK && is_cedar_rule(evaluation.path))
        st = policy_evaluate_cedar(req, &evaluation);
    if (st == AZ_OK)
        st = trial_place_take(req, &place);
    if (st == AZ_OK)
        st = policy_evaluate_ask(req, &evaluation);
    if (st != AZ_OK)
        return st;
    return evaluation.audit_id != 0 ? respond_replay(req, &evaluation)
                                    : respond_trial(req, &evaluation.trial);
}
