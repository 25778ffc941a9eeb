#include "config.h"

#include "crypto/jwt.h"

#include <math.h>
#include <string.h>

#include "base/iso8601.h"
#include "base/json/jsonx.h"
#include "base/words.h"
#include "crypto/jws.h"

/* clang-format off */
static const char *const jwt_fault_texts[] = {
    [JWT_FAULT_NONE]     = "claims are valid",
    [JWT_FAULT_JSON]     = "token payload is not a JSON object",
    [JWT_FAULT_TYPE]     = "a claim of the token is malformed",
    [JWT_FAULT_ISS]      = "token iss is not accepted",
    [JWT_FAULT_SUB]      = "token has no sub",
    [JWT_FAULT_AUD]      = "token aud is not accepted",
    [JWT_FAULT_AZP]      = "token azp is not accepted",
    [JWT_FAULT_EXP]      = "token has no exp",
    [JWT_FAULT_EXPIRED]  = "token has expired",
    [JWT_FAULT_LIFETIME] = "token exp is too far ahead",
    [JWT_FAULT_NOT_YET]  = "token nbf is in the future",
    [JWT_FAULT_IAT]      = "token has no iat",
    [JWT_FAULT_FUTURE]   = "token iat is in the future",
    [JWT_FAULT_OLD]      = "token iat is too old",
    [JWT_FAULT_JTI]      = "token has no jti",
    [JWT_FAULT_OURS]     = "token could not be checked",
};
/* clang-format on */

const char *
jwt_fault_text(enum jwt_fault fault)
{
    return jwt_fault_texts[fault];
}

static enum az_status
jwt_refuse(enum jwt_fault fault, enum jwt_fault *ret_fault)
{
    if (ret_fault != NULL)
        *ret_fault = fault;
    return fault == JWT_FAULT_OURS ? AZ_SERVER_ERROR : AZ_INVALID;
}

/* Read a string of limited size. */
static bool
jwt_read_name(const json_t *value, const char **ret)
{
    *ret = json_string_value(value);
    return json_is_string(value) && json_string_length(value) <= JWT_NAME_MAX;
}

static bool
read_claim(const json_t *object, const char *name, const char **ret)
{
    const json_t *value = json_object_get(object, name);
    return value == NULL || jwt_read_name(value, ret);
}

/* Read aud: a string, or an array of strings (RFC 7519 section 4.1.3). */
static bool
read_aud(const json_t *object, struct jwt_claims *claims)
{
    const json_t *value = json_object_get(object, "aud");
    size_t i;
    const json_t *item;

    if (value == NULL)
        return true;
    if (!json_is_array(value)) {
        claims->aud_count = 1;
        return jwt_read_name(value, &claims->aud[0]);
    }
    if (json_array_size(value) > JWT_AUDIENCES_MAX)
        return false;
    json_array_foreach (value, i, item) {
        if (!jwt_read_name(item, &claims->aud[i]))
            return false;
    }
    claims->aud_count = json_array_size(value);
    return true;
}

/* Check the range before the conversion: a real such as 1e300 has no integer. */
static bool
read_time(const json_t *object, const char *name, struct jwt_time *ret)
{
    const json_t *value = json_object_get(object, name);

    if (value == NULL)
        return true;
    if (!json_is_number(value))
        return false;
    double seconds = json_number_value(value);
    if (!isfinite(seconds) || seconds < 0 || seconds > (double) ISO8601_SECONDS_MAX)
        return false;
    ret->present = true;
    ret->seconds = json_is_integer(value) ? json_integer_value(value) : (int64_t) seconds;
    return true;
}

/* Read the claims from an object that the caller keeps. */
static enum az_status
jwt_claims_read(const json_t *object, struct jwt_claims *ret, enum jwt_fault *ret_fault)
{
    struct jwt_claims claims = {.object = object};

    if (!json_is_object(object))
        return jwt_refuse(JWT_FAULT_JSON, ret_fault);
    if (!read_claim(object, "iss", &claims.iss) || !read_claim(object, "sub", &claims.sub)
        || !read_claim(object, "azp", &claims.azp) || !read_claim(object, "jti", &claims.jti)
        || !read_aud(object, &claims) || !read_time(object, "exp", &claims.exp)
        || !read_time(object, "nbf", &claims.nbf) || !read_time(object, "iat", &claims.iat))
        return jwt_refuse(JWT_FAULT_TYPE, ret_fault);
    *ret = claims;
    return AZ_OK;
}

