/* An ID token of another issuer as subject token (specification 4.4 and 7.1). */
#include "config.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/log.h"
#include "base/settings/settings.h"
#include "base/words.h"
#include "oauth/client_auth/issuer_keys.h"
#include "oauth/exchange/exchange_subject.h"
#include "oauth/exchange/subject_id_token.h"
#include "policy/decide/trust.h"
#include "store/people/identity_providers.h"
#include "store/people/provider_faults.h"
#include "store/people/subjects.h"
#include "token/person_claims.h"
#include "token/subject.h"

/* State of one reading. */
struct id_token_reading {
    struct request *req;
    struct subject_id_token token;            /* split; proved at the end */
    struct trust_issuer trusted;              /* entry of its issuer */
    const struct identity_provider *provider; /* provider with its issuer, or NULL */
    json_t *kept;                             /* claims about the person */
};

static enum az_status
refuse_id_token(struct request *req, const char *text, const char *detail)
{
    return op_fail(&req->op, AZ_INVALID_GRANT, text, "subject token: %s", detail);
}

static enum az_status
read_id_token(struct id_token_reading *reading, const char *text)
{
    struct request *req = reading->req;
    const char *why, *detail;
    enum az_status st = subject_id_token_read(req->op.mem, text, &reading->token, &why, &detail);
    if (st == AZ_INVALID)
        return refuse_id_token(req, why, detail);
    return st == AZ_OK ? AZ_OK : op_fail(&req->op, AZ_SERVER_ERROR, NULL, "%s", detail);
}

static const struct identity_provider *
provider_of(const struct identity_providers *providers, const char *issuer)
{
    for (size_t i = 0; i < providers->count; i++)
        if (identity_provider_says(&providers->provider[i], issuer))
            return &providers->provider[i];
    return NULL;
}

/*
 * Judge the issuer before anything is fetched: an unknown sender must not choose an address that
 * this service asks (oauth.md 0.4). The trust row alone decides, and our own issuer is not in it:
 * our ID tokens are for their clients. While the administrator has a provider disabled, its people
 * get no tokens.
 */
static enum az_status
judge_issuer(struct id_token_reading *reading)
{
    struct request *req = reading->req;
    const char *issuer = reading->token.claims.iss;
    const struct identity_providers *providers;
    bool found = false;
    if (strcmp(issuer, req->op.az->cfg->oidc_issuer) == 0)
        return refuse_id_token(req, SUBJECT_ID_TOKEN_UNTRUSTED, "its issuer is this service");
    enum az_status st = trust_find(&req->op, TRUST_ID_TOKENS, issuer, &reading->trusted, &found);
    if (st == AZ_OK && !found)
        return refuse_id_token(req, SUBJECT_ID_TOKEN_UNTRUSTED, "its issuer is not trusted");
    if (st == AZ_OK)
        st = identity_providers_get(&req->op, false, &providers);
    if (st != AZ_OK)
        return st;
    const struct identity_provider *provider = provider_of(providers, issuer);
    if (provider == NULL || provider->enabled)
        return AZ_OK;
    st = identity_providers_get(&req->op, true, &providers);
    if (st != AZ_OK)
        return st;
    provider = provider_of(providers, issuer);
    return provider == NULL || provider->enabled
               ? AZ_OK
               : refuse_id_token(req, SUBJECT_ID_TOKEN_UNTRUSTED,
                                 "the identity provider with its issuer is disabled");
}

static enum az_status
judge_claims(struct id_token_reading *reading)
{
    struct op *op = &reading->req->op;
    const json_t *listed = reading->trusted.audiences;
    const char **audiences = NULL, *text, *detail;
    if (listed == NULL)
        log_text(AZ_SEV_INFO, "an ID token for any audience is exchanged",
                 "trusted_issuers lists no audiences for %.160s", reading->trusted.issuer);
    if (listed != NULL && (audiences = words_array_list(op->mem, listed)) == NULL)
        return op_no_memory(op);
    enum az_status st = subject_id_token_check(&reading->token, (const char *const *) audiences,
                                               op_now(op), &text, &detail);
    return st == AZ_OK ? AZ_OK : refuse_id_token(reading->req, text, detail);
}

