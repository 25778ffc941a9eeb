#include "config.h"

#include <curl/curl.h>
#include <string.h>
#include <time.h>

#include "base/jsonx.h"
#include "policy/engine.h"

/* The bundle's name in opa.yaml (decisions.md "Policy"). */
#define BUNDLE "svc"

struct engine {
    CURL *curl; /* one handle, one kept connection; only what changes is set per call */
    struct curl_slist *headers;  /* Content-Type, and no Expect */
    char *base;                  /* http://host:port, or http://opa for a socket */
    char error[CURL_ERROR_SIZE]; /* libcurl's own words */
};

/* The octets of one answer; grows on the operation's memory up to ENGINE_ANSWER_MAX. */
struct answer {
    TALLOC_CTX *mem;
    char *text;
    size_t used, size;
};

static int
engine_destroy(struct engine *engine)
{
    curl_slist_free_all(engine->headers);
    curl_easy_cleanup(engine->curl);
    return 0;
}

static size_t
take_octets(char *octets, size_t size, size_t count, void *user)
{
    struct answer *answer = user;
    size_t length = size * count;
    if (answer->used + length >= ENGINE_ANSWER_MAX)
        return 0;
    if (answer->used + length >= answer->size) {
        size_t grown = (answer->used + length) * 2 + 2048;
        char *text = talloc_realloc(answer->mem, answer->text, char, (unsigned) grown);
        if (text == NULL)
            return 0;
        answer->text = text;
        answer->size = grown;
    }
    memcpy(answer->text + answer->used, octets, length);
    answer->used += length;
    answer->text[answer->used] = '\0';
    return length;
}

static void
set_fixed(struct engine *engine, const char *url, long timeout_ms)
{
    CURL *curl = engine->curl;
    if (strncmp(url, "unix:", 5) == 0)
        curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, url + 5);
    curl_easy_setopt(curl, CURLOPT_PROXY, ""); /* no proxy variable may redirect our questions */
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, timeout_ms);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, engine->error);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_octets);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, engine->headers);
    curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long) CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
}

struct engine *
engine_new(TALLOC_CTX *mem, const char *url, long timeout_ms)
{
    struct engine *engine = talloc_zero(mem, struct engine);
    if (engine == NULL || (engine->curl = curl_easy_init()) == NULL) {
        talloc_free(engine);
        return NULL;
    }
    talloc_set_destructor(engine, engine_destroy);
    engine->base = talloc_strdup(engine, strncmp(url, "unix:", 5) == 0 ? "http://opa" : url);
    engine->headers = curl_slist_append(NULL, "Content-Type: application/json");
    engine->headers = curl_slist_append(engine->headers, "Expect:");
    engine->headers = curl_slist_append(engine->headers, "Accept:");
    if (engine->base == NULL || engine->headers == NULL) {
        talloc_free(engine);
        return NULL;
    }
    set_fixed(engine, url, timeout_ms);
    return engine;
}

/* One call; the body as JSON by Jansson's flags. POST with a text, GET without. */
static enum az_status
call(struct op *op, const char *path, const char *text, size_t length, size_t flags, json_t **ret)
{
    struct engine *engine = op->az->engine;
    struct answer answer = {.mem = op->mem};
    char *url = talloc_asprintf(op->mem, "%s/%s", engine->base, path);
    long code = 0;
    engine->error[0] = '\0';
    curl_easy_setopt(engine->curl, CURLOPT_URL, url);
    curl_easy_setopt(engine->curl, CURLOPT_WRITEDATA, &answer);
    if (text != NULL) {
        curl_easy_setopt(engine->curl, CURLOPT_POSTFIELDS, text);
        curl_easy_setopt(engine->curl, CURLOPT_POSTFIELDSIZE, (long) length);
    } else {
        curl_easy_setopt(engine->curl, CURLOPT_HTTPGET, 1L);
    }
    CURLcode outcome = curl_easy_perform(engine->curl);
    if (outcome != CURLE_OK)
        return op_fail(op, AZ_UNAVAILABLE, NULL, "policy engine: %s",
                       engine->error[0] != '\0' ? engine->error : curl_easy_strerror(outcome));
    curl_easy_getinfo(engine->curl, CURLINFO_RESPONSE_CODE, &code);
    if (code != 200 || answer.text == NULL)
        return op_fail(op, AZ_UNAVAILABLE, NULL, "policy engine: HTTP %ld: %.200s", code,
                       answer.text != NULL ? answer.text : "");
    json_error_t error;
    *ret = jsonx_own(op->mem, json_loadb(answer.text, answer.used, flags, &error));
    if (*ret == NULL)
        return op_fail(op, AZ_UNAVAILABLE, NULL, "policy engine: answer is not JSON: %s",
                       error.text);
    return AZ_OK;
}

enum az_status
engine_evaluate(struct op *op, const char *entrypoint, const char *input, size_t length,
                struct engine_answer *ret)
{
    struct timespec start, end;
    json_t *answer;
    char *path = talloc_asprintf(op->mem, "v1/data/%s/result?provenance=true", entrypoint);
    char *body = talloc_asprintf(op->mem, "{\"input\":%s}", input);
    if (path == NULL || body == NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "no memory");
    clock_gettime(CLOCK_MONOTONIC, &start);
    enum az_status st =
        call(op, path, body, length + strlen("{\"input\":}"), JSON_REJECT_DUPLICATES, &answer);
    if (st != AZ_OK)
        return st;
    clock_gettime(CLOCK_MONOTONIC, &end);
    json_t *bundles = json_object_get(json_object_get(answer, "provenance"), "bundles");
    const char *revision =
        json_string_value(json_object_get(json_object_get(bundles, BUNDLE), "revision"));
    if (revision == NULL || *revision == '\0')
        return op_fail(op, AZ_UNAVAILABLE, NULL, "policy engine: no bundle is active yet");
    ret->result = json_object_get(answer, "result");
    ret->revision = revision;
    ret->us = (end.tv_sec - start.tv_sec) * 1000000L + (end.tv_nsec - start.tv_nsec) / 1000;
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
    ret->active_revision = talloc_strdup(mem, revision != NULL ? revision : "");
    ret->code = talloc_strdup(mem, code != NULL ? code : "");
    if (detail != NULL && file != NULL)
        ret->message =
            talloc_asprintf(mem, "%s:%lld: %s", file + (*file == '/'),
                            (long long) json_integer_value(json_object_get(place, "row")), detail);
    else
        ret->message = talloc_strdup(mem, detail != NULL ? detail : message != NULL ? message : "");
}

enum az_status
engine_revision(struct op *op, struct engine_status *ret)
{
    json_t *answer;
    enum az_status st = call(op, "v1/status", NULL, 0, ENGINE_STATUS_FLAGS, &answer);
    if (st != AZ_OK)
        return st;
    json_t *bundles = json_object_get(json_object_get(answer, "result"), "bundles");
    engine_read_status(op->mem, json_object_get(bundles, BUNDLE), ret);
    return AZ_OK;
}
