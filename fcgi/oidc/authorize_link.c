#include "config.h"

#include "oidc/authorize_link.h"

#include <stdio.h>

#include "base/json/jsonx.h"
#include "base/query.h"
#include "base/settings/settings.h"
#include "base/words.h"

/* Room for a decimal number. */
#define NUMBER_SIZE 24

/* Return the words of prompt, or NULL. A request with none is shown on no page. */
static const char *
prompt_text(TALLOC_CTX *mem, const struct authorization *authorization)
{
    const struct {
        bool asked;
        const char *word;
    } words[] = {
        {authorization->prompt_login,   "login"         },
        {authorization->prompt_consent, "consent"       },
        {authorization->prompt_select,  "select_account"},
        {authorization->prompt_create,  "create"        },
    };
    json_t *list = jsonx_own(mem, json_array());
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (words[i].asked && json_array_append_new(list, json_string(words[i].word)) != 0)
            return NULL;
    return json_array_size(list) > 0 ? words_join(mem, list) : NULL;
}

const char *
authorize_link(struct request *req, const struct authorization *authorization, const char *idp_id)
{
    char number[NUMBER_SIZE];
    TALLOC_CTX *mem = req->op.mem;
    const char *base = talloc_asprintf(mem, "%s/authorize", req->op.az->cfg->oidc_issuer);
    const json_t *types = authorization->resource_types, *details = authorization->details;
    const char *asked = authorization->requested_scope,
               *scope = asked != NULL ? asked : authorization->scope;
    bool aged = authorization->max_age != AUTHORIZATION_NO_MAX_AGE;
    snprintf(number, sizeof(number), "%lld", (long long) authorization->max_age);
    /* clang-format off */
    const struct query_pair pairs[] = {
        {"response_type",         "code"},
        {"client_id",             authorization->client_id},
        {"redirect_uri",          authorization->redirect_uri},
        {"scope",                 scope},
        {"state",                 authorization->state},
        {"nonce",                 authorization->nonce},
        {"code_challenge",        authorization->code_challenge},
        {"code_challenge_method", authorization->code_challenge != NULL ? "S256" : NULL},
        {"dpop_jkt",              authorization->dpop_jkt},
        {"resource",              authorization->resource},
        {"resource_types",        types != NULL ? words_join(mem, types) : NULL},
        {"authorization_details", details != NULL ? jsonx_dump(mem, details) : NULL},
        {"prompt",                prompt_text(mem, authorization)},
        {"max_age",               aged ? number : NULL},
        {"acr_values",            authorization->acr_values},
        {"login_hint",            authorization->login_hint},
        {"ui_locales",            authorization->ui_locales},
        {"idp_hint",              idp_id},
    };
    /* clang-format on */
    return base != NULL ? query_append(mem, base, pairs, sizeof(pairs) / sizeof(pairs[0])) : NULL;
}
