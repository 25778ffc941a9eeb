#include "config.h"

#include "oauth/grants.h"

#include <string.h>

#include "oauth/grant.h"

/* clang-format off */
#define REQUIRED(its_name, ...) {.name = its_name, .required = true, __VA_ARGS__}
#define OPTIONAL(its_name, ...) {.name = its_name, __VA_ARGS__}
#define REPEATABLE(its_name, ...) {.name = its_name, .repeatable = true, __VA_ARGS__}

const struct grant grant_table[] = {
    {
        .type = "client_credentials",
        .issue = grant_client_credentials,
        .confidential_only = true,
        .params = {
            OPTIONAL("scope", .help = "Scopes separated by spaces"),
            REPEATABLE("resource", .help = "Indicator of a resource (RFC 8707)"),
            OPTIONAL("resource_types", .help = "URIs of resource types, separated by spaces"),
            OPTIONAL("authorization_details", .help = "JSON array of details (RFC 9396)"),
        },
    }, {
        .type = "authorization_code",
        .issue = grant_authorization_code,
        .params = {
            REQUIRED("code", .help = "Authorization code"),
            REQUIRED("redirect_uri", .help = "The one of the authorization request"),
            OPTIONAL("code_verifier",
                     .help = "PKCE verifier (RFC 7636), if the authorization request had a "
                             "challenge"),
            REPEATABLE("resource", .help = "Indicator of a resource (RFC 8707)"),
            OPTIONAL("resource_types", .help = "URIs of resource types, separated by spaces"),
            OPTIONAL("authorization_details",
                     .help = "JSON array of details (RFC 9396), no more than was authorized"),
        },
    }, {
        .type = "refresh_token",
        .issue = grant_refresh_token,
        .params = {
            REQUIRED("refresh_token", .help = "Refresh token; the answer may have a new one"),
            OPTIONAL("scope", .help = "Scopes separated by spaces"),
            REPEATABLE("resource", .help = "Indicator of a resource (RFC 8707)"),
            OPTIONAL("authorization_details",
                     .help = "JSON array of details (RFC 9396), no more than was authorized"),
        },
    },
    {
        .type = GRANT_CIBA,
        .issue = grant_ciba,
        .confidential_only = true,
        .params = {
            REQUIRED("auth_req_id", .help = "auth_req_id of /bc-authorize"),
        },
    }, {
        .type = "urn:ietf:params:oauth:grant-type:token-exchange",
        .issue = grant_token_exchange,
        .confidential_only = true,
        .params = {
            REQUIRED("subject_token", .help = "Token of the subject (RFC 8693)"),
            REQUIRED("subject_token_type",
                     .help = "Kind of the subject token: "
                             "urn:ietf:params:oauth:token-type:access_token or "
                             "urn:ietf:params:oauth:token-type:id_token"),
            OPTIONAL("requested_token_type",
                     .help = "urn:ietf:params:oauth:token-type:access_token, if it is sent"),
            OPTIONAL("actor_token", .help = "Refused: the client that authenticates is the actor"),
            OPTIONAL("actor_token_type", .help = "Refused, as actor_token"),
            OPTIONAL("scope",
                     .help = "Scopes separated by spaces, within those of an access token"),
            REPEATABLE("resource", .help = "Indicator of a resource (RFC 8707)"),
            REPEATABLE("audience", .help = "Another name of resource"),
            OPTIONAL("resource_types", .help = "URIs of resource types, separated by spaces"),
            OPTIONAL("authorization_details", .help = "JSON array of details (RFC 9396)"),
        },
    },
};
/* clang-format on */

const size_t grant_table_count = sizeof(grant_table) / sizeof(grant_table[0]);

const struct grant *
grant_of_type(const char *type)
{
    for (size_t i = 0; i < grant_table_count; i++)
        if (strcmp(grant_table[i].type, type) == 0)
            return &grant_table[i];
    return NULL;
}

const struct route_param *
grants_find_param(const char *name)
{
    for (size_t i = 0; i < grant_table_count; i++)
        for (const struct route_param *param = grant_table[i].params; param->name != NULL; param++)
            if (strcmp(param->name, name) == 0)
                return param;
    return NULL;
}

const char *const *
grant_types(TALLOC_CTX *mem)
{
    const char **types = talloc_zero_array(mem, const char *, (unsigned) grant_table_count + 1);
    for (size_t i = 0; i < grant_table_count && types != NULL; i++)
        types[i] = grant_table[i].type;
    return types;
}
