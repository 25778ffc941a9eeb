#include "config.h"

#include "policy/engine/engine.h"

#include <string.h>

#include "base/clock.h"
#include "base/iso8601.h"
#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "base/utf8.h"
#include "metrics/metrics.h"
#include "policy/engine/engine_http.h"

/* The bundle's name in etc/opa/opa.yaml. */
#define BUNDLE "svc"

/* Beginning of the message of an error in fetching a bundle. */
#define FETCH_FAILED "request failed"

/* The envelope of an input document in OPA's data API. */
#define BODY_BEFORE "{\"input\":"
#define BODY_AFTER "}"
#define NO_INPUT "{}"

/* Read the revision of the bundle that answered, and the engine with its version. */
static enum az_status
read_provenance(struct op *op, const json_t *answer, const char **ret_revision,
                const char **ret_engine)
{
    const json_t *provenance = json_object_get(answer, "provenance");
    const json_t *bundles = json_object_get(provenance, "bundles");
    const char *revision =
        json_string_value(json_object_get(json_object_get(bundles, BUNDLE), "revision"));
    if (revision == NULL || *revision == '\0')
        return op_fail(op, AZ_UNAVAILABLE, NULL, "policy engine: no bundle is active yet");
    *ret_revision = revision;
    const char *version = json_string_value(json_object_get(provenance, "version"));
    if (version != NULL)
        *ret_engine = talloc_asprintf(op->mem, "opa/%s", version);
    return AZ_OK;
}

/* Ask, and parse the answer; *ret_lack says why there is none after AZ_UNAVAILABLE. */
static enum az_status
ask_document(struct op *op, const struct http_question *question, json_t **ret,
             enum no_decision *ret_lack)
{
    struct http_answer answer;
    const char *why;
    enum az_status st = engine_http_exchange(op, question, &answer);
    bool came = st == AZ_OK || answer.why != NULL || answer.too_large;
    *ret_lack = came ? NO_DECISION_INVALID : NO_DECISION_UNREACHABLE;
    if (st != AZ_OK)
        return st;
    if (answer.status != 200)
        return engine_http_unexpected(op, &answer);
    st = jsonx_parse(op->mem, answer.body, answer.body_length, ENGINE_ANSWER_DEPTH_MAX, ret, &why);
    return st == AZ_INVALID
               ? op_fail(op, AZ_UNAVAILABLE, NULL, "policy engine: answer refused: %s", why)
               : st;
}

enum az_status
engine_opa_ask(struct op *op, const char *entrypoint, const json_t *input, long timeout_ms,
               struct engine_answer *ret)
{
    json_t *answer;
    size_t length;
    char *path = talloc_asprintf(op->mem, "/v1/data/%s/result?provenance=true", entrypoint);
    char *body = jsonx_dump_around(op->mem, BODY_BEFORE, input, BODY_AFTER, &length);
    if (path == NULL || body == NULL)
        return op_no_memory(op);
    ret->engine = "opa";
    ret->asked =
        (struct question_text){.text = body + strlen(BODY_BEFORE),
                               .length = length - strlen(BODY_BEFORE) - strlen(BODY_AFTER)};
    int64_t started = clock_monotonic_us();
    const struct http_question question = {path, body, length, ENGINE_DECISION_MAX, timeout_ms};
    enum az_status st = ask_document(op, &question, &answer, &ret->lack);
    ret->us = (long) (clock_monotonic_us() - started);
    if (st != AZ_OK)
        return st;
    if ((st = read_provenance(op, answer, &ret->revision, &ret->engine)) == AZ_OK)
        ret->result = json_object_get(answer, "result");
    ret->lack = ret->result == NULL ? NO_DECISION_UNDEFINED : NO_DECISION_INVALID;
    return st;
}

enum az_status
engine_opa_evaluate(struct op *op, const char *entrypoint, const json_t *input,
                    struct engine_answer *ret)
{
    enum az_status st = engine_opa_ask(op, entrypoint, input, 0, ret);
    const char *const counted[] = {"opa", st == AZ_OK ? "answered" : "failed"};
    metrics_add(op->az->metrics, METRIC_ENGINES, 0, counted);
    if (ret->asked.text != NULL)
        metrics_observe(op->az->metrics, METRIC_ENGINE_SECONDS, 0, ret->us);
    return st;
}

/* Cut a text to ENGINE_MESSAGE_MAX octets, between two code points. */
static char *
cut_text(char *text)
{
    if (text != NULL)
        text[utf8_start(text, ENGINE_MESSAGE_MAX)] = '\0';
    return text;
}

