/*
 * A worker of the gateway that sends requests to an upstream, for
 * t/http/gateway/upstream_transfer.t. Settings come from the environment, as those of the service
 * do.
 *
 *   upstreamer '{"origin": "http://localhost:1", "target": "/a", ...}'...
 *
 * Members, all but origin and target optional: method, fields (array of [name, value]), body (text
 * in memory), stream (text that is read piece by piece), announced (of the stream, -1: unknown),
 * short (the caller goes after the stream), max_body, max_answer, timeout_ms, connect_ms, private,
 * stop (the sink has enough after so many octets), gone_ms (the caller has gone after so many
 * milliseconds). One process sends all of them, one after the other, and prints a JSON object for
 * each.
 */
#include "config.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/settings/settings.h"
#include "base/uri.h"
#include "gateway/upstream/transfer.h"
#include "process.h"

/* Octets of the body that are printed. */
#define SHOWN_MAX 4096

struct told {
    const json_t *plan;
    size_t read;  /* octets of the stream */
    size_t taken; /* octets of the answer */
    size_t stop;  /* 0: never */
    char shown[SHOWN_MAX + 1];
    int64_t gone_at; /* 0: never */
};

static const char *
told_text(const json_t *plan, const char *name, const char *otherwise)
{
    const char *text = json_string_value(json_object_get(plan, name));
    return text != NULL ? text : otherwise;
}

static int64_t
told_number(const json_t *plan, const char *name, int64_t otherwise)
{
    const json_t *value = json_object_get(plan, name);
    return json_is_integer(value) ? json_integer_value(value) : otherwise;
}

static long
told_more(void *arg, void *buffer, size_t size)
{
    struct told *told = arg;
    const json_t *stream = json_object_get(told->plan, "stream");
    size_t left = json_string_length(stream) - told->read;
    size_t length = left < size ? left : size;
    if (length == 0 && json_object_get(told->plan, "short") != NULL)
        return -1;
    memcpy(buffer, json_string_value(stream) + told->read, length);
    told->read += length;
    return (long) length;
}

static bool
told_take(void *arg, const void *octets, size_t length)
{
    struct told *told = arg;
    if (told->taken < SHOWN_MAX) {
        size_t room = SHOWN_MAX - told->taken;
        memcpy(told->shown + told->taken, octets, length < room ? length : room);
    }
    told->taken += length;
    return told->stop == 0 || told->taken < told->stop;
}

static bool
told_gone(void *arg)
{
    const struct told *told = arg;
    return clock_monotonic_ms() >= told->gone_at;
}

static struct transfer_plan
told_plan(struct op *op, const json_t *json, struct told *told, struct upstream_body *body,
          struct upstream_field *fields)
{
    struct uri uri = {.host = NULL};
    size_t index, count = 0;
    json_t *pair;
    const char *text = json_string_value(json_object_get(json, "body"));
    if (uri_parse(op->mem, told_text(json, "origin", ""), &uri) != AZ_OK)
        exit(64);
    json_array_foreach (json_object_get(json, "fields"), index, pair)
        fields[count++] = (struct upstream_field){json_string_value(json_array_get(pair, 0)),
                                                  json_string_value(json_array_get(pair, 1))};
    *body = (struct upstream_body){.octets = text, .length = text != NULL ? strlen(text) : 0};
    if (json_object_get(json, "stream") != NULL)
        *body = (struct upstream_body){
            .more = told_more, .arg = told, .announced = told_number(json, "announced", -1)};
    told->stop = (size_t) told_number(json, "stop", 0);
    if (json_object_get(json, "gone_ms") != NULL)
        told->gone_at = clock_monotonic_ms() + told_number(json, "gone_ms", 0);
    return (struct transfer_plan){
        .origin = told_text(json, "origin", ""),
        .host = uri.host,
        .scheme = uri.scheme,
        .target = talloc_strdup(op->mem, told_text(json, "target", "/")),
        .method = told_text(json, "method", "GET"),
        .fields = fields,
        .field_count = count,
        .body = body,
        .max_body = (size_t) told_number(json, "max_body", 1000000),
        .max_answer = (size_t) told_number(json, "max_answer", 1000000),
        .connect_ms = (long) told_number(json, "connect_ms", 20000),
        .timeout_ms = (long) told_number(json, "timeout_ms", 20000),
        .private_connection = json_is_true(json_object_get(json, "private")),
        .gone = told->gone_at != 0 ? told_gone : NULL,
        .gone_arg = told,
    };
}

static void
tell(struct az *az, const json_t *json)
{
    struct op op = process_op(talloc_new(az), az);
    struct told *told = talloc_zero(op.mem, struct told);
    told->plan = json;
    struct upstream_field fields[16];
    struct upstream_body body;
    struct upstream_transfer *transfer = NULL;
    struct upstream_sink sink = {.take = told_take, .arg = told};
    bool connected = true;
    int64_t began = clock_monotonic_ms();
    struct transfer_plan plan = told_plan(&op, json, told, &body, fields);
    enum az_status st = transfer_begin(&op, &plan, &transfer, &connected);
    json_t *out = json_object();
    if (st == AZ_OK) {
        json_t *list = json_array();
        st = upstream_pump(transfer, &sink);
        for (size_t i = 0; i < transfer->answer->fields; i++)
            json_array_append_new(list, json_pack("[s,s]", transfer->answer->field[i].name,
                                                  transfer->answer->field[i].value));
        json_object_update_new(out, json_pack("{s:i,s:s,s:I,s:o,s:I,s:b}", "http",
                                              transfer->answer->status, "type",
                                              transfer->answer->content_type, "announced",
                                              (json_int_t) transfer->answer->announced, "fields",
                                              list, "octets", (json_int_t) transfer->answer->octets,
                                              "stopped", transfer->answer->stopped));
    }
    if (transfer != NULL)
        upstream_done(transfer);
    json_object_set_new(out, "error", json_string(st == AZ_OK ? "" : az_status_row(st)->error));
    json_object_set_new(out, "detail", json_string(op.fault.detail));
    json_object_set_new(out, "body", json_string(told->shown));
    json_object_set_new(out, "connected", json_boolean(connected));
    json_object_set_new(out, "took", json_integer(clock_monotonic_ms() - began));
    json_dumpf(out, stdout, JSON_COMPACT | JSON_SORT_KEYS);
    putchar('\n');
    json_decref(out);
    talloc_free(op.mem);
}

int
main(int argc, char **argv)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct problems problems = {NULL, 0};
    struct az *az = argc > 1 ? process_new(mem, true, &problems) : NULL;
    for (size_t i = 0; i < problems.count; i++)
        fprintf(stderr, "%s\n", problems.line[i]);
    if (az == NULL || problems.count > 0)
        return 78;
    for (int i = 1; i < argc; i++) {
        json_t *json = json_loads(argv[i], 0, NULL);
        if (json == NULL)
            return 64;
        tell(az, json);
        json_decref(json);
    }
    talloc_free(mem);
    return 0;
}
