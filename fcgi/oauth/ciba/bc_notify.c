#include "config.h"

#include "oauth/ciba/bc_notify.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/log.h"
#include "base/settings/settings.h"
#include "crypto/jws.h"
#include "crypto/secret.h"
#include "http/fetch/fetch_places.h"
#include "token/signing_key.h"

/* Algorithm that every provider understands (OpenID Connect Core 15.1). */
#define NOTICE_ALG "RS256"
/* The type of the JWT keeps it apart from our ID tokens, which have the same key (RFC 8725 3.11).
 */
#define NOTICE_TYP "ciba-request+jwt"
/* Time for one delivery in seconds, and deliveries that are tried. The client waits meanwhile. */
#define NOTICE_SECONDS 5
#define NOTICE_TRIES 2
/* Longest answer of the provider, in octets; nothing is read from it. */
#define NOTICE_ANSWER_MAX (16 * 1024)

enum az_status
bc_notice_make(struct request *req, const struct ciba_person *person,
               const unsigned char id[UUID7_OCTETS], int64_t expires_at, struct ciba_notice *ret)
{
    const struct jwk *key;
    char text[UUID7_TEXT_LENGTH + 1], *jwt = NULL;
    uuid7_format(id, text);
    json_t *claims =
        jsonx_own(req->op.mem,
                  json_pack("{s:s,s:s,s:s,s:s,s:I,s:I}", "iss", req->op.az->cfg->oidc_issuer, "aud",
                            person->issuer, "azp", req->client->client_id, "jti", text, "iat",
                            (json_int_t) op_now(&req->op), "exp", (json_int_t) expires_at));
    ret->request_id = talloc_strdup(req->op.mem, text);
    if (claims == NULL || ret->request_id == NULL)
        return op_no_memory(&req->op);
    enum az_status st = signing_key_get(&req->op, NOTICE_ALG, &key);
    if (st != AZ_OK)
        return st;
    if (jws_sign_json(req->op.mem, key, NOTICE_ALG, NOTICE_TYP, claims, &jwt) != AZ_OK
        || sha256(jwt, strlen(jwt), ret->hash) != AZ_OK)
        return op_fail(&req->op, AZ_SERVER_ERROR, NULL, "cannot sign a notification");
    ret->bearer = jwt;
    return AZ_OK;
}

/* Return the message as JSON text, or NULL if out of memory. */
static const char *
notice_text(struct request *req, const struct ciba_notice *notice,
            const struct ciba_request_new *request)
{
    const char *issuer = req->op.az->cfg->oidc_issuer;
    struct jsonx_build message = {
        jsonx_own(req->op.mem,
                  json_pack("{s:s,s:s,s:s,s:s,s:s*,s:s,s:s*,s:O*,s:s*,s:I}", "request_id",
                            notice->request_id, "login_hint", request_param(req, "login_hint"),
                            "sub", request->person->upstream_sub, "client_id",
                            req->client->client_id, "client_name", req->client->name, "scope",
                            request->scope, "resource", request->resource, "authorization_details",
                            request->details, "binding_message", request->binding_message,
                            "expires_in", (json_int_t) (request->expires_at - op_now(&req->op)))),
        false};
    jsonx_set(&message, "approval_url",
              json_sprintf("%s/authorize/ciba?request=%s&idp_hint=%s", issuer, notice->request_id,
                           request->person->idp_id));
    jsonx_set(&message, "callback_url", json_sprintf("%s/bc-authorize/callback", issuer));
    json_t *built = jsonx_built(&message);
    return built != NULL ? jsonx_dump(req->op.mem, built) : NULL;
}

/* Try once. The fault, if any, is the reason for the log. False: it may be tried again. */
static bool
deliver(struct op *op, const struct fetch_request *request, const char *idp_id)
{
    struct fetch_answer answer;
    if (fetch_in_place(op, request, &answer) != AZ_OK)
        return false;
    if (answer.status < 200 || answer.status > 299)
        op_fail(op, AZ_UNAVAILABLE, NULL, "identity provider %s: status %d", idp_id, answer.status);
    return answer.status < 500;
}

void
bc_notice_send(struct request *req, const struct ciba_notice *notice,
               const struct ciba_request_new *request)
{
    /* A fault of the delivery is not one of the request. */
    struct op op = op_beside(&req->op, req->op.mem);
    char *authorization = talloc_asprintf(op.mem, "Bearer %s", notice->bearer);
    const struct fetch_request message = {
        .hosts = FETCH_SAFE_HTTP,
        .url = request->person->endpoint,
        .json = notice_text(req, notice, request),
        .authorization = authorization,
        .max_octets = NOTICE_ANSWER_MAX,
        .timeout = NOTICE_SECONDS,
    };
    bool done = false;
    if (message.json == NULL || authorization == NULL)
        op_no_memory(&op);
    for (int i = 0; i < NOTICE_TRIES && !done && message.json != NULL && authorization != NULL;
         i++) {
        az_fault_clear(&op.fault);
        done = deliver(&op, &message, request->person->idp_id);
    }
    if (op.fault.status != AZ_OK)
        log_text(AZ_SEV_WARN, "ciba", "identity provider %s was not notified of request %s: %s",
                 request->person->idp_id, notice->request_id, op.fault.detail);
    if (authorization != NULL)
        secret_wipe(authorization, strlen(authorization));
}
