#include "config.h"

#include "oidc/upstream/upstream.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/log.h"
#include "base/query.h"
#include "base/settings/settings.h"
#include "base/words.h"
#include "client/ask.h"
#include "crypto/jws.h"
#include "oidc/upstream/upstream_endpoints.h"
#include "oidc/upstream/upstream_fault.h"
#include "oidc/upstream/upstream_id_token.h"
#include "oidc/upstream/upstream_keys.h"
#include "oidc/upstream/upstream_tokens.h"
#include "oidc/upstream/upstream_userinfo.h"
#include "store/people/stored_claims.h"
#include "token/authorization.h"
#include "token/person_claims.h"

/* Longest code, in octets; more than fits into the callback's query. */
#define CODE_MAX 4096

/* Parameters of ours in an authorization request, at most. */
#define OWN_PARAMS 16

/* ---- sending the browser there ---- */

/* Join the scopes of the row; openid is always among them, or no ID token would come back. */
static char *
provider_scopes(TALLOC_CTX *mem, const struct identity_provider *provider)
{
    if (provider->scopes == NULL || provider->scopes[0] == NULL)
        return talloc_strdup(mem, "openid profile email");
    char *text = talloc_strdup(mem, "openid");
    for (size_t i = 0; text != NULL && provider->scopes[i] != NULL; i++)
        if (strcmp(provider->scopes[i], "openid") != 0)
            text = talloc_asprintf_append(text, " %s", provider->scopes[i]);
    return text;
}

/* Return the words of prompt for the provider, or NULL. A word that its row leaves out is not sent,
 * because some providers refuse the request then; for prompt=login, auth_time decides anyway. */
static const char *
provider_prompt(TALLOC_CTX *mem, const struct identity_provider *provider,
                const struct upstream_request *request)
{
    const char *const *takes = (const char *const *) provider->prompts;
    const struct {
        const char *word;
        bool asked, announced;
    } words[] = {
        {"login",          request->prompt_login,  false},
        {"select_account", request->prompt_select, false},
        {"create",         request->prompt_create, true },
    };
    const char *text = NULL;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (words[i].asked
            && (words[i].announced || takes == NULL || words_has(takes, words[i].word)))
            text =
                text == NULL ? words[i].word : talloc_asprintf(mem, "%s %s", text, words[i].word);
    return text;
}

enum az_status
upstream_authorize_url(struct op *op, const struct identity_provider *provider,
                       const struct upstream_request *request, const char **ret)
{
    struct upstream_endpoints endpoints;
    enum az_status st =
        upstream_endpoints_get(op, provider, UPSTREAM_NEED_AUTHORIZATION, &endpoints);
    if (st != AZ_OK)
        return st;
    if (provider->client_id == NULL)
        return upstream_setup_fault(op, provider, UPSTREAM_CLIENT_REFUSED,
                                    "its row has no clientId");
    const char *scope = provider_scopes(op->mem, provider), *back = upstream_callback(op, provider);
    /* With max_age, a provider must send auth_time (OpenID Connect Core 2). Without auth_time, a
     * new sign-in cannot be told from an old one. */
    int64_t age = request->max_age;
    if (request->prompt_login && age == AUTHORIZATION_NO_MAX_AGE)
        age = 0;
    const char *max_age =
        age == AUTHORIZATION_NO_MAX_AGE ? NULL : talloc_asprintf(op->mem, "%lld", (long long) age);
    const struct query_pair own[OWN_PARAMS] = {
        {"response_type",         "code"                 },
        {"client_id",             provider->client_id    },
        {"redirect_uri",          back                   },
        {"scope",                 scope                  },
        {"state",                 request->state         },
        {"nonce",                 request->nonce         },
        {"code_challenge",        request->code_challenge},
        {"code_challenge_method", "S256"                 },
        {"login_hint",            request->login_hint    },
        {"acr_values",            request->acr_values    },
        {"ui_locales",            request->ui_locales    },
        {"prompt",                provider_prompt(op->mem, provider, request)},
        {"max_age",               max_age                                     },
    };
    if (scope == NULL || back == NULL || (max_age == NULL && age != AUTHORIZATION_NO_MAX_AGE))
        return op_no_memory(op);
    char *url =
        client_url(op->mem, endpoints.authorization, own, OWN_PARAMS, provider->authorize_params);
    if (url == NULL)
        return op_no_memory(op);
    *ret = url;
    return AZ_OK;
}

