#include "config.h"

#include "oidc/choose.h"

#include <stdio.h>
#include <string.h>

#include "base/jsonx.h"
#include "base/query.h"
#include "base/settings.h"
#include "base/visible.h"
#include "base/words.h"
#include "http/page/page.h"
#include "token/issue.h"

/* Room for a decimal number. */
#define NUMBER_SIZE 24

static const char *
prompt_text(const struct authorization *authorization)
{
    if (authorization->prompt_login)
        return authorization->prompt_consent ? "login consent" : "login";
    return authorization->prompt_consent ? "consent" : NULL;
}

/* Return the checked request as a URL that also names the provider. */
static const char *
address(struct request *req, const struct authorization *authorization, const char *idp_id)
{
    char number[NUMBER_SIZE];
    TALLOC_CTX *mem = req->op.mem;
    const char *base = talloc_asprintf(mem, "%s/authorize", req->op.az->cfg->oidc_issuer);
    const json_t *types = authorization->resource_types, *details = authorization->details;
    bool aged = authorization->max_age != AUTHORIZATION_NO_MAX_AGE;
    snprintf(number, sizeof(number), "%lld", (long long) authorization->max_age);
    /* clang-format off */
    const struct query_pair pairs[] = {
        {"response_type",         "code"},
        {"client_id",             authorization->client_id},
        {"redirect_uri",          authorization->redirect_uri},
        {"scope",                 authorization->scope},
        {"state",                 authorization->state},
        {"nonce",                 authorization->nonce},
        {"code_challenge",        authorization->code_challenge},
        {"code_challenge_method", authorization->code_challenge != NULL ? "S256" : NULL},
        {"resource",              authorization->resource},
        {"resource_types",        types != NULL ? words_join(mem, types) : NULL},
        {"authorization_details", details != NULL ? jsonx_dump(mem, details) : NULL},
        {"prompt",                prompt_text(authorization)},
        {"max_age",               aged ? number : NULL},
        {"acr_values",            authorization->acr_values},
        {"login_hint",            authorization->login_hint},
        {"ui_locales",            authorization->ui_locales},
        {"idp_hint",              idp_id},
    };
    /* clang-format on */
    return base != NULL ? query_append(mem, base, pairs, sizeof(pairs) / sizeof(pairs[0])) : NULL;
}

/* The page has links and no form: the provider may be anywhere, and form-action would block that.
 */
enum az_status
choose_respond(struct request *req, const struct authorization *authorization,
               const struct identity_provider *const *providers, size_t count)
{
    const struct client *client = req->client;
    const char *name = client->name != NULL && visible_fault(client->name) == NULL
                           ? client->name
                           : client->client_id;
    struct jsonx_build list = {json_array(), false};
    json_t *values = jsonx_own(
        req->op.mem, json_pack("{s:s,s:o}", "client_name", name, "providers", list.value));
    for (size_t i = 0; i < count && values != NULL; i++) {
        const char *url = address(req, authorization, providers[i]->idp_id);
        if (url == NULL)
            return op_fail(&req->op, AZ_SERVER_ERROR, NULL, "out of memory");
        /* Only a posted form can be so long. */
        if (!request_target_fits(url))
            return op_fail(
                &req->op, AZ_INVALID_REQUEST,
                "The request is too long for the page that offers the identity providers", NULL);
        jsonx_append(
            &list, json_pack("{s:s,s:s}", "name",
                             providers[i]->name != NULL ? providers[i]->name : providers[i]->idp_id,
                             "href", url));
    }
    return respond_page(req, 200, "choose", list.lost ? NULL : values, NULL);
}
