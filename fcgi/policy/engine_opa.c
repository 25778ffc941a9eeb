#include "config.h"

#include <string.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "policy/engine.h"
#include "policy/engine_http.h"

/* The bundle's name in opa.yaml (decisions.md "Policy"). */
#define BUNDLE "svc"

/* What OPA's data API wants around an input document. */
#define BODY_BEFORE "{\"input\":"
#define BODY_AFTER "}"

enum az_status
engine_evaluate(struct op *op, const char *entrypoint, const json_t *input,
                struct engine_answer *ret)
{
    char *text;
    json_t *answer;
    size_t length, text_length;
    const char *why;
    char *path = talloc_asprintf(op->mem, "/v1/data/%s/result?provenance=true", entrypoint);
    char *body = jsonx_dump_around(op->mem, BODY_BEFORE, input, BODY_AFTER, &length);
    if (path == NULL || body == NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "no memory for the policy input");
    ret->input = body + strlen(BODY_BEFORE);
    ret->input_length = length - strlen(BODY_BEFORE) - strlen(BODY_AFTER);
    int64_t started = clock_monotonic_us();
    enum az_status st =
        engine_http_call(op, path, body, length, ENGINE_DECISION_MAX, &text, &text_length);
    if (st == AZ_OK)
        st = jsonx_parse(op->mem, text, text_length, ENGINE_ANSWER_DEPTH_MAX, &answer, &why);
    if (st == AZ_INVALID)
        st = op_fail(op, AZ_UNAVAILABLE, NULL, "policy engine: answer refused: %s", why);
    ret->us = (long) (clock_monotonic_us() - started);
    if (st != AZ_OK)
        return st;
    const json_t *provenance = json_object_get(answer, "provenance");
    json_t *bundles = json_object_get(provenance, "bundles");
    const char *revision =
        json_string_value(json_object_get(json_object_get(bundles, BUNDLE), "revision"));
    if (revision == NULL || *revision == '\0')
        return op_fail(op, AZ_UNAVAILABLE, NULL, "policy engine: no bundle is active yet");
    ret->version = json_string_value(json_object_get(provenance, "version"));
    ret->result = json_object_get(answer, "result");
    ret->revision = revision;
    return AZ_OK;
}

void
engine_read_status(TALLOC_CTX *mem, const json_t *bundle, struct engine_status *ret)
{
    const char *revision = json_string_value(json_object_get(bundle, "active_revision"));
    const char *code = json_string_value(json_object_get(bundle, "code"));
    const char *message = json_string_value(json_object_get(bundle, "message"));
    const json_t *first = json_array_get(json_object_get(bundle, "errors"), 0);
    const json_t *place = json_object_get(first, "location");
    const char *detail = json_string_value(json_object_get(first, "message"));
    const char *file = json_string_value(json_object_get(place, "file"));
    /* ENGINE_STATUS_FLAGS makes a real of it. */
    double row = json_number_value(json_object_get(place, "row"));
    ret->active_revision = talloc_strdup(mem, revision != NULL ? revision : "");
    ret->code = talloc_strdup(mem, code != NULL ? code : "");
    if (detail != NULL && file != NULL)
        ret->message = talloc_asprintf(mem, "%s:%d: %s", file + (*file == '/'),
                                       row > 0 && row < INT32_MAX ? (int) row : 0, detail);
    else
        ret->message = talloc_strdup(mem, detail != NULL ? detail : message != NULL ? message : "");
}

const char *
engine_instance(const json_t *labels)
{
    const char *instance = json_string_value(json_object_get(labels, "instance"));
    if (instance == NULL)
        instance = json_string_value(json_object_get(labels, "id"));
    return instance != NULL && strlen(instance) <= ENGINE_INSTANCE_MAX ? instance : NULL;
}

enum az_status
engine_revision(struct op *op, struct engine_status *ret)
{
    char *text;
    size_t length;
    enum az_status st =
        engine_http_call(op, "/v1/status", NULL, 0, ENGINE_STATUS_MAX, &text, &length);
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
