#include "config.h"

#include "oidc/authorize_params.h"

#include <stdio.h>
#include <string.h>

#include "base/digits.h"
#include "base/query.h"
#include "base/words.h"
#include "oauth/default_scope.h"
#include "oauth/grant.h"
#include "oauth/parameters/parameters.h"
#include "policy/decide/registry.h"
#include "token/id_token.h"
#include "token/issue.h"

/* clang-format off */
const struct route_param authorize_params[] = {
    {.name = "client_id", .required = true,
     .help = "Registered id, or the URL of a client metadata document"},
    {.name = "redirect_uri", .required = true,
     .help = "One of the registered URIs of the client, exactly"},
    {.name = "response_type", .required = true, .help = "code is supported alone"},
    {.name = "response_mode", .help = "query is supported alone"},
    {.name = "state", .help = "Value that is sent back unchanged"},
    {.name = "scope", .help = "Scopes separated by spaces; the registered ones if it is left out"},
    {.name = "nonce", .help = "Value that is put into the ID token unchanged"},
    {.name = "code_challenge",
     .help = "PKCE challenge (RFC 7636); required of public clients, and of others by "
             "SVC_PKCE_REQUIRED or pkceRequired of the client"},
    {.name = "code_challenge_method", .help = "S256 is supported alone"},
    {.name = "resource", .repeatable = true, .help = "Indicator of a resource (RFC 8707)"},
    {.name = "resource_types", .help = "URIs of resource types, separated by spaces"},
    {.name = "authorization_details", .help = "JSON array of details (RFC 9396)"},
    {.name = "prompt",
     .help = "none, login, consent, select_account and create, separated by spaces"},
    {.name = "max_age", .help = "Most seconds since the user signed in"},
    {.name = "acr_values", .help = "Sent to the identity provider"},
    {.name = "login_hint", .help = "Sent to the identity provider"},
    {.name = "ui_locales",
     .help = "Languages of the pages, best first, separated by spaces; sent to the identity "
             "provider"},
    {.name = "idp_hint", .help = "idpId of the identity provider to use"},
    {.name = "id_token_hint", .help = "ID token of the user who is expected"},
    {.name = "dpop_jkt",
     .help = "Thumbprint of the DPoP key that the code is bound to (RFC 9449 10)"},
    {.name = "request", .help = "Refused: not supported"},
    {.name = "request_uri", .help = "Refused: not supported"},
    {.name = "registration", .help = "Refused: not supported"},
    {.name = NULL},
};
/* clang-format on */

/* Parameters that are known but not supported; each has its own error code (OpenID Connect Core 6
 * and 7.2.1). */
static const struct {
    const char *name;
    enum az_status status;
} unsupported[] = {
    {"request",      AZ_REQUEST_NOT_SUPPORTED     },
    {"request_uri",  AZ_REQUEST_URI_NOT_SUPPORTED },
    {"registration", AZ_REGISTRATION_NOT_SUPPORTED},
};

#define AT(member) offsetof(struct authorization, member)

/* Parameters that are kept unchanged. */
static const struct {
    const char *name;
    size_t max, offset;
} texts[] = {
    {"nonce",      AUTHORIZE_NONCE_MAX,   AT(nonce)     },
    {"acr_values", AUTHORIZE_HINT_MAX,    AT(acr_values)},
    {"login_hint", AUTHORIZE_HINT_MAX,    AT(login_hint)},
    {"ui_locales", AUTHORIZE_LOCALES_MAX, AT(ui_locales)},
    {"idp_hint",   AUTHORIZE_IDP_MAX,     AT(idp_hint)  },
};

