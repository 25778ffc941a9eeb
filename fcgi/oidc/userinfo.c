#include "config.h"

#include "oidc/userinfo.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/words.h"
#include "oauth/dpop/dpop.h"
#include "oauth/own_token.h"

/* clang-format off */
const struct route_param userinfo_params[] = {
    {.name = "access_token", .help = "Access token, unless it is in the Authorization header"},
    {.name = NULL},
};
/* clang-format on */

/* The claims that each scope gives (OpenID Connect Core 5.4), of those that discovery names. */
static const struct {
    const char *scope, *claim;
} claims_of[] = {
    {"profile", "name"              },
    {"profile", "preferred_username"},
    {"email",   "email"             },
    {"email",   "email_verified"    },
};

/* Find the token in the header or in a form (RFC 6750 2.1, 2.2), but not in both. A token in the
 * query does not count, because URLs end up in logs. */
static enum az_status
userinfo_token_text(struct request *req, const char **ret)
{
    const char *header = request_header(req, "HTTP_AUTHORIZATION");
    const char *text = strcmp(req->method, "POST") == 0 ? request_param(req, "access_token") : NULL;
    if (header != NULL && text != NULL)
        return own_token_refuse(req, "the request has a token in the header and in the form");
    *ret = header != NULL ? access_token_text(req) : text;
    return *ret != NULL ? AZ_OK : own_token_refuse(req, "the request has no access token");
}

/* Build the answer: the known claims that the scopes give. */
static json_t *
body(struct request *req, const struct token_row *row, const json_t *scopes)
{
    json_t *answer = jsonx_own(req->op.mem, json_pack("{s:s}", "sub", row->subject));
    for (size_t i = 0; i < sizeof(claims_of) / sizeof(claims_of[0]); i++) {
        json_t *value = json_object_get(row->claims, claims_of[i].claim);
        if (value == NULL || json_is_null(value) || !words_array_has(scopes, claims_of[i].scope))
            continue;
        if (json_object_set(answer, claims_of[i].claim, value) != 0)
            return NULL;
    }
    return answer;
}

enum az_status
userinfo_handle(struct request *req)
{
    struct own_token token = {.scopes = NULL};
    const char *text;
    enum az_status st = userinfo_token_text(req, &text);
    if (st == AZ_OK)
        st = own_token_find(req, text, &token);
    if (st != AZ_OK)
        return st;
    if (token.lookup.row.claims == NULL)
        return own_token_refuse(req, "the token has no user");
    if ((st = own_token_judge(req, &token)) != AZ_OK)
        return st;
    if (!words_array_has(token.scopes, "openid"))
        return own_token_refuse(req, "the token lacks the scope openid");
    if ((st = own_token_note_read(req)) != AZ_OK)
        return st;
    return respond_json(req, 200, body(req, &token.lookup.row, token.scopes));
}