const char *
engine_first_error(TALLOC_CTX *mem, const json_t *errors, const char *otherwise)
{
    const json_t *first = json_array_get(errors, 0);
    const json_t *place = json_object_get(first, "location");
    const char *detail = json_string_value(json_object_get(first, "message"));
    const char *file = json_string_value(json_object_get(place, "file"));
    /* ENGINE_STATUS_FLAGS reads integers as reals. */
    double row = json_number_value(json_object_get(place, "row"));
    if (detail != NULL && file != NULL)
        return cut_text(talloc_asprintf(mem, "%s:%d: %s", file + (*file == '/'),
                                        row > 0 && row < INT32_MAX ? (int) row : 0, detail));
    return cut_text(talloc_strdup(mem, detail != NULL ? detail : otherwise));
}

void
engine_read_status(TALLOC_CTX *mem, const json_t *bundle, struct engine_status *ret)
{
    const char *revision = json_string_value(json_object_get(bundle, "active_revision"));
    const char *code = json_string_value(json_object_get(bundle, "code"));
    const char *message = json_string_value(json_object_get(bundle, "message"));
    const char *last = json_string_value(json_object_get(bundle, "last_request"));
    ret->tried_ms = 0;
    if (last != NULL && iso8601_parse(last, strlen(last), &ret->tried_ms) != AZ_OK)
        ret->tried_ms = 0;
    ret->transport =
        json_object_get(bundle, "http_code") != NULL
        || (message != NULL && strncmp(message, FETCH_FAILED, strlen(FETCH_FAILED)) == 0);
    ret->active_revision = talloc_strdup(mem, revision != NULL ? revision : "");
    ret->code = talloc_strdup(mem, code != NULL ? code : "");
    ret->message =
        engine_first_error(mem, json_object_get(bundle, "errors"), message != NULL ? message : "");
}

const char *
engine_instance(const json_t *labels)
{
    const char *instance = json_string_value(json_object_get(labels, "instance"));
    if (instance == NULL || *instance == '\0')
        instance = json_string_value(json_object_get(labels, "id"));
    return instance != NULL && strlen(instance) <= ENGINE_INSTANCE_MAX ? instance : NULL;
}

enum az_status
engine_revision(struct op *op, long timeout_ms, struct engine_status *ret)
{
    const struct http_question question = {
        .path = "/v1/status", .answer_max = ENGINE_STATUS_MAX, .timeout_ms = timeout_ms};
    char *text;
    size_t length;
    enum az_status st = engine_http_call(op, &question, &text, &length);
    if (st != AZ_OK)
        return st;
    const json_t *answer = jsonx_own(op->mem, json_loadb(text, length, ENGINE_STATUS_FLAGS, NULL));
    if (answer == NULL)
        return op_fail(op, AZ_UNAVAILABLE, NULL, "policy engine: the status is not JSON");
    const json_t *result = json_object_get(answer, "result");
    const char *instance = engine_instance(json_object_get(result, "labels"));
    engine_read_status(op->mem, json_object_get(json_object_get(result, "bundles"), BUNDLE), ret);
    ret->instance = instance != NULL ? talloc_strdup(op->mem, instance) : NULL;
    return AZ_OK;
}

enum az_status
engine_evaluates(struct op *op)
{
    static const struct http_question question = {.path = "/health",
                                                  .answer_max = ENGINE_DECISION_MAX};
    char *text;
    size_t length;
    return engine_http_call(op, &question, &text, &length);
}

/* ---- trials ---- */

const char *const engine_explain_words[ENGINE_EXPLAIN_COUNT] = {
    [ENGINE_EXPLAIN_OFF] = "",        [ENGINE_EXPLAIN_NOTES] = "notes",
    [ENGINE_EXPLAIN_FAILS] = "fails", [ENGINE_EXPLAIN_FULL] = "full",
    [ENGINE_EXPLAIN_DEBUG] = "debug",
};

static enum az_status
engine_refuse(struct op *op, struct engine_trial *ret, const char *error, const char *message)
{
    ret->error = error;
    ret->message = message;
    return op_fail(op, AZ_UNPROCESSABLE, message, "policy engine: %s", message);
}

/*
 * Read an answer that is not 200. OPA answers 500 when an evaluation fails (one rule with two
 * values), and 400 or 404 for a question that it does not accept. Its error has a code and a
 * message; a body without them does not come from OPA.
 */
static enum az_status
read_refusal(struct op *op, const struct http_answer *answer, struct engine_trial *ret)
{
    json_t *error = NULL;
    bool told = answer->status == 500 || answer->status == 400 || answer->status == 404;
    if (told)
        jsonx_parse(op->mem, answer->body, answer->body_length, ENGINE_ANSWER_DEPTH_MAX, &error,
                    NULL);
    const char *message = json_string_value(json_object_get(error, "message"));
    json_t *errors = json_object_get(error, "errors");
    if (message == NULL || !json_is_string(json_object_get(error, "code")))
        return engine_http_unexpected(op, answer);
    ret->errors = json_array_size(errors) > 0 ? errors : NULL;
    message = engine_first_error(op->mem, errors, message);
    return message != NULL ? engine_refuse(op, ret, "evaluation_failed", message)
                           : op_no_memory(op);
}

