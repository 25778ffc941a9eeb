#include "config.h"

#include "oidc/upstream/upstream_userinfo.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/log.h"
#include "base/settings/settings.h"
#include "crypto/jws.h"
#include "crypto/jwt.h"
#include "crypto/secret.h"
#include "http/fetch/fetch.h"
#include "oidc/upstream/upstream_fault.h"
#include "oidc/upstream/upstream_keys.h"
#include "store/people/provider_faults.h"

/* Longest answer, in octets. */
#define ANSWER_MAX (64 * 1024)

/* A request for userinfo. */
struct asking {
    struct op *op;
    const struct identity_provider *provider;
    const struct upstream_endpoints *endpoints;
    const struct upstream_expected *expected;
    const char *sub; /* of the ID token */
    struct upstream_userinfo *ret;
};

static bool
mode_is(const struct identity_provider *provider, const char *mode)
{
    return provider->userinfo != NULL && strcmp(provider->userinfo, mode) == 0;
}

/* Go on with the ID token alone, or refuse if the row requires userinfo. Claims that userinfo had
 * before are lost then: a person who revokes the access token at once must not shed a group. */
static enum az_status
do_without(const struct asking *it, enum upstream_fault fault, const char *why)
{
    struct op *op = it->op;
    if (mode_is(it->provider, "required"))
        return upstream_setup_fault(op, it->provider, fault, why);
    enum az_status st = provider_userinfo_had(op, it->provider->id, &it->ret->lost);
    /* Most providers without the endpoint never had one: that is no fault. */
    if (it->endpoints->userinfo == NULL && !it->ret->lost)
        return st;
    const struct log_field fields[] = {
        LOG_TEXT("request_id", op->request_id),
        LOG_TEXT("idp", it->provider->idp_id),
        LOG_TEXT("fault", upstream_fault_code(fault)),
        LOG_TEXT("detail", why),
        LOG_TEXT("incomplete", it->ret->lost ? "the claims of this person" : NULL),
    };
    log_line(AZ_SEV_WARN, "userinfo cannot be used, so the ID token stands alone", fields,
             sizeof(fields) / sizeof(fields[0]));
    if (st == AZ_OK && it->ret->lost)
        upstream_fault_note(op, it->provider, upstream_fault_code(fault));
    return st;
}

/* Go on without an endpoint. While discovery cannot be reached, a provider whose userinfo is
 * required or was joined before is asked again later: that heals, and incomplete claims do not. */
static enum az_status
without_endpoint(const struct asking *it)
{
    bool wait = mode_is(it->provider, "required");
    enum az_status st = AZ_OK;
    if (it->endpoints->unanswered && !wait)
        st = provider_userinfo_had(it->op, it->provider->id, &wait);
    if (st != AZ_OK || !it->endpoints->unanswered || !wait)
        return st != AZ_OK
                   ? st
                   : do_without(it, UPSTREAM_USERINFO_UNUSABLE, "it has no userinfo endpoint");
    return op_fail(it->op, AZ_UNAVAILABLE, UPSTREAM_NOT_REACHED,
                   "identity provider %s: its discovery document, which may name its userinfo "
                   "endpoint, cannot be read",
                   it->provider->idp_id);
}

/* Take the claims of an object, whose sub must be the ID token's (OpenID Connect Core 5.3.2):
 * otherwise the claims of one user could be added to another. */
static enum az_status
take_object(const struct asking *it, json_t *object)
{
    if (json_is_false(json_object_get(object, "ok"))) /* Slack */
        return do_without(it, UPSTREAM_USERINFO_UNUSABLE, "it says \"ok\": false");
    jsonx_drop_empty(object);
    const json_t *sub = json_object_get(object, "sub");
    if (sub == NULL)
        return do_without(it, UPSTREAM_USERINFO_UNUSABLE, "its answer has no sub");
    if (!json_is_string(sub) || strcmp(json_string_value(sub), it->sub) != 0)
        return upstream_deny(it->op, it->provider, "userinfo and the ID token have different subs");
    it->ret->claims = object;
    return AZ_OK;
}

/* A signed answer that is checked. */
struct token_checking {
    const char *text;
    const struct upstream_expected *expected;
    json_t *object; /* its claims, if it is good */
};

static enum az_status
userinfo_by_keys(TALLOC_CTX *mem, const struct jwk_set *keys, void *arg, const char **ret_why,
                 bool *ret_stale)
{
    struct token_checking *it = arg;
    return upstream_userinfo_check(mem, it->text, keys, it->expected, &it->object, ret_why,
                                   ret_stale);
}