static enum az_status
verify_id_token(struct id_token_reading *reading)
{
    struct op *op = &reading->req->op;
    struct jws_policy policy = {
        .algs = issuer_algs,
        .types = subject_id_token_types,
        .typ_optional = true,
    };
    bool unreachable = false;
    enum az_status st =
        issuer_verify(op, &reading->trusted, reading->token.jws, &policy, &unreachable);
    return st != AZ_INVALID ? st
                            : az_fail_as(&op->fault, AZ_INVALID_GRANT,
                                         unreachable ? SUBJECT_ID_TOKEN_UNREACHABLE
                                                     : SUBJECT_ID_TOKEN_SIGNATURE);
}

/*
 * Keep the claims of the token. It may have fewer than a sign-in, which asks for userinfo, so that
 * a deny by group would permit. What `seen` has of the last sign-in tells which are missing; with
 * NULL any may be, at a provider whose userinfo was joined, and so may any of a person who was
 * stored before that (world.md U2). Without a provider nobody signs in, and the token is whole.
 */
static enum az_status
keep_claims(struct id_token_reading *reading, const struct subject_seen *seen)
{
    struct op *op = &reading->req->op;
    const struct identity_provider *provider = reading->provider;
    struct person_answers answers = {.id_token = reading->token.claims.object};
    enum az_status st = AZ_OK;
    if (provider != NULL) {
        answers.lists = (const char *const *) provider->list_claims;
        answers.only = (const char *const *) provider->claims;
        answers.before = seen != NULL ? seen->claims : NULL;
        answers.lost = seen != NULL && seen->older;
        if (seen == NULL)
            st = provider_userinfo_had(op, provider->id, &answers.lost);
    }
    if (st != AZ_OK)
        return st;
    reading->kept = person_claims_keep(op->mem, &answers, NULL);
    return reading->kept != NULL ? AZ_OK : op_no_memory(op);
}

/* Find the person, by the list of providers as it is now: a name never changes. */
static enum az_status
meet_person(struct id_token_reading *reading, bool fresh, struct subject_seen *ret)
{
    struct op *op = &reading->req->op;
    const struct jwt_claims *claims = &reading->token.claims;
    const struct identity_providers *providers;
    struct subject_names names;
    enum az_status st = identity_providers_get(op, fresh, &providers);
    if (st != AZ_OK)
        return st;
    reading->provider = provider_of(providers, claims->iss);
    const struct subject_person person = {
        .issuer = reading->provider != NULL ? reading->provider->issuer : claims->iss,
        .upstream_sub = claims->sub,
        .idp_id = reading->provider != NULL ? reading->provider->idp_id : NULL,
        .first_trusted = reading->trusted.first,
    };
    st = subject_names(op, providers, &person, &names);
    if (st == AZ_OK)
        st = keep_claims(reading, NULL);
    if (st != AZ_OK)
        return st;
    const struct subject_met met = {
        .issuer = person.issuer,
        .upstream_sub = person.upstream_sub,
        .idp_id = person.idp_id,
        .name = names.name,
        .other = names.other,
        .home_issuer = subject_home(op, providers, person.first_trusted),
        .claims = reading->kept,
        .providers_version = providers->version,
    };
    st = subject_meet(op, &met, ret);
    return st == AZ_OK && ret->claims != NULL ? keep_claims(reading, ret) : st;
}

