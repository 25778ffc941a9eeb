#include "config.h"

#include "policy/decide/registration.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/uri.h"
#include "base/words.h"
#include "policy/engine/entrypoints.h"

/* Return {uri, scheme, loopback}, so that a rule need not parse addresses (policy.md 6.5). */
static json_t *
address_part(struct op *op, const json_t *value)
{
    struct uri uri;
    const char *text = json_string_value(value);
    if (text == NULL || uri_parse(op->mem, text, &uri) != AZ_OK)
        return NULL;
    return json_pack("{s:s,s:s,s:b}", "uri", text, "scheme", uri.scheme, "loopback",
                     uri.host != NULL && uri_host_is_loopback(uri.host));
}

static json_t *
addresses(struct op *op, const json_t *redirect_uris)
{
    size_t index;
    const json_t *value;
    json_t *list = jsonx_own(op->mem, json_array());
    json_array_foreach (redirect_uris, index, value)
        if (json_array_append_new(list, address_part(op, value)) != 0)
            return NULL;
    return list;
}

static json_t *
document(struct op *op, const struct registration *registration)
{
    const char *scope = NULL;
    if (registration->scopes != NULL && (scope = words_join(op->mem, registration->scopes)) == NULL)
        return NULL;
    json_t *list = addresses(op, registration->redirect_uris);
    if (list == NULL)
        return NULL;
    const struct register_question question = {
        .frame = registration->frame,
        .registration = jsonx_own(
            op->mem,
            json_pack("{s:s,s:O,s:O,s:O,s:s,s:s*,s:s*,s:s*}", "mode",
                      registration->claims != NULL ? "statement" : "plain", "redirect_uris", list,
                      "grant_types", registration->grant_types, "response_types",
                      registration->response_types, "token_endpoint_auth_method",
                      registration->auth_method, "scope", scope, "client_name",
                      registration->client_name, "software_id", registration->software_id)),
        .issuer = registration->issuer,
        .verified = registration->verified,
        .claims = registration->claims,
    };
    return question.registration != NULL ? question_register(op, &question) : NULL;
}

/* Return the fault of grant_types, the one member that other answers do not have; or NULL. */
static const char *
grants_fault(const json_t *grants, const json_t *asked)
{
    size_t index;
    const json_t *grant;
    if (grants == NULL || json_is_null(grants))
        return NULL;
    if (!json_is_array(grants))
        return "is not an array";
    json_array_foreach (grants, index, grant) {
        if (!json_is_string(grant))
            return "has a wrong type";
        if (!words_array_has(asked, json_string_value(grant)))
            return "widens the request";
    }
    return NULL;
}

struct decision_bounds
registration_bounds(const struct registration *registration)
{
    return (struct decision_bounds){
        .scopes = registration->scopes,
        .open_scopes = registration->scopes == NULL,
        .open_types = true,
    };
}

enum az_status
registration_grants(struct op *op, const struct registration *registration,
                    const struct decision *decision, json_t **ret, const char **ret_fault)
{
    const json_t *grants =
        decision->allow ? json_object_get(decision->output, "grant_types") : NULL;
    *ret_fault = grants_fault(grants, registration->grant_types);
    *ret =
        *ret_fault == NULL ? words_array_within(op->mem, registration->grant_types, grants) : NULL;
    return *ret_fault != NULL || *ret != NULL ? AZ_OK : op_no_memory(op);
}

enum az_status
registration_ask(struct op *op, const struct registration *registration,
                 struct registration_verdict *ret)
{
    const struct decision_bounds bounds = registration_bounds(registration);
    const char *why;
    enum az_status st = ask_entrypoint(op, entrypoint_paths[ENTRYPOINT_REGISTER],
                                       document(op, registration), &bounds, &ret->verdict);
    if (st == AZ_OK)
        st = registration_grants(op, registration, &ret->verdict.decision, &ret->grant_types, &why);
    return st == AZ_OK && why != NULL ? ask_refuse(op, "grant_types", why, &ret->verdict) : st;
}

/* Codes with a status of their own, the first one first; any other deny is
 * AZ_INVALID_CLIENT_METADATA. */
static const struct register_outcome {
    const char *code;
    enum az_status status;
} outcomes[] = {
    {"registration_disabled",    AZ_FORBIDDEN                    },
    {"statement_not_trusted",    AZ_UNAPPROVED_SOFTWARE_STATEMENT},
    {"issuer_not_trusted",       AZ_UNAPPROVED_SOFTWARE_STATEMENT},
    {"redirect_uri_not_allowed", AZ_INVALID_REDIRECT_URI         },
};

static const char *
message_of(const json_t *reasons, const char *code)
{
    size_t index;
    const json_t *reason;
    json_array_foreach (reasons, index, reason) {
        const char *its = json_string_value(json_object_get(reason, "code"));
        if (code == NULL || (its != NULL && strcmp(its, code) == 0))
            return json_string_value(json_object_get(reason, "message"));
    }
    return NULL;
}

static enum az_status
deny_status(const struct decision *decision, const char **ret_text)
{
    for (size_t i = 0; i < sizeof(outcomes) / sizeof(outcomes[0]); i++)
        if (decision_has_code(decision, outcomes[i].code)) {
            *ret_text = message_of(decision->reasons, outcomes[i].code);
            return outcomes[i].status;
        }
    *ret_text = message_of(decision->reasons, NULL);
    return AZ_INVALID_CLIENT_METADATA;
}

enum az_status
registration_refusal(const struct registration *registration,
                     const struct registration_verdict *verdict, const char **ret_text)
{
    const struct decision *decision = &verdict->verdict.decision;
    *ret_text = NULL;
    if (!decision->allow)
        return deny_status(decision, ret_text);
    if (json_array_size(verdict->grant_types) == 0)
        *ret_text = "None of the requested grant types may be registered";
    else if (registration->scopes != NULL && json_array_size(decision->scopes) == 0)
        *ret_text = "None of the requested scopes may be registered";
    return *ret_text == NULL ? AZ_OK : AZ_INVALID_CLIENT_METADATA;
}