/* Take the claims of a signed answer. */
static enum az_status
take_token(const struct asking *it, const char *text)
{
    struct token_checking checking = {text, it->expected, NULL};
    const char *why = NULL;
    enum az_status st =
        upstream_keys_check(it->op, it->endpoints, userinfo_by_keys, &checking, &why);
    if (st == AZ_INVALID)
        return upstream_deny(it->op, it->provider, why);
    return st == AZ_OK ? take_object(it, checking.object) : st;
}

/* Take the body of an answer with status 200. */
static enum az_status
take_body(const struct asking *it, const struct fetch_answer *got)
{
    json_t *object = NULL;
    bool token = strcmp(got->content_type, "application/jwt") == 0;
    size_t parts = upstream_token_parts(got->body);
    enum az_status st =
        jsonx_parse(it->op->mem, got->body, got->length, JWT_DEPTH_MAX, &object, NULL);
    if (st == AZ_SERVER_ERROR)
        return op_no_memory(it->op);
    if (st == AZ_OK && json_is_object(object) && !token)
        return take_object(it, object);
    if (strlen(got->body) == got->length && strpbrk(got->body, " \t\r\n<{\"") == NULL) {
        if (parts == JWE_PARTS)
            return do_without(it, UPSTREAM_ENCRYPTED, "its answer is encrypted (JWE)");
        if (parts == JWS_PARTS && got->length <= JWS_OCTETS_MAX)
            return take_token(it, got->body);
    }
    return do_without(it, UPSTREAM_USERINFO_UNUSABLE,
                      "its answer is neither a JSON object nor a signed token of at most 16 KiB");
}

/* True for statuses that refuse our access token, or the request as such. */
static bool
is_refusal(int status)
{
    static const int refusals[] = {401, 403, 404, 405, 406, 410};
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
        if (refusals[i] == status)
            return true;
    return false;
}

static enum az_status
take_answer(const struct asking *it, const struct fetch_answer *got)
{
    if (got->status == 200)
        return take_body(it, got);
    if (got->status >= 500 || got->status == 429)
        return op_fail(it->op, AZ_UNAVAILABLE, UPSTREAM_NOT_REACHED,
                       "identity provider %s: its userinfo endpoint answers with status %d",
                       it->provider->idp_id, got->status);
    const char *why =
        talloc_asprintf(it->op->mem, "its userinfo endpoint answers with status %d", got->status);
    if (why == NULL)
        return op_no_memory(it->op);
    return do_without(
        it, is_refusal(got->status) ? UPSTREAM_USERINFO_REFUSED : UPSTREAM_USERINFO_UNUSABLE, why);
}

enum az_status
upstream_userinfo_get(struct op *op, const struct identity_provider *provider,
                      const struct upstream_endpoints *endpoints,
                      const struct upstream_tokens *tokens,
                      const struct upstream_expected *expected, const char *sub,
                      struct upstream_userinfo *ret)
{
    const struct asking it = {op, provider, endpoints, expected, sub, ret};
    struct fetch_request request = {
        .hosts = FETCH_SAFE_HTTP,
        .url = endpoints->userinfo,
        .max_octets = ANSWER_MAX,
        .timeout = op->az->cfg->safe_http_timeout,
    };
    struct fetch_answer got = {.fault = FETCH_OK};
    *ret = (struct upstream_userinfo){.claims = NULL};
    if (mode_is(provider, "off"))
        return AZ_OK;
    if (endpoints->userinfo == NULL)
        return without_endpoint(&it);
    if (tokens->access_token == NULL)
        return do_without(&it, UPSTREAM_USERINFO_UNUSABLE,
                          "its token answer has no access token of type Bearer");
    char *bearer = talloc_asprintf(op->mem, "Bearer %s", tokens->access_token);
    if (bearer == NULL)
        return op_no_memory(op);
    request.authorization = bearer;
    enum az_status st = fetch(op, &request, &got);
    secret_wipe(bearer, strlen(bearer));
    if (st == AZ_OK)
        return take_answer(&it, &got);
    if (got.fault != FETCH_FAULT_SIZE)
        return st;
    az_fault_clear(&op->fault);
    return do_without(&it, UPSTREAM_USERINFO_UNUSABLE, "its answer is longer than 64 KiB");
}
