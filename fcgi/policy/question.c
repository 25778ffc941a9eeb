#include "config.h"

#include "policy/question.h"

#include <string.h>

#include "base/iso8601.h"
#include "base/jsonx.h"
#include "base/settings.h"

/* The document format; grows when a member changes its meaning. */
#define SCHEMA 1

/* Sets a text member unless it is NULL. */
static void
set_text(json_t *object, const char *name, const char *text)
{
    if (text != NULL)
        json_object_set_new_nocheck(object, name, json_string_nocheck(text));
}

/* Sets a borrowed value unless it is NULL. */
static void
set_value(json_t *object, const char *name, json_t *value)
{
    if (value != NULL)
        json_object_set_nocheck(object, name, value);
}

static json_t *
request_part(const struct op *op, const struct question *frame)
{
    char time[ISO8601_SIZE];
    json_t *part = json_object();
    iso8601_format(op_now(op), time);
    set_text(part, "id", op->request_id);
    set_text(part, "flow_id", frame->flow_id);
    set_text(part, "endpoint", frame->endpoint);
    json_object_set_new_nocheck(part, "now", json_integer(op_now(op)));
    set_text(part, "time", time);
    return part;
}

/* Statement claims are type-checked here: a wrong type counts as an empty list, so that it cuts
 * (policy.md 6.5). */
static json_t *
statement_part(const struct client *client)
{
    json_t *claims = json_loads(client->statement, JSON_REJECT_DUPLICATES, NULL);
    static const char *const lists[] = {"grants", "resources"};
    bool readable = json_is_object(claims);
    if (!readable) {
        json_decref(claims);
        claims = json_object();
    }
    for (size_t i = 0; i < 2; i++) {
        const json_t *list = json_object_get(claims, lists[i]), *item;
        bool good = list == NULL || json_is_array(list);
        size_t index;
        json_array_foreach (list, index, item)
            good = good && json_is_string(item);
        if (!good)
            json_object_set_new(claims, lists[i], json_array());
    }
    if (json_object_get(claims, "scope") != NULL
        && !json_is_string(json_object_get(claims, "scope")))
        json_object_set_new(claims, "scope", json_string(""));
    const char *iss = json_string_value(json_object_get(claims, "iss"));
    json_t *part = json_pack("{s:b}", "verified", readable);
    set_text(part, "iss", iss);
    json_object_set_new(part, "claims", claims);
    return part;
}

static void
set_client(json_t *part, const struct client *client, const char *id_name, const char *auth_method)
{
    set_text(part, id_name, client->client_id);
    set_text(part, "type", client->type);
    set_text(part, "registration", client->registration);
    set_text(part, "auth_method", auth_method);
    set_text(part, "software_id", client->software_id);
    if (client->statement != NULL)
        json_object_set_new_nocheck(part, "statement", statement_part(client));
}

static json_t *
client_part(const struct client *client, const char *auth_method)
{
    json_t *part = json_object();
    set_client(part, client, "id", auth_method);
    json_object_set_new_nocheck(part, "enabled", json_boolean(client->enabled));
    return part;
}

static json_t *
environment_part(const struct op *op, const struct question *frame)
{
    json_t *part = json_object();
    set_text(part, "ip", frame->ip);
    set_text(part, "user_agent", frame->user_agent);
    json_object_set_new_nocheck(part, "tls",
                                json_boolean(strncmp(op->az->cfg->oidc_issuer, "https:", 6) == 0));
    return part;
}

static json_t *
frame_part(struct op *op, const struct question *frame, const char *evaluation)
{
    json_t *input = jsonx_own(op->mem, json_object());
    if (input == NULL)
        return NULL;
    json_object_set_new_nocheck(input, "schema", json_integer(SCHEMA));
    set_text(input, "evaluation", evaluation);
    set_text(input, "issuer", op->az->cfg->oidc_issuer);
    json_object_set_new_nocheck(input, "request", request_part(op, frame));
    if (frame->client != NULL)
        json_object_set_new_nocheck(input, "client",
                                    client_part(frame->client, frame->auth_method));
    json_object_set_new_nocheck(input, "environment", environment_part(op, frame));
    return input;
}

json_t *
question_issue(struct op *op, const struct issue_question *question)
{
    json_t *input = frame_part(op, &question->frame, "issue");
    json_t *request = json_object_get(input, "request");
    if (input == NULL)
        return NULL;
    set_text(request, "grant_type", question->grant_type);
    set_text(request, "token_type", "access_token");
    json_object_set_new_nocheck(request, "default_ttl", json_integer(question->default_ttl));
    json_object_set_new_nocheck(
        input, "subject",
        json_pack("{s:s,s:s}", "type", question->subject_type, "id", question->subject_id));
    if (question->resource != NULL || question->resource_types != NULL) {
        json_t *resource = json_object();
        set_text(resource, "indicator", question->resource);
        set_value(resource, "types", question->resource_types);
        json_object_set_new_nocheck(input, "resource", resource);
    }
    json_t *scopes = json_object();
    set_value(scopes, "requested", question->scopes);
    json_object_set_new_nocheck(scopes, "default", json_array());
    set_value(scopes, "ceiling", question->ceiling);
    json_object_set_new_nocheck(input, "scopes", scopes);
    set_value(input, "authorization_details", question->details);
    json_object_set_new_nocheck(input, "baseline", json_null());
    return input;
}

/* Of the stored pdpInput, what evaluation 2 looks at. */
static json_t *
issued_part(const json_t *stored)
{
    static const char *const members[] = {"client", "subject", "resource", "environment"};
    json_t *part = json_object();
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
        set_value(part, members[i], json_object_get(stored, members[i]));
    set_value(part, "grant_type",
              json_object_get(json_object_get(stored, "request"), "grant_type"));
    return part;
}

json_t *
question_introspect(struct op *op, const struct introspect_question *question)
{
    json_t *input = frame_part(op, &question->frame, "introspect");
    if (input == NULL)
        return NULL;
    json_t *caller = json_object();
    set_client(caller, question->caller, "client_id", question->caller_method);
    set_value(caller, "token", question->caller_token);
    json_object_set_new_nocheck(input, "caller", caller);
    set_value(input, "token", question->token);
    if (question->baseline != NULL)
        set_value(input, "baseline", question->baseline);
    else
        json_object_set_new_nocheck(input, "baseline", json_null());
    if (question->issued != NULL) {
        json_object_set_new_nocheck(input, "issued", issued_part(question->issued));
        set_value(input, "subject", json_object_get(question->issued, "subject"));
    }
    json_object_set_new_nocheck(input, "context",
                                question->context != NULL ? json_incref(question->context)
                                                          : json_object());
    return input;
}