enum az_status
jwt_claims_parse(TALLOC_CTX *mem, const struct jws *jws, struct jwt_claims *ret,
                 enum jwt_fault *ret_fault)
{
    json_t *object;

    enum az_status status = jsonx_parse(mem, (const char *) jws->payload, jws->payload_len,
                                        JWT_DEPTH_MAX, &object, NULL);
    if (status != AZ_OK)
        return jwt_refuse(status == AZ_INVALID ? JWT_FAULT_JSON : JWT_FAULT_OURS, ret_fault);
    return jwt_claims_read(object, ret, ret_fault);
}

static bool
names_us(const struct jwt_claims *claims, const struct jwt_rule *rule)
{
    for (size_t i = 0; i < claims->aud_count; i++)
        if (words_has(rule->audiences, claims->aud[i]))
            return true;
    return false;
}

static bool
is_empty(const char *text)
{
    return text == NULL || text[0] == '\0';
}

/*
 * Check issuer and audience. A further audience is refused unless the rule allows it: another
 * service that is named too could replay the token here.
 */
static enum jwt_fault
parties_fault(const struct jwt_claims *claims, const struct jwt_rule *rule)
{
    if (rule->iss != NULL && (claims->iss == NULL || strcmp(claims->iss, rule->iss) != 0))
        return JWT_FAULT_ISS;
    if (rule->need_sub && is_empty(claims->sub))
        return JWT_FAULT_SUB;
    if (rule->audiences == NULL)
        return JWT_FAULT_NONE;
    if (!names_us(claims, rule) || (claims->aud_count > 1 && !rule->several_aud))
        return JWT_FAULT_AUD;
    if (claims->aud_count > 1 && !words_has(rule->audiences, claims->azp))
        return JWT_FAULT_AZP;
    return JWT_FAULT_NONE;
}

/*
 * Check the times: a token is not valid on or after exp (RFC 7519 section 4.1.4). The sums cannot
 * overflow: times end with the year 9999, and skews are small.
 */
static enum jwt_fault
end_fault(const struct jwt_claims *claims, const struct jwt_rule *rule)
{
    if (!claims->exp.present)
        return rule->need_exp ? JWT_FAULT_EXP : JWT_FAULT_NONE;
    if (rule->now >= claims->exp.seconds + rule->skew_past)
        return JWT_FAULT_EXPIRED;
    if (rule->lifetime_max > 0 && claims->exp.seconds > rule->now + rule->lifetime_max)
        return JWT_FAULT_LIFETIME;
    return JWT_FAULT_NONE;
}

static enum jwt_fault
begin_fault(const struct jwt_claims *claims, const struct jwt_rule *rule)
{
    if (claims->nbf.present && claims->nbf.seconds > rule->now + rule->skew_future)
        return JWT_FAULT_NOT_YET;
    if (!claims->iat.present)
        return rule->need_iat ? JWT_FAULT_IAT : JWT_FAULT_NONE;
    if (claims->iat.seconds > rule->now + rule->skew_future)
        return JWT_FAULT_FUTURE;
    if (rule->age_max > 0 && claims->iat.seconds < rule->now - rule->age_max)
        return JWT_FAULT_OLD;
    return JWT_FAULT_NONE;
}

enum az_status
jwt_claims_check(const struct jwt_claims *claims, const struct jwt_rule *rule,
                 enum jwt_fault *ret_fault)
{
    enum jwt_fault fault = parties_fault(claims, rule);

    if (fault == JWT_FAULT_NONE)
        fault = end_fault(claims, rule);
    if (fault == JWT_FAULT_NONE)
        fault = begin_fault(claims, rule);
    if (fault == JWT_FAULT_NONE && rule->need_jti && is_empty(claims->jti))
        fault = JWT_FAULT_JTI;
    return fault == JWT_FAULT_NONE ? AZ_OK : jwt_refuse(fault, ret_fault);
}
