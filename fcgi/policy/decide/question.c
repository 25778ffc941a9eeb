#include "config.h"

#include "policy/decide/question.h"

#include <string.h>

#include "base/iso8601.h"
#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "policy/engine/engine.h"
#include "store/people/stored_claims.h"

/* Version of the document format; it grows when a member changes its meaning. */
#define SCHEMA 1

#define NS_PER_MS 1000000

/* State of a document that is being written. Memory may run out anywhere, and a question that lacks
 * a member (for example a statement that restricts the client) must not be asked. */
struct draft {
    bool lost; /* a member could not be set */
};

/* Set a member to a value that is handed over; NULL: it could not be made. */
static void
draft_set_new(struct draft *draft, json_t *object, const char *name, json_t *value)
{
    if (json_object_set_new_nocheck(object, name, value) != 0)
        draft->lost = true;
}

/* Set a text member unless it is NULL. */
static void
draft_set_text(struct draft *draft, json_t *object, const char *name, const char *text)
{
    if (text != NULL)
        draft_set_new(draft, object, name, json_string_nocheck(text));
}

/* Set a borrowed value unless it is NULL. */
static void
draft_set_value(struct draft *draft, json_t *object, const char *name, json_t *value)
{
    if (value != NULL)
        draft_set_new(draft, object, name, json_incref(value));
}

static json_t *
request_part(struct draft *draft, const struct op *op, const struct question *frame)
{
    char time[ISO8601_SIZE];
    json_t *part = json_object();
    iso8601_format(op_now(op), time);
    draft_set_text(draft, part, "id", op->request_id);
    draft_set_text(draft, part, "flow_id", frame->flow_id);
    draft_set_text(draft, part, "endpoint", frame->endpoint);
    /* The time in three forms: Rego's time functions take nanoseconds, rows hold seconds, and
     * people read the text. */
    draft_set_new(draft, part, "now", json_integer(op_now(op)));
    draft_set_new(draft, part, "time_ns", json_integer(op->now_ms * NS_PER_MS));
    draft_set_text(draft, part, "time", time);
    return part;
}

/* Check the types of statement claims: a claim of a wrong type becomes an empty list, so that it
 * restricts the client (policy.md 6.5). */
static void
check_statement_claims(struct draft *draft, json_t *claims)
{
    static const char *const lists[] = {"grants", "resources"};
    for (size_t i = 0; i < 2; i++) {
        const json_t *list = json_object_get(claims, lists[i]), *item;
        bool good = list == NULL || json_is_array(list);
        size_t index;
        json_array_foreach (list, index, item)
            good = good && json_is_string(item);
        if (!good)
            draft_set_new(draft, claims, lists[i], json_array());
    }
    if (json_object_get(claims, "scope") != NULL
        && !json_is_string(json_object_get(claims, "scope")))
        draft_set_new(draft, claims, "scope", json_string(""));
}

/* Return the part for a client's stored statement. */
static json_t *
statement_part(struct draft *draft, struct op *op, const struct client *client)
{
    json_t *claims = NULL;
    enum az_status st = jsonx_parse(op->mem, client->statement, strlen(client->statement),
                                    ENGINE_ANSWER_DEPTH_MAX, &claims, NULL);
    bool readable = json_is_object(claims);
    if (!readable)
        claims = jsonx_own(op->mem, json_object());
    draft->lost = draft->lost || st == AZ_SERVER_ERROR || claims == NULL;
    check_statement_claims(draft, claims);
    bool verified = readable && json_object_get(claims, STATEMENT_UNVERIFIED) == NULL;
    const char *iss = json_string_value(json_object_get(claims, "iss"));
    json_t *part = json_pack("{s:b}", "verified", verified);
    draft_set_text(draft, part, "iss", iss);
    draft_set_value(draft, part, "claims", claims);
    return part;
}

