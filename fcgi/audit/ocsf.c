#include "config.h"

#include "audit/ocsf.h"

#include <string.h>

#define OCSF_VERSION "1.3.0"

/* Activity of which the name is the operation. */
#define ACTIVITY_OTHER 99

/* Types of users. */
enum user_type { USER_UNKNOWN = 0, USER_PERSON = 1, USER_ADMIN = 2, USER_SYSTEM = 3 };

/* In place of a name that an object must have. */
#define UNKNOWN "unknown"

/* ---- values ---- */

static json_t *
severity_id(const struct audit_event *event)
{
    static const struct {
        const char *outcome;
        int severity;
    } severities[] = {
        {"allowed",  1},
        {"denied",   2},
        {"rejected", 2},
    };
    if (event->row->operation != NULL && strcmp(event->row->operation, "policyWitness") == 0)
        return json_integer(4);
    for (size_t i = 0; i < sizeof(severities) / sizeof(severities[0]); i++)
        if (event_outcome_is(event, severities[i].outcome))
            return json_integer(severities[i].severity);
    return json_integer(3);
}

static json_t *
status_id(const struct audit_event *event)
{
    static const char *const failures[] = {"denied", "rejected", "error"};
    for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++)
        if (event_outcome_is(event, failures[i]))
            return json_integer(2);
    return json_integer(event_outcome_is(event, "allowed") ? 1 : 99);
}

static json_t *
status_code(const struct audit_event *event)
{
    return event->row->http_status > 0 ? json_sprintf("%lld", (long long) event->row->http_status)
                                       : NULL;
}

static json_t *
status_detail(const struct audit_event *event)
{
    json_t *codes = event_codes_text(event);
    return codes != NULL ? codes : event_error(event);
}

/* The service itself, if the row is of no request. */
static json_t *
source_name(const struct audit_event *event)
{
    return event->row->ip == NULL ? json_string(PACKAGE_NAME) : NULL;
}

/* The person or administrator who acts; a client acts by app_uid. */
static json_t *
actor_user(const struct audit_event *event)
{
    if (event_of_admin(event) && event->row->client_id != NULL)
        return json_pack("{s:s,s:i}", "name", event->row->client_id, "type_id", USER_ADMIN);
    if (event->row->subject_id != NULL)
        return json_pack("{s:s,s:i}", "uid", event->row->subject_id, "type_id", USER_PERSON);
    return event->row->client_id == NULL
               ? json_pack("{s:s,s:i}", "name", UNKNOWN, "type_id", USER_UNKNOWN)
               : NULL;
}

/* The user whom a session belongs to. A client that acts for itself is its own subject. */
static json_t *
session_user(const struct audit_event *event)
{
    const char *client = event->row->client_id, *subject = event->row->subject_id;
    bool person = subject != NULL && (client == NULL || strcmp(client, subject) != 0);
    if (subject == NULL && client == NULL)
        return json_pack("{s:s,s:i}", "name", UNKNOWN, "type_id", USER_UNKNOWN);
    return json_pack("{s:s,s:i}", "uid", subject != NULL ? subject : client, "type_id",
                     person ? USER_PERSON : USER_SYSTEM);
}

/* Return the decision of policy; NULL: it was not asked. */
static json_t *
authorizations(const struct audit_event *event)
{
    const json_t *allow = json_object_get(event->decision, "allow");
    if (event->decision == NULL)
        return NULL;
    bool allowed =
        json_is_boolean(allow) ? json_is_true(allow) : event_outcome_is(event, "allowed");
    return json_pack("[{s:s,s:{s:s,s:o*,s:o*}}]", "decision", allowed ? "allowed" : "denied",
                     "policy", "name", "svc.decision", "uid", event_revision(event), "desc",
                     event_codes_text(event));
}

static json_t *
resources(const struct audit_event *event)
{
    json_t *resource = event_resource(event);
    return resource != NULL ? json_pack("[{s:o}]", "uid", resource) : NULL;
}

static json_t *
auth_protocol_id(const struct audit_event *event)
{
    (void) event;
    return json_integer(4); /* OpenID */
}

/* Path of a request; rows of no request have none. */
static json_t *
url_path(const struct audit_event *event)
{
    return event->row->method != NULL && event->row->endpoint != NULL
               ? json_string(event->row->endpoint)
               : NULL;
}

static json_t *
http_agent(const struct audit_event *event)
{
    return event->row->method != NULL && event->row->user_agent != NULL
               ? json_string(event->row->user_agent)
               : NULL;
}

static json_t *
document_input(const struct audit_event *event)
{
    return event->documents ? json_incref(event->input) : NULL;
}

static json_t *
document_decision(const struct audit_event *event)
{
    return event->documents ? json_incref(event->decision) : NULL;
}

/* ---- the mapping ---- */

