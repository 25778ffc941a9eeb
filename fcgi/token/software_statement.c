#include "config.h"

#include "token/software_statement.h"

#include <stdint.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "crypto/jws.h"
#include "crypto/jwt.h"
#include "store/tokens/signing_keys.h"

/* A statement with one of these could be taken for an ID token, an assertion or another token. */
static const char *const reserved[] = {"iss",   "sub", "aud",       "exp", "nbf", "iat",     "jti",
                                       "nonce", "azp", "auth_time", "acr", "amr", "at_hash", "sid"};

const char *
software_statement_fault(TALLOC_CTX *mem, const json_t *claims, const char *client_id)
{
    const json_t *named = json_object_get(claims, "client_id");
    for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++)
        if (json_object_get(claims, reserved[i]) != NULL)
            return talloc_asprintf(mem, "must not contain %s", reserved[i]);
    if (named != NULL
        && (!json_is_string(named) || client_id == NULL
            || strcmp(json_string_value(named), client_id) != 0))
        return "must not contain another client_id";
    const char *text = jsonx_dump(mem, claims);
    if (text == NULL)
        return "cannot be written";
    return strlen(text) > SOFTWARE_STATEMENT_CLAIMS_MAX
               ? talloc_asprintf(mem, "must have at most %d octets", SOFTWARE_STATEMENT_CLAIMS_MAX)
               : NULL;
}

/* Return the claims with those that the service sets. They come last, so they win. */
static json_t *
make_payload(struct op *op, const char *client_id, const json_t *claims)
{
    const struct settings *cfg = op->az->cfg;
    json_t *payload = jsonx_own(op->mem, jsonx_copy(claims));
    const struct {
        const char *name;
        json_t *value;
    } ours[] = {
        {"iss",       json_string(cfg->oidc_issuer)                              },
        {"iat",       json_integer(op_now(op))                                   },
        {"exp",       json_integer(op_now(op) + cfg->software_statement_lifetime)},
        {"client_id", json_string(client_id)                                     },
    };
    for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
        if (json_object_set_new(payload, ours[i].name, ours[i].value) != 0)
            payload = NULL;
    return payload;
}

enum az_status
software_statement_sign(struct op *op, const char *client_id, const json_t *claims,
                        const char **ret)
{
    struct jwk *key;
    char *text;
    enum az_status st = signing_key_open(op, SIGNING_STATEMENT, SIGNING_ALG_ALWAYS, &key);
    if (st != AZ_OK)
        return st;
    const json_t *payload = make_payload(op, client_id, claims);
    if (payload == NULL
        || jws_sign_json(op->mem, key, key->alg, SOFTWARE_STATEMENT_TYP, payload, &text) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "cannot sign a software statement");
    *ret = text;
    return AZ_OK;
}

/* True if the claims of a statement are these, beside the four that make_payload() sets; client_id
 * may be among both. */
static bool
says(struct op *op, const json_t *statement, const json_t *claims)
{
    static const char *const ours[] = {"iss", "iat", "exp", "client_id"};
    json_t *own = jsonx_own(op->mem, jsonx_copy(statement));
    for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
        if (json_object_get(claims, ours[i]) == NULL)
            json_object_del(own, ours[i]);
    return own != NULL && json_equal(own, claims);
}

/* Find out if a statement key is still published: /register takes no other (oauth.md J3). */
static enum az_status
is_published(struct op *op, const char *kid, bool *ret)
{
    json_t *keys;
    const json_t *key;
    size_t index;
    enum az_status st = signing_keys_public_of(op, SIGNING_STATEMENT, &keys);
    if (st != AZ_OK)
        return st;
    json_array_foreach (keys, index, key) {
        const char *its = json_string_value(json_object_get(key, "kid"));
        *ret = *ret || (its != NULL && kid != NULL && strcmp(its, kid) == 0);
    }
    return AZ_OK;
}

enum az_status
software_statement_is_good(struct op *op, const char *statement, const json_t *claims, bool *ret)
{
    struct jws *jws;
    struct jwt_claims said;
    *ret = false;
    if (jws_parse_unverified(op->mem, statement, strlen(statement), &jws, NULL) != AZ_OK
        || jwt_claims_parse(op->mem, jws, &said, NULL) != AZ_OK || said.iss == NULL
        || strcmp(said.iss, op->az->cfg->oidc_issuer) != 0 || said.exp.seconds <= op_now(op)
        || !says(op, said.object, claims))
        return AZ_OK;
    return is_published(op, jws->kid, ret);
}