static void
set_client(struct draft *draft, struct op *op, json_t *part, const struct client *client,
           const char *id_name, const char *auth_method)
{
    draft_set_text(draft, part, id_name, client->client_id);
    draft_set_text(draft, part, "type", client->type);
    draft_set_text(draft, part, "registration", client->registration);
    draft_set_text(draft, part, "auth_method", auth_method);
    draft_set_text(draft, part, "software_id", client->software_id);
    draft_set_text(draft, part, "software_version", client->software_version);
    if (client->statement != NULL)
        draft_set_new(draft, part, "statement", statement_part(draft, op, client));
}

static json_t *
client_part(struct draft *draft, struct op *op, const struct client *client,
            const char *auth_method)
{
    json_t *part = json_object();
    set_client(draft, op, part, client, "id", auth_method);
    draft_set_new(draft, part, "enabled", json_boolean(client->enabled));
    return part;
}

/* Return the part about the proof; NULL: no memory. */
static json_t *
dpop_part(struct draft *draft, const struct question_dpop *dpop)
{
    json_t *part = json_pack("{s:b,s:b,s:b}", "present", dpop->present, "valid", dpop->jkt != NULL,
                             "required", dpop->required);
    draft_set_text(draft, part, "jkt", dpop->jkt);
    return part;
}

static json_t *
environment_part(struct draft *draft, const struct op *op, const struct question *frame)
{
    json_t *part = json_object();
    draft_set_text(draft, part, "ip", frame->ip);
    draft_set_text(draft, part, "user_agent", frame->user_agent);
    draft_set_new(draft, part, "tls",
                  json_boolean(strncmp(op->az->cfg->oidc_issuer, "https:", 6) == 0));
    /* Left out where DPoP plays no part: the document is stored with every token. */
    if (frame->dpop.present || frame->dpop.required)
        draft_set_new(draft, part, "dpop", dpop_part(draft, &frame->dpop));
    return part;
}

static json_t *
frame_part(struct draft *draft, struct op *op, const struct question *frame, const char *evaluation)
{
    json_t *input = jsonx_own(op->mem, json_object());
    if (input == NULL)
        return NULL;
    draft_set_new(draft, input, "schema", json_integer(SCHEMA));
    draft_set_text(draft, input, "evaluation", evaluation);
    draft_set_text(draft, input, "issuer", op->az->cfg->oidc_issuer);
    draft_set_new(draft, input, "request", request_part(draft, op, frame));
    if (frame->client != NULL)
        draft_set_new(draft, input, "client",
                      client_part(draft, op, frame->client, frame->auth_method));
    draft_set_value(draft, input, "delegation", frame->delegation);
    draft_set_new(draft, input, "environment", environment_part(draft, op, frame));
    return input;
}

json_t *
question_frame(struct op *op, const struct question *frame, const char *evaluation)
{
    struct draft draft = {.lost = false};
    json_t *input = frame_part(&draft, op, frame, evaluation);
    return draft.lost ? NULL : input;
}

json_t *
question_asked(const struct issue_question *question)
{
    return json_array_size(question->scopes) > 0 ? question->scopes : question->default_scopes;
}

/* Set the claims of a user, and the names of those that are incomplete (world.md U5). */
static void
set_claims(struct draft *draft, json_t *part, const struct question_user *user)
{
    json_t *incomplete = json_object_get(user->claims, CLAIMS_INCOMPLETE);
    if (incomplete == NULL) {
        draft_set_value(draft, part, "claims", user->claims);
        draft_set_value(draft, part, "claims_incomplete", user->incomplete);
        return;
    }
    json_t *claims = jsonx_copy(user->claims);
    draft->lost = draft->lost || claims == NULL;
    json_object_del(claims, CLAIMS_INCOMPLETE);
    draft_set_value(draft, part, "claims_incomplete", incomplete);
    draft_set_new(draft, part, "claims", claims);
}