static enum az_status
exchange_find_person(struct id_token_reading *reading, const char **ret_name)
{
    struct request *req = reading->req;
    struct subject_seen seen = {.name = NULL};
    enum az_status st = meet_person(reading, false, &seen);
    if (st == AZ_OK && seen.stale)
        st = meet_person(reading, true, &seen);
    *ret_name = seen.name;
    if (st == AZ_OK && seen.stale)
        st = op_fail(&req->op, AZ_UNAVAILABLE, NULL,
                     "the list of identity providers changed twice during the exchange");
    if (st == AZ_OK && reading->provider != NULL && !reading->provider->enabled)
        st = refuse_id_token(req, SUBJECT_ID_TOKEN_UNTRUSTED,
                             "the identity provider with its issuer is disabled");
    return st;
}

/* Return a text of acceptable length, or NULL. */
static const char *
short_text(const json_t *claims, const char *name)
{
    const json_t *value = json_object_get(claims, name);
    size_t length = json_string_length(value);
    return length > 0 && length <= SUBJECT_ID_TOKEN_TEXT_MAX ? json_string_value(value) : NULL;
}

/* Return the claims of the protocol that a rule of policy can read beside those about the person.
 */
static json_t *
protocol_claims_of(struct op *op, const struct jwt_claims *claims)
{
    json_t *aud = json_object_get(claims->object, "aud");
    return jsonx_own(op->mem, json_pack("{s:s,s:s,s:O*,s:s*}", "iss", claims->iss, "sub",
                                        claims->sub, "aud", aud, "azp", claims->azp));
}

/* Return may_act. One that is no object names no actor, so that no client may act. */
static json_t *
may_act_of(struct op *op, const struct jwt_claims *claims)
{
    json_t *may_act = json_object_get(claims->object, "may_act");
    return may_act == NULL || json_is_object(may_act) ? may_act : jsonx_own(op->mem, json_object());
}

/* Return the time of the sign-in, or 0. */
static int64_t
sign_in_time(const struct jwt_claims *claims)
{
    json_int_t time = json_integer_value(json_object_get(claims->object, "auth_time"));
    return time > 0 ? time : 0;
}

static enum az_status
fill_subject(struct id_token_reading *reading, const char *name, struct exchange_subject *ret)
{
    struct op *op = &reading->req->op;
    const struct jwt_claims *claims = &reading->token.claims;
    const struct identity_provider *provider = reading->provider;
    struct exchange_subject subject = {
        .name = name,
        .is_user = true,
        .user =
            {
                   .iss = provider != NULL ? provider->issuer : claims->iss,
                   .idp = provider != NULL ? provider->idp_id : NULL,
                   .acr = short_text(claims->object, "acr"),
                   .auth_time = sign_in_time(claims),
                   .claims = reading->kept,
                   },
        .issuer = claims->iss,
        .act = json_object_get(claims->object, "act"),
        .may_act = may_act_of(op, claims),
        .claims = protocol_claims_of(op, claims),
        .expires_at = claims->exp.seconds,
        .provider = provider != NULL ? provider->id : 0,
    };
    const json_t *amr = json_object_get(claims->object, "amr");
    if (json_is_array(amr) && json_array_size(amr) <= SUBJECT_ID_TOKEN_AMR_MAX)
        subject.user.amr = words_array_once(op->mem, amr);
    if (subject.claims == NULL
        || (subject.may_act == NULL && json_object_get(claims->object, "may_act") != NULL))
        return op_no_memory(op);
    *ret = subject;
    return AZ_OK;
}

enum az_status
exchange_read_id_token(struct request *req, const char *text, struct exchange_subject *ret)
{
    struct id_token_reading reading = {.req = req};
    const char *name = NULL;
    enum az_status st = read_id_token(&reading, text);
    if (st == AZ_OK)
        st = judge_issuer(&reading);
    if (st == AZ_OK)
        st = judge_claims(&reading);
    if (st == AZ_OK)
        st = verify_id_token(&reading);
    if (st == AZ_OK)
        st = exchange_find_person(&reading, &name);
    return st == AZ_OK ? fill_subject(&reading, name, ret) : st;
}
