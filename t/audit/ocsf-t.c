/* Audit rows as events of OCSF 1.3.0 and as log records of OTLP (decisions.md "Audit events"). */
#include "config.h"

#include "audit/ocsf.h"

#include <stdio.h>
#include <string.h>

#include "audit/otlp.h"
#include "http/route.h"
#include "tap.h"

enum { A = 1, S = 2, P = 4, ALL = 7 }; /* Authentication, Authorize Session, API Activity */

/* The members of the schema (schema.ocsf.io/1.3.0) that events may have: type, the classes that
 * have them, and those that require them where the object around them is there. */
static const struct {
    const char *path;
    json_type type;
    int classes, required;
} schema[] = {
    {"category_uid",                       JSON_INTEGER, ALL,   ALL},
    {"class_uid",                          JSON_INTEGER, ALL,   ALL},
    {"type_uid",                           JSON_INTEGER, ALL,   ALL},
    {"activity_id",                        JSON_INTEGER, ALL,   ALL},
    {"activity_name",                      JSON_STRING,  ALL,   0  },
    {"time",                               JSON_INTEGER, ALL,   ALL},
    {"severity_id",                        JSON_INTEGER, ALL,   ALL},
    {"status_id",                          JSON_INTEGER, ALL,   0  },
    {"status",                             JSON_STRING,  ALL,   0  },
    {"status_code",                        JSON_STRING,  ALL,   0  },
    {"status_detail",                      JSON_STRING,  ALL,   0  },
    {"metadata",                           JSON_OBJECT,  ALL,   ALL},
    {"metadata.version",                   JSON_STRING,  ALL,   ALL},
    {"metadata.product",                   JSON_OBJECT,  ALL,   ALL},
    {"metadata.product.name",              JSON_STRING,  ALL,   0  },
    {"metadata.product.vendor_name",       JSON_STRING,  ALL,   ALL},
    {"metadata.product.version",           JSON_STRING,  ALL,   0  },
    {"metadata.uid",                       JSON_STRING,  ALL,   0  },
    {"metadata.correlation_uid",           JSON_STRING,  ALL,   0  },
    {"metadata.log_name",                  JSON_STRING,  ALL,   0  },
    {"src_endpoint",                       JSON_OBJECT,  ALL,   P  },
    {"src_endpoint.ip",                    JSON_STRING,  ALL,   0  },
    {"src_endpoint.svc_name",              JSON_STRING,  ALL,   0  },
    {"actor",                              JSON_OBJECT,  ALL,   P  },
    {"actor.app_uid",                      JSON_STRING,  ALL,   0  },
    {"actor.user",                         JSON_OBJECT,  ALL,   0  },
    {"actor.user.uid",                     JSON_STRING,  ALL,   0  },
    {"actor.user.name",                    JSON_STRING,  ALL,   0  },
    {"actor.user.type_id",                 JSON_INTEGER, ALL,   0  },
    {"actor.authorizations",               JSON_ARRAY,   ALL,   0  },
    {"actor.authorizations[].decision",    JSON_STRING,  ALL,   0  },
    {"actor.authorizations[].policy",      JSON_OBJECT,  ALL,   0  },
    {"actor.authorizations[].policy.name", JSON_STRING,  ALL,   0  },
    {"actor.authorizations[].policy.uid",  JSON_STRING,  ALL,   0  },
    {"actor.authorizations[].policy.desc", JSON_STRING,  ALL,   0  },
    {"user",                               JSON_OBJECT,  A | S, ALL},
    {"user.uid",                           JSON_STRING,  A | S, 0  },
    {"user.name",                          JSON_STRING,  A | S, 0  },
    {"user.type_id",                       JSON_INTEGER, A | S, 0  },
    {"service",                            JSON_OBJECT,  A,     ALL},
    {"service.name",                       JSON_STRING,  A,     0  },
    {"auth_protocol_id",                   JSON_INTEGER, A,     0  },
    {"privileges",                         JSON_ARRAY,   S,     ALL},
    {"privileges[]",                       JSON_STRING,  S,     0  },
    {"api",                                JSON_OBJECT,  P,     ALL},
    {"api.operation",                      JSON_STRING,  P,     ALL},
    {"api.request",                        JSON_OBJECT,  P,     0  },
    {"api.request.uid",                    JSON_STRING,  P,     ALL},
    {"api.response",                       JSON_OBJECT,  P,     0  },
    {"api.response.code",                  JSON_INTEGER, P,     0  },
    {"api.response.error",                 JSON_STRING,  P,     0  },
    {"http_request",                       JSON_OBJECT,  P,     0  },
    {"http_request.http_method",           JSON_STRING,  P,     0  },
    {"http_request.url",                   JSON_OBJECT,  P,     0  },
    {"http_request.url.path",              JSON_STRING,  P,     0  },
    {"http_request.user_agent",            JSON_STRING,  P,     0  },
    {"resources",                          JSON_ARRAY,   P,     0  },
    {"resources[].uid",                    JSON_STRING,  P,     0  },
    {"unmapped",                           JSON_OBJECT,  ALL,   0  },
};
#define SCHEMA (sizeof(schema) / sizeof(schema[0]))