/* ---- proving the identity ---- */

/* Refuse an ID token. One that this service can never read is a fault of the provider's settings.
 */
static enum az_status
refuse_id_token(struct op *op, const struct identity_provider *provider, const char *text,
                const char *why)
{
    if (upstream_token_parts(text) == JWE_PARTS)
        return upstream_setup_fault(op, provider, UPSTREAM_ENCRYPTED,
                                    "its ID token is encrypted (JWE)");
    if (strlen(text) > JWS_OCTETS_MAX)
        return upstream_setup_fault(op, provider, UPSTREAM_ID_TOKEN_TOO_LARGE, why);
    if (why == upstream_no_auth_time) {
        upstream_fault_note(op, provider, upstream_fault_code(UPSTREAM_NO_AUTH_TIME));
        return upstream_untimed(op, provider);
    }
    return upstream_deny(op, provider, why);
}

/* Return what the ID token must match. */
static struct upstream_expected
expected_of(struct op *op, const struct identity_provider *provider,
            const struct upstream_answer *answer, const struct upstream_tokens *tokens)
{
    return (struct upstream_expected){
        .issuer = provider->issuer,
        .aliases = (const char *const *) provider->issuer_aliases,
        .client_id = provider->client_id,
        .nonce = answer->nonce,
        .access_token = tokens->access_token,
        .max_age = answer->max_age,
        .prompt_login = answer->prompt_login,
        .asked_at = answer->asked_at,
        .now = op_now(op),
    };
}

/* An ID token that is checked. */
struct id_token_checking {
    const char *text;
    const struct upstream_expected *expected;
    struct upstream_claims *ret;
};

static enum az_status
id_token_by_keys(TALLOC_CTX *mem, const struct jwk_set *keys, void *arg, const char **ret_why,
                 bool *ret_stale)
{
    const struct id_token_checking *it = arg;
    return upstream_id_token_check(mem, it->text, keys, it->expected, it->ret, ret_why, ret_stale);
}

static enum az_status
check_id_token(struct op *op, const struct identity_provider *provider,
               const struct upstream_endpoints *endpoints, const struct upstream_expected *expected,
               const struct upstream_tokens *tokens, struct upstream_claims *ret)
{
    struct id_token_checking it = {tokens->id_token, expected, ret};
    const char *why = NULL;
    enum az_status st = upstream_keys_check(op, endpoints, id_token_by_keys, &it, &why);
    return st == AZ_INVALID ? refuse_id_token(op, provider, tokens->id_token, why) : st;
}

/* Return why the iss of the callback is not the provider's (RFC 9207 section 2.4), or NULL: the
 * answer, a code or an error, may come from another server. */
static const char *
iss_fault(const struct identity_provider *provider, const struct upstream_endpoints *endpoints,
          const char *iss)
{
    if (iss == NULL)
        return endpoints->sends_iss
                   ? "the callback has no iss although the discovery document announces it"
                   : NULL;
    return !identity_provider_says(provider, iss) ? "the iss of the callback is another issuer"
                                                  : NULL;
}

/* Check the answer before the code is sent anywhere. */
static enum az_status
check_answer(struct op *op, const struct identity_provider *provider,
             const struct upstream_endpoints *endpoints, const struct upstream_answer *answer)
{
    const char *why = iss_fault(provider, endpoints, answer->iss);
    if (why != NULL)
        return upstream_deny(op, provider, why);
    if (answer->code == NULL || strlen(answer->code) > CODE_MAX)
        return upstream_deny(op, provider, "the callback has no code, or one that is too long");
    return AZ_OK;
}

/* Tell the operator that the answers of a provider differ in an address, of which one is kept. */
static void
tell_other(struct op *op, const struct identity_provider *provider, const char *claim)
{
    const struct log_field fields[] = {
        LOG_TEXT("request_id", op->request_id),
        LOG_TEXT("idp", provider->idp_id),
        LOG_TEXT("claim", claim),
    };
    log_line(AZ_SEV_WARN, "the ID token and userinfo of a person have different addresses", fields,
             sizeof(fields) / sizeof(fields[0]));
}

