#include "config.h"

#include "oauth/registration/statement.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "base/uri.h"
#include "crypto/jws.h"
#include "crypto/jwt.h"
#include "oauth/client_auth/issuer_keys.h"
#include "oauth/registration/statement_kind.h"
#include "policy/decide/trust.h"
#include "store/clients/clients_statement.h"
#include "store/tokens/signing_keys.h"
#include "token/software_statement.h"

static const char *const our_algs[] = {"RS256", NULL};

static const char *const our_types[] = {SOFTWARE_STATEMENT_TYP, NULL};

/* State of one reading. */
struct statement_reading {
    struct op *op;
    struct jws *jws;             /* split, not verified */
    struct jwt_claims claims;    /* of it */
    bool own;                    /* it claims to be signed by this service */
    struct trust_issuer trusted; /* unless own: the entry of its issuer */
};

static enum az_status
statement_refuse(struct op *op, const char *text, const char *detail)
{
    return op_fail(op, AZ_INVALID_SOFTWARE_STATEMENT, text, "%s", detail);
}

static enum az_status
statement_parse(struct statement_reading *reading, const char *text)
{
    struct op *op = reading->op;
    enum jws_fault jws_fault = JWS_FAULT_OURS;
    enum jwt_fault jwt_fault = JWT_FAULT_OURS;
    enum az_status st =
        jws_parse_unverified(op->mem, text, strlen(text), &reading->jws, &jws_fault);
    if (st == AZ_INVALID)
        return statement_refuse(op, "The software statement is not a signed JWT",
                                jws_fault_text(jws_fault));
    if (st == AZ_OK)
        st = jwt_claims_parse(op->mem, reading->jws, &reading->claims, &jwt_fault);
    if (st == AZ_INVALID)
        return statement_refuse(op, "The claims of the software statement are malformed",
                                jwt_fault_text(jwt_fault));
    if (st == AZ_OK && (reading->claims.iss == NULL || *reading->claims.iss == '\0'))
        return statement_refuse(op, "The software statement has no issuer", "no iss");
    return st == AZ_OK ? AZ_OK : op_no_memory(op);
}

/* Find the issuer before anything is fetched: an unknown sender must not choose an address that
 * this service asks (oauth.md 0.4). */
static enum az_status
find_issuer(struct statement_reading *reading)
{
    struct op *op = reading->op;
    bool found = false;
    reading->own = strcmp(reading->claims.iss, op->az->cfg->oidc_issuer) == 0;
    if (reading->own)
        return AZ_OK;
    enum az_status st =
        trust_find(op, TRUST_STATEMENTS, reading->claims.iss, &reading->trusted, &found);
    if (st == AZ_OK && !found)
        return op_fail(op, AZ_UNAPPROVED_SOFTWARE_STATEMENT,
                       "The issuer of the software statement is not trusted", NULL);
    return st;
}

/* Check that a token is a statement: one of ours states its typ, one of another issuer follows the
 * rules of statement_kind.h. */
static enum az_status
check_kind(struct statement_reading *reading)
{
    struct op *op = reading->op;
    const struct statement_kind kind = {
        .typ = reading->jws->typ,
        .claims = &reading->claims,
        .us = op->az->cfg->oidc_issuer,
        .audiences = reading->trusted.audiences,
    };
    const char *detail = "the typ in its header", *text = NULL;
    if (!reading->own)
        text = statement_kind_fault(op->mem, &kind, &detail);
    else if (kind.typ == NULL || !statement_type_is(kind.typ, our_types))
        text = "The typ of the software statement is not accepted";
    return text == NULL
               ? AZ_OK
               : op_fail(op, AZ_INVALID_SOFTWARE_STATEMENT, text, "statement of %.160s: %s",
                         reading->claims.iss, detail != NULL ? detail : "claims");
}

/* Check the claims. RFC 7591 requires no exp of a statement; our own ones have it. */
static enum az_status
check_claims(struct statement_reading *reading)
{
    struct op *op = reading->op;
    const struct jwt_rule rule = {
        .need_exp = reading->own,
        .need_iat = reading->own,
        .now = op_now(op),
        .skew_past = STATEMENT_SKEW_PAST,
        .skew_future = STATEMENT_SKEW_FUTURE,
    };
    enum jwt_fault fault = JWT_FAULT_OURS;
    enum az_status st = check_kind(reading);
    if (st != AZ_OK)
        return st;
    if (jwt_claims_check(&reading->claims, &rule, &fault) != AZ_OK)
        return statement_refuse(op,
                                fault == JWT_FAULT_EXPIRED
                                    ? "The software statement has expired"
                                    : "The software statement is not valid now",
                                jwt_fault_text(fault));
    return AZ_OK;
}