/* Words of prompt, and the member that each sets. */
static const struct {
    const char *word;
    size_t offset;
} prompts[] = {
    {"none",           AT(prompt_none)   },
    {"login",          AT(prompt_login)  },
    {"consent",        AT(prompt_consent)},
    {"select_account", AT(prompt_select) },
    {"create",         AT(prompt_create) },
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static enum az_status
authorize_refuse(struct request *req, const char *text)
{
    return op_fail(&req->op, AZ_INVALID_REQUEST, text, NULL);
}

/* Refuse the request; the text names the parameter, which is in the table. */
static enum az_status
authorize_refuse_param(struct request *req, const char *name, const char *why)
{
    char text[96];
    snprintf(text, sizeof(text), "The parameter %s %s", name, why);
    return authorize_refuse(req, text);
}

const char *
authorize_state(const struct request *req)
{
    const char *state = request_param(req, "state");
    return state != NULL && query_escaped_length(state) <= AUTHORIZE_STATE_MAX ? state : NULL;
}

/* Refuse parameters that were sent twice or cannot be decoded (RFC 6749 3.1). */
static enum az_status
check_form(struct request *req, struct authorization *authorization)
{
    if (req->repeated != NULL)
        return authorize_refuse_param(req, req->repeated, "is repeated");
    if (req->param_fault != NULL)
        return authorize_refuse(req, req->param_fault);
    authorization->state = authorize_state(req);
    if (authorization->state == NULL && request_param(req, "state") != NULL)
        return authorize_refuse_param(req, "state", "is too long");
    return AZ_OK;
}

/* Check response_type and response_mode: codes in the query are all that is supported
 * (specification 1). */
static enum az_status
read_response(struct request *req, struct authorization *authorization)
{
    const char *type = request_param(req, "response_type");
    const char *mode = request_param(req, "response_mode");
    (void) authorization;
    if (type == NULL)
        return authorize_refuse_param(req, "response_type", "is missing");
    if (strcmp(type, "code") != 0)
        return op_fail(&req->op, AZ_UNSUPPORTED_RESPONSE_TYPE, NULL, NULL);
    if (mode != NULL && strcmp(mode, "query") != 0)
        return authorize_refuse(req, "response_mode must be query");
    for (size_t i = 0; i < COUNT(unsupported); i++)
        if (request_param(req, unsupported[i].name) != NULL)
            return op_fail(&req->op, unsupported[i].status, NULL, NULL);
    return AZ_OK;
}

/* Refuse a client whose registered grant types lack authorization_code (RFC 7591 2). */
static enum az_status
check_grant(struct request *req)
{
    const char *const *grants = (const char *const *) req->client->grant_types;
    return grants == NULL || words_has(grants, "authorization_code")
               ? AZ_OK
               : op_fail(&req->op, AZ_UNAUTHORIZED_CLIENT, NULL, NULL);
}

static enum az_status
read_grant(struct request *req, struct authorization *authorization)
{
    (void) authorization;
    return check_grant(req);
}

/* Refuse a request without a PKCE challenge of a client that must send one (oauth.md S4). */
static enum az_status
check_challenge(struct request *req, const char *challenge)
{
    if (challenge == NULL && client_is_public(req->client))
        return authorize_refuse(req, "A public client must send a code_challenge (PKCE)");
    if (challenge == NULL && req->client->pkce_required)
        return authorize_refuse(req, "This client must send a code_challenge (PKCE)");
    return AZ_OK;
}

static const char base64url_alphabet[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/*
 * Read the PKCE challenge (RFC 7636). plain is refused even without a challenge; any other method
 * means S256 (oauth.md S3).
 */
static enum az_status
read_pkce(struct request *req, struct authorization *authorization)
{
    const char *challenge = request_param(req, "code_challenge");
    const char *method = request_param(req, "code_challenge_method");
    if (method != NULL && strcmp(method, "plain") == 0)
        return authorize_refuse(req, "code_challenge_method=plain is not supported; use S256");
    if (challenge != NULL
        && (strlen(challenge) != AUTHORIZE_CHALLENGE
            || strspn(challenge, base64url_alphabet) != AUTHORIZE_CHALLENGE))
        return authorize_refuse(req, "code_challenge must be a base64url-encoded SHA-256 hash");
    authorization->code_challenge = challenge;
    return check_challenge(req, challenge);
}

/* Read the thumbprint of the DPoP key that the code shall be bound to (RFC 9449 10). It has the
 * form of a PKCE challenge: base64url of a SHA-256. */
static enum az_status
read_dpop_jkt(struct request *req, struct authorization *authorization)
{
    const char *jkt = request_param(req, "dpop_jkt");
    if (jkt == NULL || req->op.az->dpop_algs == NULL)
        return AZ_OK;
    if (strlen(jkt) != AUTHORIZE_CHALLENGE
        || strspn(jkt, base64url_alphabet) != AUTHORIZE_CHALLENGE)
        return authorize_refuse(req, "dpop_jkt must be a base64url-encoded SHA-256 thumbprint");
    authorization->dpop_jkt = jkt;
    return AZ_OK;
}

/*
 * Read scope, or what takes its place (decisions.md "Omitted scope"). The result is stored with the
 * request: the consent page shows it, a remembered consent covers it, and a client that changes its
 * registration later gets no more than the user saw.
 */
static enum az_status
authorize_read_scope(struct request *req, struct authorization *authorization)
{
    json_t *words;
    enum az_status st = scope_parse(&req->op, request_param(req, "scope"), &words);
    if (st == AZ_OK && json_array_size(words) == 0)
        st = default_scope_read(&req->op, req->client, &words);
    if (st != AZ_OK)
        return st;
    authorization->scope = words_join(req->op.mem, words);
    return authorization->scope != NULL ? AZ_OK : op_no_memory(&req->op);
}

/* Read resource. A token is for one resource: equal repetitions count once, two different values
 * are invalid_target, as at /token. */
static enum az_status
read_resource(struct request *req, struct authorization *authorization)
{
    for (size_t i = 0; i < req->params; i++) {
        const char *value;
        if (strcmp(req->param[i].name, "resource") != 0)
            continue;
        enum az_status st = resource_read(&req->op, req->param[i].value, &value);
        if (st != AZ_OK)
            return st;
        if (authorization->resource == NULL)
            authorization->resource = value;
        if (!resource_equal(authorization->resource, value))
            return op_fail(&req->op, AZ_INVALID_TARGET,
                           "Only one resource can be requested per token", NULL);
    }
    return AZ_OK;
}

static enum az_status
read_types(struct request *req, struct authorization *authorization)
{
    return resource_types_parse(&req->op, request_param(req, "resource_types"),
                                &authorization->resource_types);
}

static enum az_status
read_details(struct request *req, struct authorization *authorization)
{
    return details_parse(&req->op, request_param(req, "authorization_details"),
                         &authorization->details);
}

static enum az_status
read_default_resource(struct request *req, struct authorization *authorization)
{
    return default_resource_read(&req->op, req->client, authorization->scope,
                                 authorization->details, &authorization->resource);
}

/* Refuse a scope of which the client registered nothing: policy would refuse it after the sign-in.
 * With details, an ungranted scope is left out (decisions.md "Details decide"). */
static enum az_status
check_registered_scope(struct request *req, struct authorization *authorization)
{
    struct issue_question question = {.details = authorization->details,
                                      .resource = authorization->resource};
    return grant_read_scopes(req, authorization->scope, &question);
}

/* Set the member for one word of prompt; false: the word is unknown. */
static bool
set_prompt(struct authorization *authorization, const char *word, size_t length)
{
    for (size_t i = 0; i < COUNT(prompts); i++) {
        if (strlen(prompts[i].word) != length || memcmp(prompts[i].word, word, length) != 0)
            continue;
        *(bool *) (void *) ((char *) authorization + prompts[i].offset) = true;
        return true;
    }
    return false;
}

/* Read prompt: words separated by spaces; none cannot be combined (OpenID Connect Core 3.1.2.1). */
static enum az_status
read_prompt(struct request *req, struct authorization *authorization)
{
    const char *prompt = request_param(req, "prompt");
    for (const char *c = prompt != NULL ? prompt : ""; *c != '\0';) {
        size_t length = strcspn(c, " ");
        if (length > 0 && !set_prompt(authorization, c, length))
            return authorize_refuse(
                req, "prompt must be none, login, consent, select_account or create");
        c += length + (c[length] == ' ');
    }
    if (authorization->prompt_none
        && (authorization->prompt_login || authorization->prompt_consent
            || authorization->prompt_select || authorization->prompt_create))
        return authorize_refuse(req, "prompt=none cannot be combined with other values");
    return AZ_OK;
}

static enum az_status
read_max_age(struct request *req, struct authorization *authorization)
{
    const char *text = request_param(req, "max_age");
    if (text == NULL)
        return AZ_OK;
    if (strlen(text) > AUTHORIZE_AGE_MAX || !digits_read(text, INT64_MAX, &authorization->max_age))
        return authorize_refuse(req, "max_age must be a number of seconds");
    return AZ_OK;
}

static enum az_status
authorize_read_texts(struct request *req, struct authorization *authorization)
{
    for (size_t i = 0; i < COUNT(texts); i++) {
        const char *value = request_param(req, texts[i].name);
        if (value != NULL && strlen(value) > texts[i].max)
            return authorize_refuse_param(req, texts[i].name, "is too long");
        *(const char **) (void *) ((char *) authorization + texts[i].offset) = value;
    }
    return AZ_OK;
}

/* Read id_token_hint. It must be an ID token of this server; its subject counts under prompt=none.
 */
static enum az_status
authorize_read_hint(struct request *req, struct authorization *authorization)
{
    const char *hint = request_param(req, "id_token_hint");
    json_t *claims = NULL;
    if (hint == NULL)
        return AZ_OK;
    enum az_status st = id_token_read(&req->op, hint, &claims);
    if (st == AZ_INVALID) {
        az_fault_clear(&req->op.fault);
        return authorize_refuse(req, "id_token_hint is not an ID token issued by this server");
    }
    authorization->hint_subject =
        st == AZ_OK ? json_string_value(json_object_get(claims, "sub")) : NULL;
    return st;
}

/* The steps, in the order of oauth.md 3.2. */
static enum az_status (*const steps[])(struct request *req, struct authorization *authorization) = {
    check_form,
    read_response,
    read_grant,
    read_pkce,
    read_dpop_jkt,
    authorize_read_scope,
    read_resource,
    read_types,
    read_details,
    read_default_resource,
    check_registered_scope,
    read_prompt,
    read_max_age,
    authorize_read_texts,
    authorize_read_hint,
};

enum az_status
authorize_params_judge(struct request *req, const struct authorization *authorization)
{
    enum az_status st = check_grant(req);
    return st == AZ_OK ? check_challenge(req, authorization->code_challenge) : st;
}

enum az_status
authorize_params_read(struct request *req, struct authorization *ret)
{
    struct authorization authorization = {
        .client_id = req->client->client_id,
        .redirect_uri = request_param(req, "redirect_uri"),
        .max_age = AUTHORIZATION_NO_MAX_AGE,
    };
    enum az_status st = AZ_OK;
    for (size_t i = 0; i < COUNT(steps) && st == AZ_OK; i++)
        st = steps[i](req, &authorization);
    if (st == AZ_OK)
        *ret = authorization;
    return st;
}