/* Refuse an answer that cannot be read. JSON outside of our limits (a number beyond 64 bits, a NUL)
 * is the fault of a rule; an answer that is not JSON is not. */
static enum az_status
refuse_unreadable(struct op *op, const struct http_answer *answer, const char *why,
                  struct engine_trial *ret)
{
    const size_t flags = ENGINE_STATUS_FLAGS | JSON_ALLOW_NUL;
    if (jsonx_own(op->mem, json_loadb(answer->body, answer->body_length, flags, NULL)) == NULL)
        return op_fail(op, AZ_UNAVAILABLE, NULL, "policy engine: answer refused: %s", why);
    return engine_refuse(op, ret, "answer_unreadable",
                         talloc_asprintf(op->mem, "The answer cannot be shown: %s", why));
}

static enum az_status
read_trial(struct op *op, const struct http_answer *answer, struct engine_trial *ret)
{
    json_t *body;
    const char *why, *version;
    enum az_status st = jsonx_parse(op->mem, answer->body, answer->body_length,
                                    ENGINE_ANSWER_DEPTH_MAX, &body, &why);
    if (st == AZ_INVALID)
        return refuse_unreadable(op, answer, why, ret);
    if (st != AZ_OK)
        return op_fail(op, st, NULL, "out of memory for the policy answer");
    if ((st = read_provenance(op, body, &ret->revision, &version)) != AZ_OK)
        return st;
    ret->result = json_object_get(body, "result");
    ret->explanation = json_object_get(body, "explanation");
    const char *line = json_string_value(json_array_get(ret->explanation, 0));
    if (json_array_size(ret->explanation) == 1 && line != NULL && *line == '\0')
        json_array_clear(ret->explanation); /* OPA writes a trace without lines this way */
    ret->metrics = json_object_get(body, "metrics");
    return AZ_OK;
}

enum az_status
engine_query(struct op *op, const char *query, long timeout_ms, struct engine_trial *ret)
{
    struct http_answer answer;
    struct http_question question = {
        .path = "/v1/query", .answer_max = ENGINE_STATUS_MAX, .timeout_ms = timeout_ms};
    json_t *body = jsonx_own(op->mem, json_pack("{s:s}", "query", query));
    const char *why;
    *ret = (struct engine_trial){.result = NULL};
    question.body =
        body != NULL ? jsonx_dump_around(op->mem, "", body, "", &question.length) : NULL;
    if (question.body == NULL)
        return op_no_memory(op);
    enum az_status st = engine_http_exchange(op, &question, &answer);
    ret->late = answer.late;
    if (st != AZ_OK)
        return st;
    if (answer.status != 200)
        return read_refusal(op, &answer, ret);
    st =
        jsonx_parse(op->mem, answer.body, answer.body_length, ENGINE_ANSWER_DEPTH_MAX, &body, &why);
    if (st == AZ_OK)
        ret->result = json_object_get(body, "result");
    return st == AZ_OK ? st : op_fail(op, AZ_UNAVAILABLE, NULL, "policy engine: answer refused");
}

enum az_status
engine_try(struct op *op, const char *path, const json_t *input, enum engine_explain explain,
           struct engine_trial *ret)
{
    long configured = op->az->cfg->policy_timeout_ms;
    return engine_try_for(op, path, input, explain,
                          configured > ENGINE_TRIAL_WAIT_MS ? configured : ENGINE_TRIAL_WAIT_MS,
                          ret);
}

enum az_status
engine_try_for(struct op *op, const char *path, const json_t *input, enum engine_explain explain,
               long timeout_ms, struct engine_trial *ret)
{
    struct http_answer answer = {.status = 0};
    struct http_question question = {.answer_max = ENGINE_TRIAL_MAX, .timeout_ms = timeout_ms};
    bool traced = explain != ENGINE_EXPLAIN_OFF;
    *ret = (struct engine_trial){.result = NULL};
    question.path = talloc_asprintf(op->mem, "/v1/data/%s?provenance=true&metrics=true%s%s%s", path,
                                    traced ? "&explain=" : "", engine_explain_words[explain],
                                    traced ? "&pretty=true" : "");
    question.length = strlen(NO_INPUT);
    question.body =
        input != NULL ? jsonx_dump_around(op->mem, BODY_BEFORE, input, BODY_AFTER, &question.length)
                      : NO_INPUT;
    if (question.path == NULL || question.body == NULL)
        return op_no_memory(op);
    enum az_status st = engine_http_exchange(op, &question, &answer);
    ret->late = answer.late;
    if (st != AZ_OK && answer.too_large) {
        az_fault_clear(&op->fault);
        return engine_refuse(
            op, ret, "answer_too_large",
            traced ? "The answer with its trace is too large; ask with explain notes or "
                     "without explain"
                   : "The answer is too large; ask for a path further down");
    }
    if (st != AZ_OK)
        return st;
    return answer.status == 200 ? read_trial(op, &answer, ret) : read_refusal(op, &answer, ret);
}