/* Objects of which one member at least must be there. */
static const struct {
    const char *path, *members[4];
} any_of[] = {
    {"src_endpoint", {"ip", "svc_name"} },
    {"actor",        {"user", "app_uid"}},
    {"actor.user",   {"name", "uid"}    },
    {"user",         {"name", "uid"}    },
};

/* Activities of the classes in the schema; 99 is in each. */
static const struct {
    int uid, class, category, activities;
} classes[] = {
    {3002, A, 3, 6},
    {3003, S, 3, 2},
    {6003, P, 6, 4},
};

/* Return the value at a path without [], or NULL. */
static json_t *
at(json_t *value, const char *path)
{
    char name[64];
    while (value != NULL && *path != '\0') {
        size_t length = strcspn(path, ".");
        snprintf(name, sizeof(name), "%.*s", (int) length, path);
        value = json_object_get(value, name);
        path += length + (path[length] == '.');
    }
    return value;
}

/* Return what is wrong with a value at a path, on mem, or NULL. `unmapped` may have anything. */
static const char *
fault_at(TALLOC_CTX *mem, const char *path, json_t *value, int class)
{
    const char *key, *why = NULL;
    json_t *inner;
    size_t i = 0, index;
    while (i < SCHEMA && strcmp(schema[i].path, path) != 0)
        i++;
    bool item = *path != '\0' && path[strlen(path) - 1] == ']' && json_is_object(value);
    if (*path != '\0' && !item) {
        if (i == SCHEMA || (schema[i].classes & class) == 0)
            return talloc_asprintf(mem, "%s is not in the schema of the class", path);
        if (json_typeof(value) != schema[i].type)
            return talloc_asprintf(mem, "%s has another type", path);
    }
    if (strcmp(path, "unmapped") == 0)
        return NULL;
    json_object_foreach (value, key, inner)
        if (why == NULL)
            why = fault_at(mem, talloc_asprintf(mem, "%s%s%s", path, *path != '\0' ? "." : "", key),
                           inner, class);
    json_array_foreach (value, index, inner)
        if (why == NULL)
            why = fault_at(mem, talloc_asprintf(mem, "%s[]", path), inner, class);
    return why;
}

/* True if the object around a path is there. */
static bool
has_parent(TALLOC_CTX *mem, json_t *event, const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot == NULL || at(event, talloc_strndup(mem, path, (size_t) (dot - path))) != NULL;
}

static const char *
fault_of(TALLOC_CTX *mem, json_t *event)
{
    size_t kind = 0;
    json_int_t uid = json_integer_value(at(event, "class_uid")),
               activity = json_integer_value(at(event, "activity_id"));
    while (kind < 2 && classes[kind].uid != uid)
        kind++;
    int class = classes[kind].class;
    for (size_t i = 0; i < SCHEMA; i++)
        if ((schema[i].classes & schema[i].required & class) != 0
            && has_parent(mem, event, schema[i].path) && at(event, schema[i].path) == NULL)
            return talloc_asprintf(mem, "%s is missing", schema[i].path);
    for (size_t i = 0; i < sizeof(any_of) / sizeof(any_of[0]); i++)
        if (at(event, any_of[i].path) != NULL
            && at(at(event, any_of[i].path), any_of[i].members[0]) == NULL
            && at(at(event, any_of[i].path), any_of[i].members[1]) == NULL)
            return talloc_asprintf(mem, "%s has none of its members", any_of[i].path);
    if (classes[kind].uid != uid || at(event, "category_uid") == NULL
        || json_integer_value(at(event, "category_uid")) != classes[kind].category
        || json_integer_value(at(event, "type_uid")) != uid * 100 + activity
        || ((activity < 1 || activity > classes[kind].activities) && activity != 99))
        return "class, category, activity and type do not fit each other";
    return fault_at(mem, "", event, class);
}

/* ---- rows ---- */

#define DECISION                                                                                   \
    "{\"allow\":false,\"revision\":\"r1\",\"scopes\":[\"orders.read\",\"b\"],\"deny_reasons\":["   \
    "{\"code\":\"one\"},{\"code\":\"two\"}]}"

static const char *const outcomes[] = {"allowed", "denied", "rejected", "error"};