json_t *
question_subject(const char *id, const struct question_user *user)
{
    struct draft draft = {.lost = false};
    json_t *part = json_object();
    draft_set_text(&draft, part, "type", user != NULL ? "user" : "client");
    draft_set_new(&draft, part, "id", json_string(id));
    if (user != NULL) {
        draft_set_text(&draft, part, "iss", user->iss);
        draft_set_text(&draft, part, "idp", user->idp);
        draft_set_text(&draft, part, "acr", user->acr);
        draft_set_value(&draft, part, "amr", user->amr);
        if (user->auth_time > 0) /* 0: unknown */
            draft_set_new(&draft, part, "auth_time", json_integer(user->auth_time));
        set_claims(&draft, part, user);
    }
    if (draft.lost) {
        json_decref(part);
        return NULL;
    }
    return part;
}

/* Set the members of a token exchange. The client that asks is the actor. */
static void
set_exchange(struct draft *draft, json_t *input, const struct issue_question *question)
{
    const struct question_exchange *exchange = question->exchange;
    json_t *token = json_object();
    draft_set_text(draft, token, "type", exchange->type);
    draft_set_text(draft, token, "client_id", exchange->client_id);
    draft_set_text(draft, token, "resource", exchange->resource);
    draft_set_value(draft, token, "scopes", exchange->scopes);
    draft_set_value(draft, token, "claims", exchange->claims);
    draft_set_new(draft, input, "subject_token", token);
    draft_set_new(
        draft, input, "actor",
        json_pack("{s:s,s:s}", "type", "client", "id", question->frame.client->client_id));
    draft_set_value(draft, input, "act", question->act);
    draft_set_value(draft, input, "may_act", exchange->may_act);
}

json_t *
question_issue(struct op *op, const struct issue_question *question)
{
    struct draft draft = {.lost = false};
    json_t *input =
        frame_part(&draft, op, &question->frame, question->preview ? "preview" : "issue");
    json_t *request = json_object_get(input, "request");
    if (input == NULL)
        return NULL;
    draft_set_text(&draft, request, "grant_type", question->grant_type);
    draft_set_text(&draft, request, "token_type", "access_token");
    draft_set_new(&draft, request, "default_ttl", json_integer(question->default_ttl));
    draft_set_new(&draft, input, "subject", question_subject(question->subject_id, question->user));
    if (question->resource != NULL || question->resource_types != NULL) {
        json_t *resource = json_object();
        draft_set_text(&draft, resource, "indicator", question->resource);
        draft_set_value(&draft, resource, "types", question->resource_types);
        draft_set_new(&draft, input, "resource", resource);
    }
    json_t *scopes = json_object();
    draft_set_value(&draft, scopes, "requested", question->scopes);
    draft_set_value(&draft, scopes, "default", question->default_scopes);
    draft_set_value(&draft, scopes, "ceiling", question->ceiling);
    draft_set_new(&draft, input, "scopes", scopes);
    draft_set_value(&draft, input, "authorization_details", question->details);
    if (question->exchange != NULL)
        set_exchange(&draft, input, question);
    if (question->refresh != NULL)
        draft_set_new(&draft, input, "refresh",
                      json_pack("{s:i,s:i,s:b}", "branch", question->refresh->branch, "branches",
                                question->refresh->branches, "network_changed",
                                question->refresh->network_changed));
    draft_set_new(&draft, input, "baseline", json_null());
    return draft.lost ? NULL : input;
}

/* Return the members of the stored pdpInput that evaluation 2 reads. */
static json_t *
issued_part(struct draft *draft, const json_t *stored)
{
    static const char *const members[] = {"client",      "subject",       "resource",
                                          "environment", "subject_token", "act"};
    json_t *part = json_object();
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
        draft_set_value(draft, part, members[i], json_object_get(stored, members[i]));
    draft_set_value(draft, part, "grant_type",
                    json_object_get(json_object_get(stored, "request"), "grant_type"));
    return part;
}

/* Return the part for a client that asks about the rights of another subject. */
static json_t *
caller_part(struct draft *draft, struct op *op, const struct client *caller, const char *method,
            json_t *token)
{
    json_t *part = json_object();
    set_client(draft, op, part, caller, "client_id", method);
    draft_set_value(draft, part, "token", token);
    return part;
}