/* ---- signature */

/* Read our own keys: from the database, never over HTTP, and never those of ID tokens. */
static enum az_status
own_keys(struct op *op, struct jwk_set **ret)
{
    json_t *keys;
    enum az_status st = signing_keys_public_of(op, SIGNING_STATEMENT, &keys);
    if (st != AZ_OK)
        return st;
    json_t *set = jsonx_own(op->mem, json_pack("{s:O}", "keys", keys));
    if (set == NULL || jwk_set_parse(op->mem, set, JWK_SET_FETCHED, ret, NULL) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "the statement keys cannot be read");
    return AZ_OK;
}

/* Verify with the statement keys: no other key signs our statements. */
static enum az_status
verify_own(const struct statement_reading *reading, struct jws_policy *policy)
{
    struct op *op = reading->op;
    struct jwk_set *keys = NULL;
    enum jws_fault fault = JWS_FAULT_OURS;
    enum az_status st = own_keys(op, &keys);
    if (st != AZ_OK)
        return st;
    policy->keys = keys;
    st = jws_verify(reading->jws, policy, NULL, &fault);
    return st == AZ_OK ? AZ_OK
                       : op_fail(op, st == AZ_INVALID ? AZ_INVALID : AZ_SERVER_ERROR, NULL, "%s",
                                 jws_fault_text(fault));
}

static enum az_status
statement_verify(struct statement_reading *reading)
{
    struct op *op = reading->op;
    struct jws_policy policy = {
        .algs = reading->own ? our_algs : issuer_algs,
        .types = reading->own ? our_types : statement_types,
        .typ_optional = !reading->own,
    };
    bool unreachable = false;
    enum az_status st =
        reading->own ? verify_own(reading, &policy)
                     : issuer_verify(op, &reading->trusted, reading->jws, &policy, &unreachable);
    if (st != AZ_INVALID)
        return st;
    return az_fail_as(&op->fault, AZ_INVALID_SOFTWARE_STATEMENT,
                      unreachable
                          ? "The keys of the issuer of the software statement cannot be fetched"
                          : "The signature of the software statement is not valid");
}

/* Read and check everything but the signature. */
static enum az_status
statement_read_claims(struct statement_reading *reading, const char *text)
{
    enum az_status st = statement_parse(reading, text);
    if (st == AZ_OK)
        st = find_issuer(reading);
    return st == AZ_OK ? check_claims(reading) : st;
}

/* Refuse a statement of ours that is not in use any more: its client was deleted or disabled, or
 * has another statement or none now. Otherwise whoever keeps a copy could register clients until it
 * expires, and no administrator could stop that. */
static enum az_status
check_holder(const struct statement_reading *reading, const char *text)
{
    struct op *op = reading->op;
    const char *client_id = json_string_value(json_object_get(reading->claims.object, "client_id"));
    enum statement_holder holder = STATEMENT_HOLDER_GONE;
    enum az_status st =
        client_id != NULL ? client_holds_statement(op, client_id, text, &holder) : AZ_OK;
    if (st != AZ_OK || holder == STATEMENT_HOLDER_HAS_IT)
        return st;
    return op_fail(op, AZ_INVALID_SOFTWARE_STATEMENT, "The software statement was withdrawn",
                   "client %.160s %s", client_id != NULL ? client_id : "(none)",
                   statement_holder_text(holder));
}

enum az_status
statement_read(struct op *op, const char *text, struct statement *ret)
{
    struct statement_reading reading = {.op = op};
    enum az_status st = statement_read_claims(&reading, text);
    /* Our own statements are always verified: they need no entry in the trust row, so anyone
     * could write one. */
    bool verified = op->az->cfg->software_statement_verify || reading.own;
    if (st == AZ_OK && verified)
        st = statement_verify(&reading);
    if (st == AZ_OK && reading.own)
        st = check_holder(&reading, text);
    if (st == AZ_OK)
        *ret = (struct statement){
            .issuer = reading.claims.iss,
            .claims = (json_t *) (uintptr_t) reading.claims.object,
            .verified = verified,
        };
    return st;
}