/* Make the event of a row; *ret is parsed. */
static const char *
ocsf_of(TALLOC_CTX *mem, const struct audit_row *row, bool documents, json_t **ret)
{
    struct audit_event event = {
        .mem = mem, .row = row, .epoch = 1, .leaf_hash = "ab", .documents = documents};
    const char *text = audit_event_begin(&event) == AZ_OK ? ocsf_event_text(&event) : NULL;
    if (text == NULL || strchr(text, '\n') != NULL
        || jsonx_parse(mem, text, strlen(text), 64, ret, NULL) != AZ_OK)
        return "the event is no JSON";
    return fault_of(mem, *ret);
}

static json_t *
otlp_of(TALLOC_CTX *mem, const struct audit_row *row, bool documents)
{
    json_t *ret = NULL;
    struct audit_event event = {
        .mem = mem, .row = row, .epoch = 1, .leaf_hash = "ab", .documents = documents};
    const char *text = audit_event_begin(&event) == AZ_OK ? otlp_record_text(&event) : NULL;
    if (text != NULL)
        jsonx_parse(mem, text, strlen(text), 64, &ret, NULL);
    return ret;
}

/* Return the attribute of a record. */
static json_t *
attribute(json_t *record, const char *key)
{
    size_t i;
    json_t *pair;
    json_array_foreach (json_object_get(record, "attributes"), i, pair)
        if (strcmp(json_string_value(json_object_get(pair, "key")), key) == 0)
            return json_object_get(pair, "value");
    return NULL;
}

static const char *
attribute_text(json_t *record, const char *key)
{
    return json_string_value(json_object_get(attribute(record, key), "stringValue"));
}

static const struct audit_row plain = {.id = 7,
                                       .created_at = "2026-01-31T12:00:00.250Z",
                                       .request_id = "r",
                                       .flow_id = "f",
                                       .client_id = "crm",
                                       .subject_id = "ann",
                                       .endpoint = "/token",
                                       .operation = "token",
                                       .method = "POST",
                                       .http_status = 200,
                                       .outcome = "allowed",
                                       .ip = "192.0.2.1",
                                       .user_agent = "curl",
                                       .summary = "{\"resource\":\"https://api\"}",
                                       .input = "{\"resource\":{\"id\":\"x\"}}",
                                       .decision = DECISION};

/* Each endpoint that is audited, with each outcome: whole rows, and rows of which all that may be
 * absent is absent. */
static void
each_endpoint(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < routes_count; i++) {
        const char *why = NULL;
        if (!routes[i].audited)
            continue;
        for (int j = 0; j < 16 && why == NULL; j++) {
            json_t *event;
            struct audit_row row = plain;
            const struct audit_row bare = {.id = 1, .created_at = plain.created_at};
            if ((j & 4) != 0)
                row = bare;
            row.endpoint = routes[i].path;
            row.operation = routes[i].operation;
            row.method = routes[i].method;
            row.outcome = outcomes[j & 3];
            why = ocsf_of(mem, &row, (j & 8) != 0, &event);
            if (why == NULL
                && !json_is_array(json_object_get(otlp_of(mem, &row, true), "attributes")))
                why = "the log record has no attributes";
        }
        if (!ok(why == NULL, "ocsf_schema_every_endpoint: %s %s", routes[i].method, routes[i].path))
            printf("# %s\n", why);
    }
}

static void
class_is(TALLOC_CTX *mem, const char *method, const char *endpoint, const char *outcome,
         int64_t type)
{
    json_t *event = NULL;
    struct audit_row row = plain;
    row.method = method;
    row.endpoint = endpoint;
    row.outcome = outcome;
    ocsf_of(mem, &row, false, &event);
    is_int(json_integer_value(json_object_get(event, "type_uid")), type, "%s %s, %s: type_uid %d",
           method != NULL ? method : "no method", endpoint, outcome, (int) type);
}

static void
classes_are(TALLOC_CTX *mem)
{
    class_is(mem, "GET", "/authorize/callback/{idpId}", "allowed", 300201);
    class_is(mem, "GET", "/authorize/callback/{idpId}", "denied", 300201);
    class_is(mem, "GET", "/logout", "allowed", 300202);
    class_is(mem, "POST", "/token", "allowed", 300301);
    class_is(mem, "POST", "/token", "denied", 600399);
    class_is(mem, "GET", "/authorize", "allowed", 600399);
    class_is(mem, "GET", "/logouts", "allowed", 600399);
    class_is(mem, "POST", "/introspect", "allowed", 600302);
    class_is(mem, "POST", "/access/v1/evaluations", "denied", 600302);
    class_is(mem, "POST", "/admin/api/clients", "allowed", 600301);
    class_is(mem, "PATCH", "/admin/api/policy-data/by-key", "allowed", 600303);
    class_is(mem, "PUT", "/admin/api/clients/{clientId}", "allowed", 600303);
    class_is(mem, "DELETE", "/admin/api/clients/{clientId}", "allowed", 600304);
    class_is(mem, NULL, "(witness)", "error", 600399);
}