/* Return the claims that are kept of both answers; NULL: no memory. */
static json_t *
keep_claims(struct op *op, const struct identity_provider *provider,
            const struct upstream_claims *claims, const struct upstream_userinfo *userinfo)
{
    const struct person_answers answers = {.id_token = claims->object,
                                           .userinfo = userinfo->claims,
                                           .lost = userinfo->lost,
                                           .lists = (const char *const *) provider->list_claims,
                                           .only = (const char *const *) provider->claims};
    const char *other = NULL;
    json_t *kept = person_claims_keep(op->mem, &answers, &other);
    if (kept != NULL && other != NULL)
        tell_other(op, provider, other);
    return kept;
}

/* Refuse claims that the row lists and that are not all there (world.md U6): the page names the
 * first one, so that its operator finds it, and the log line all of them. */
static enum az_status
check_claims(struct op *op, const struct identity_provider *provider, const json_t *kept)
{
    const json_t *lacking = json_object_get(kept, CLAIMS_INCOMPLETE);
    if (provider->claims == NULL || lacking == NULL)
        return AZ_OK;
    const char *names = jsonx_dump(op->mem, lacking);
    const char *said =
        talloc_asprintf(op->mem, "claims that it did not give whole: %.1024s", names);
    if (names == NULL || said == NULL)
        return op_no_memory(op);
    op->provider_claim = json_string_value(json_array_get(lacking, 0));
    return upstream_setup_fault(op, provider, UPSTREAM_CLAIMS_INCOMPLETE, said);
}

enum az_status
upstream_redeem(struct op *op, const struct identity_provider *provider,
                const struct upstream_answer *answer, struct upstream_identity *ret)
{
    struct upstream_endpoints endpoints;
    struct upstream_tokens tokens = {NULL, NULL};
    struct upstream_claims claims;
    struct upstream_expected expected;
    struct upstream_userinfo userinfo;
    json_t *kept;
    if (provider->client_id == NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "identity provider %s has no clientId",
                       provider->idp_id);
    enum az_status st = upstream_endpoints_get(op, provider, UPSTREAM_NEED_TOKEN, &endpoints);
    if (st == AZ_OK)
        st = check_answer(op, provider, &endpoints, answer);
    if (st == AZ_OK)
        st = upstream_tokens_get(op, provider, &endpoints, answer->code, answer->verifier, &tokens);
    if (st != AZ_OK)
        return st;
    expected = expected_of(op, provider, answer, &tokens);
    st = check_id_token(op, provider, &endpoints, &expected, &tokens, &claims);
    if (st == AZ_OK)
        st = upstream_userinfo_get(op, provider, &endpoints, &tokens, &expected, claims.sub,
                                   &userinfo);
    if (st != AZ_OK)
        return st;
    if ((kept = keep_claims(op, provider, &claims, &userinfo)) == NULL)
        return op_no_memory(op);
    if ((st = check_claims(op, provider, kept)) != AZ_OK)
        return st;
    *ret = (struct upstream_identity){
        .sub = claims.sub,
        .claims = kept,
        .userinfo_joined = userinfo.claims != NULL,
        .auth_time = claims.has_auth_time ? claims.auth_time : 0,
        .acr = claims.acr,
        .amr = claims.amr,
        .sid = claims.sid,
        .id_token = tokens.id_token,
    };
    return AZ_OK;
}

enum az_status
upstream_refuse(struct op *op, const struct identity_provider *provider, const char *iss,
                const char *error, const char *text)
{
    struct upstream_endpoints endpoints;
    enum az_status st = upstream_endpoints_get(op, provider, UPSTREAM_NEED_NOTHING, &endpoints);
    const char *why = st == AZ_OK ? iss_fault(provider, &endpoints, iss) : NULL;
    if (why != NULL)
        return op_fail(op, AZ_SERVER_ERROR, "The identity provider reported an error",
                       "identity provider %s: an error that is not trusted: %s", provider->idp_id,
                       why);
    return st == AZ_OK ? upstream_error(op, provider, "it reports to the callback", error, text)
                       : st;
}

const char *
upstream_end_session_endpoint(struct op *op, const struct identity_provider *provider)
{
    struct upstream_endpoints endpoints = {.end_session = NULL};
    const struct az_fault before = op->fault;
    if (upstream_endpoints_get(op, provider, UPSTREAM_NEED_NOTHING, &endpoints) != AZ_OK)
        op->fault = before;
    return endpoints.end_session;
}