json_t *
question_introspect(struct op *op, const struct introspect_question *question)
{
    struct draft draft = {.lost = false};
    json_t *input = frame_part(&draft, op, &question->frame, "introspect");
    if (input == NULL)
        return NULL;
    json_t *caller;
    if (question->service) {
        /* A request cannot set this member: it is set here alone. */
        caller = json_object();
        draft_set_new(&draft, caller, "service", json_true());
        draft_set_text(&draft, caller, "client_id", question->caller->client_id);
    } else {
        caller = caller_part(&draft, op, question->caller, question->caller_method,
                             question->caller_token);
    }
    draft_set_new(&draft, input, "caller", caller);
    draft_set_value(&draft, input, "token", question->token);
    if (question->baseline != NULL)
        draft_set_value(&draft, input, "baseline", question->baseline);
    else
        draft_set_new(&draft, input, "baseline", json_null());
    if (question->issued != NULL) {
        draft_set_new(&draft, input, "issued", issued_part(&draft, question->issued));
        draft_set_value(&draft, input, "subject", json_object_get(question->issued, "subject"));
    }
    draft_set_new(&draft, input, "context",
                  question->context != NULL ? json_incref(question->context) : json_object());
    return draft.lost ? NULL : input;
}

json_t *
question_register(struct op *op, const struct register_question *question)
{
    struct draft draft = {.lost = false};
    json_t *input = frame_part(&draft, op, &question->frame, "register");
    if (input == NULL)
        return NULL;
    draft_set_value(&draft, input, "registration", question->registration);
    if (question->claims != NULL) {
        json_t *claims = jsonx_copy(question->claims),
               *statement = json_pack("{s:b}", "verified", question->verified);
        if (claims == NULL || statement == NULL)
            draft.lost = true;
        else
            check_statement_claims(&draft, claims);
        draft_set_text(&draft, statement, "iss", question->issuer);
        draft_set_new(&draft, statement, "claims", claims);
        draft_set_new(&draft, input, "statement", statement);
    }
    return draft.lost ? NULL : input;
}

json_t *
question_access(struct op *op, const struct access_question *question)
{
    struct draft draft = {.lost = false};
    json_t *input =
        frame_part(&draft, op, &question->frame, question->batch ? "authzen_batch" : "authzen");
    if (input == NULL)
        return NULL;
    draft_set_new(
        &draft, input, "caller",
        caller_part(&draft, op, question->caller, question->caller_method, question->caller_token));
    draft_set_new(&draft, input, "authzen",
                  question->batch ? json_pack("{s:O}", "evaluations", question->requests)
                                  : json_incref(json_array_get(question->requests, 0)));
    return draft.lost ? NULL : input;
}

json_t *
question_admin(struct op *op, const struct admin_question *question)
{
    struct draft draft = {.lost = false};
    json_t *input = frame_part(&draft, op, &question->frame, "admin");
    if (input == NULL)
        return NULL;
    draft_set_new(&draft, input, "admin",
                  json_pack("{s:s,s:b,s:s*,s:s*}", "role", question->role, "session",
                            question->session, "key", question->key, "label", question->label));
    if (question->subject != NULL)
        draft_set_new(&draft, input, "subject",
                      question_subject(question->subject, question->user));
    draft_set_new(&draft, input, "action",
                  json_pack("{s:s,s:s,s:s,s:O}", "operation", question->operation, "method",
                            question->method, "path", question->path, "values", question->values));
    return draft.lost ? NULL : input;
}

const char *
question_entrypoint(TALLOC_CTX *mem, const json_t *document)
{
    const char *name = json_string_value(json_object_get(document, "evaluation"));
    if (name != NULL && strcmp(name, "preview") == 0)
        name = "issue"; /* the same entrypoint decides it */
    return name != NULL ? talloc_asprintf(mem, "svc/decision/%s", name) : NULL;
}