static const char *
text_at(json_t *event, const char *path)
{
    return json_string_value(at(event, path));
}

static void
members_are(TALLOC_CTX *mem)
{
    json_t *event = NULL;
    struct audit_row row = plain;
    row.outcome = "denied";
    ocsf_of(mem, &row, false, &event);
    is_int(json_integer_value(at(event, "time")), 1769860800250, "time is in milliseconds");
    is_str(text_at(event, "metadata.uid"), "1/7", "metadata.uid is EPOCH/ID");
    is_str(text_at(event, "status_detail"), "one two", "status_detail has the reason codes");
    is_int(json_integer_value(at(event, "severity_id")), 2, "severity_id of a denial is 2");
    is_int(json_integer_value(at(event, "status_id")), 2, "... and its status_id 2");
    is_str(text_at(json_array_get(at(event, "actor.authorizations"), 0), "policy.uid"), "r1",
           "authorizations have the revision of policy");
    ok(at(event, "unmapped.input") == NULL && at(event, "unmapped.decision") == NULL,
       "documents are left out");
    ocsf_of(mem, &row, true, &event);
    ok(at(event, "unmapped.input") != NULL && at(event, "unmapped.decision") != NULL,
       "... or are in unmapped");
    row.operation = "policyWitness";
    ocsf_of(mem, &row, false, &event);
    is_int(json_integer_value(at(event, "severity_id")), 4, "a difference of the engines: 4");
    row = plain;
    row.endpoint = "/admin/api/clients";
    ocsf_of(mem, &row, false, &event);
    is_str(text_at(event, "actor.user.name"), "crm", "an administrator is the label of a key");
    ok(at(event, "actor.app_uid") == NULL, "... and no client");
    row = plain;
    row.summary = "[1";
    row.input = "no JSON";
    ok(ocsf_of(mem, &row, true, &event) == NULL, "documents that are no objects are left out");
}

static void
records_are(TALLOC_CTX *mem)
{
    char longer[OTLP_DOCUMENT_MAX + 2];
    struct audit_row row = plain;
    json_t *record = otlp_of(mem, &row, false);
    is_str(json_string_value(json_object_get(record, "timeUnixNano")), "1769860800250000000",
           "timeUnixNano is a text of nanoseconds (Protocol Buffers, JSON of 64-bit integers)");
    is_str(text_at(record, "body.stringValue"), "POST /token allowed",
           "the body of an allowed one");
    is_int(json_integer_value(at(record, "severityNumber")), 9, "... is INFO");
    is_str(json_string_value(json_object_get(attribute(record, "authz.audit_id"), "intValue")), "7",
           "integers are intValue");
    is_str(attribute_text(record, "authz.scope"), "orders.read b", "authz.scope");
    is_str(attribute_text(record, "http.route"), "/token", "http.route");
    ok(attribute(record, "authz.input") == NULL, "documents are left out");
    row.outcome = "denied";
    record = otlp_of(mem, &row, true);
    is_str(text_at(record, "body.stringValue"), "POST /token denied one two",
           "the body of a denial");
    is_int(
        (int64_t) json_array_size(at(attribute(record, "authz.deny_codes"), "arrayValue.values")),
        2, "deny codes are an arrayValue");
    is_str(attribute_text(record, "authz.decision"), DECISION, "documents are texts");
    memset(longer, 'x', sizeof(longer));
    longer[OTLP_DOCUMENT_MAX] = '\0';
    row.input = longer;
    record = otlp_of(mem, &row, true);
    is_str(attribute_text(record, "authz.input"), longer, "a document of 8 KiB is there");
    longer[OTLP_DOCUMENT_MAX] = 'x';
    longer[OTLP_DOCUMENT_MAX + 1] = '\0';
    record = otlp_of(mem, &row, true);
    ok(attribute(record, "authz.input") == NULL, "... a longer one is not");
    is_str(json_string_value(json_object_get(attribute(record, "authz.input_octets"), "intValue")),
           "8193", "... but its length");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    json_t *whole = NULL;
    each_endpoint(mem);
    classes_are(mem);
    members_are(mem);
    records_are(mem);
    const char *text = talloc_asprintf(mem, "%s%s%s", otlp_begin, otlp_truncated, otlp_end);
    ok(jsonx_parse(mem, text, strlen(text), 64, &whole, NULL) == AZ_OK,
       "begin, record and end are one JSON object");
    talloc_free(mem);
    return done();
}