/* clang-format off */
static const struct event_member common[] = {
    EVENT_VALUE("time", event_time_ms),
    EVENT_TEXT("metadata.version", OCSF_VERSION),
    EVENT_TEXT("metadata.product.name", PACKAGE_NAME),
    EVENT_TEXT("metadata.product.vendor_name", PACKAGE_NAME),
    EVENT_TEXT("metadata.product.version", PACKAGE_VERSION),
    EVENT_VALUE("metadata.uid", event_uid),
    EVENT_COLUMN("metadata.correlation_uid", flow_id),
    EVENT_TEXT("metadata.log_name", "audit"),
    EVENT_VALUE("severity_id", severity_id),
    EVENT_VALUE("status_id", status_id),
    EVENT_COLUMN("status", outcome),
    EVENT_VALUE("status_code", status_code),
    EVENT_VALUE("status_detail", status_detail),
    EVENT_COLUMN("src_endpoint.ip", ip),
    EVENT_VALUE("src_endpoint.svc_name", source_name),
    EVENT_VALUE("actor.app_uid", event_client),
    EVENT_VALUE("actor.user", actor_user),
    EVENT_VALUE("actor.authorizations", authorizations),
    EVENT_VALUE("unmapped.summary", event_summary),
    EVENT_VALUE("unmapped.leafHash", event_leaf_hash),
    EVENT_VALUE("unmapped.input", document_input),
    EVENT_VALUE("unmapped.decision", document_decision),
    EVENT_END,
};
static const struct event_member authentication[] = {
    EVENT_VALUE("user", session_user),
    EVENT_TEXT("service.name", PACKAGE_NAME),
    EVENT_VALUE("auth_protocol_id", auth_protocol_id),
    EVENT_END,
};
static const struct event_member authorize_session[] = {
    EVENT_VALUE("user", session_user),
    EVENT_VALUE("privileges", event_scopes),
    EVENT_END,
};
static const struct event_member api_activity[] = {
    EVENT_COLUMN("api.operation", operation),
    EVENT_COLUMN("api.request.uid", request_id),
    EVENT_VALUE("api.response.code", event_status),
    EVENT_VALUE("api.response.error", event_error),
    EVENT_COLUMN("http_request.http_method", method),
    EVENT_VALUE("http_request.url.path", url_path),
    EVENT_VALUE("http_request.user_agent", http_agent),
    EVENT_VALUE("resources", resources),
    EVENT_END,
};

/* The classes. */
static const struct class {
    int category;
    int uid;
    const struct event_member *members;
} classes[] = {
    {3, 3002, authentication},
    {3, 3003, authorize_session},
    {6, 6003, api_activity},
};
enum class_row { AUTHENTICATION, AUTHORIZE_SESSION, API_ACTIVITY };

static bool
grants_scopes(const struct audit_event *event)
{
    return event_outcome_is(event, "allowed")
           && json_array_size(json_object_get(event->decision, "scopes")) > 0;
}

/* The class and activity of a row: the first one whose endpoint and method match. An endpoint that
 * ends with / stands for all below it. */
static const struct kind {
    const char *endpoint, *method;                  /* NULL: any */
    bool (*when)(const struct audit_event *event);  /* NULL: always */
    enum class_row class;
    int activity;
    const char *name; /* of the activity; NULL: the operation */
} kinds[] = {
    {"/authorize/callback/",   NULL,     NULL,          AUTHENTICATION,    1,              "Logon"},
    {"/logout",                NULL,     NULL,          AUTHENTICATION,    2,
     "Logoff"},
    {"/token",                 NULL,     grants_scopes, AUTHORIZE_SESSION, 1,
     "Assign Privileges"},
    {"/introspect",            NULL,     NULL,          API_ACTIVITY,      2,              "Read"},
    {"/userinfo",              NULL,     NULL,          API_ACTIVITY,      2,              "Read"},
    {"/access/",               NULL,     NULL,          API_ACTIVITY,      2,              "Read"},
    {"/admin/",                "GET",    NULL,          API_ACTIVITY,      2,              "Read"},
    {"/admin/",                "POST",   NULL,          API_ACTIVITY,      1,
     "Create"},
    {"/admin/",                "PUT",    NULL,          API_ACTIVITY,      3,
     "Update"},
    {"/admin/",                "PATCH",  NULL,          API_ACTIVITY,      3,
     "Update"},
    {"/admin/",                "DELETE", NULL,          API_ACTIVITY,      4,
     "Delete"},
    {"/resource_registration/", "GET",   NULL,          API_ACTIVITY,      2,              "Read"},
    {"/delegation",            "GET",    NULL,          API_ACTIVITY,      2,              "Read"},
    {"/delegation/",           "GET",    NULL,          API_ACTIVITY,      2,              "Read"},
    {NULL,                     NULL,     NULL,          API_ACTIVITY,      ACTIVITY_OTHER, NULL},
};
/* clang-format on */

static bool
endpoint_matches(const char *pattern, const char *endpoint)
{
    size_t length = strlen(pattern);
    return pattern[length - 1] == '/' ? strncmp(endpoint, pattern, length) == 0
                                      : strcmp(endpoint, pattern) == 0;
}

static bool
kind_matches(const struct kind *kind, const struct audit_event *event)
{
    const char *endpoint = event->row->endpoint, *method = event->row->method;
    if (kind->endpoint != NULL && (endpoint == NULL || !endpoint_matches(kind->endpoint, endpoint)))
        return false;
    if (kind->method != NULL && (method == NULL || strcmp(kind->method, method) != 0))
        return false;
    return kind->when == NULL || kind->when(event);
}

char *
ocsf_event_text(const struct audit_event *event)
{
    const struct kind *kind = kinds;
    while (kind->endpoint != NULL && !kind_matches(kind, event))
        kind++;
    const struct class *class = &classes[kind->class];
    const char *name = kind->name != NULL ? kind->name : event->row->operation;
    struct jsonx_build object = {json_pack("{s:i,s:i,s:i,s:i,s:s*}", "category_uid",
                                           class->category, "class_uid", class->uid, "type_uid",
                                           class->uid * 100 + kind->activity, "activity_id",
                                           kind->activity, "activity_name", name),
                                 false};
    if (object.value == NULL)
        return NULL;
    event_put(&object, event, common);
    event_put(&object, event, class->members);
    json_t *built = jsonx_own(event->mem, object.value);
    return built != NULL && !object.lost ? jsonx_dump(event->mem, built) : NULL;
}
