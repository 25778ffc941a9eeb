#include "config.h"

#include "oauth/exchange/subject_id_token.h"

#include <string.h>

#include "base/words.h"
#include "oauth/client_auth/issuer_keys.h"
#include "oauth/registration/statement_kind.h"

const char *const subject_id_token_types[] = {"JWT", NULL};

#define TEXT_MALFORMED "Subject token is malformed"

/* Public texts of faults of the claims. */
/* clang-format off */
static const char *const fault_texts[] = {
    [JWT_FAULT_AUD]     = "Subject token audience is not accepted",
    [JWT_FAULT_AZP]     = "Subject token audience is not accepted",
    [JWT_FAULT_EXP]     = "Subject token missing exp claim",
    [JWT_FAULT_EXPIRED] = "Subject token expired",
    [JWT_FAULT_NOT_YET] = "Subject token is not valid yet",
    [JWT_FAULT_FUTURE]  = "Subject token is not valid yet",
};
/* clang-format on */

const char *
subject_id_token_text(enum jwt_fault fault)
{
    const char *text =
        (size_t) fault < sizeof(fault_texts) / sizeof(*fault_texts) ? fault_texts[fault] : NULL;
    return text != NULL ? text : SUBJECT_ID_TOKEN_UNACCEPTABLE;
}

static bool
is_absent(const char *text)
{
    return text == NULL || *text == '\0';
}

enum az_status
subject_id_token_read(TALLOC_CTX *mem, const char *text, struct subject_id_token *ret,
                      const char **ret_text, const char **ret_detail)
{
    struct subject_id_token token = {.jws = NULL};
    enum jws_fault jws_fault = JWS_FAULT_OURS;
    enum jwt_fault jwt_fault = JWT_FAULT_OURS;
    enum az_status st = jws_parse_unverified(mem, text, strlen(text), &token.jws, &jws_fault);
    *ret_text = TEXT_MALFORMED;
    *ret_detail = jws_fault_text(jws_fault);
    if (st != AZ_OK)
        return st;
    st = jwt_claims_parse(mem, token.jws, &token.claims, &jwt_fault);
    *ret_detail = jwt_fault_text(jwt_fault);
    if (st != AZ_OK)
        return st;
    *ret_text = is_absent(token.claims.iss)   ? "Subject token missing iss claim"
                : is_absent(token.claims.sub) ? "Subject token missing sub claim"
                                              : NULL;
    *ret_detail = *ret_text;
    if (*ret_text != NULL)
        return AZ_INVALID;
    *ret = token;
    return AZ_OK;
}

/* True for an ID token by all that it says about itself. Some issuers give access tokens and ID
 * tokens the same header, and tell them apart by a claim `typ`, which is ID for the latter. */
static bool
is_id_token(const struct subject_id_token *token)
{
    const json_t *kind = json_object_get(token->claims.object, "typ");
    if (token->jws->typ != NULL && !statement_type_is(token->jws->typ, subject_id_token_types))
        return false;
    if (kind != NULL && (!json_is_string(kind) || strcmp(json_string_value(kind), "ID") != 0))
        return false;
    return json_object_get(token->claims.object, "events") == NULL;
}

enum az_status
subject_id_token_check(const struct subject_id_token *token, const char *const *audiences,
                       int64_t now, const char **ret_text, const char **ret_detail)
{
    const struct jwt_rule times = {
        .need_exp = true,
        .now = now,
        .skew_future = SUBJECT_ID_TOKEN_SKEW,
    };
    struct jwt_rule parties = times;
    enum jwt_fault fault = JWT_FAULT_NONE;
    parties.audiences = audiences;
    parties.several_aud = true;
    enum az_status st = jwt_claims_check(&token->claims, &times, &fault);
    if (st == AZ_OK)
        st = jwt_claims_check(&token->claims, &parties, &fault);
    if (st != AZ_OK) {
        *ret_text = subject_id_token_text(fault);
        *ret_detail = jwt_fault_text(fault);
        return st;
    }
    if (!is_id_token(token)) {
        *ret_text = "Subject token is not an ID token";
        *ret_detail = "another kind of token";
        return AZ_INVALID;
    }
    if (!words_has(issuer_algs, token->jws->alg)) {
        *ret_text = SUBJECT_ID_TOKEN_SIGNATURE;
        *ret_detail = jws_fault_text(JWS_FAULT_ALG);
        return AZ_INVALID;
    }
    return AZ_OK;
}
