#include "config.h"

#include "oauth/statement.h"

#include <string.h>

#include "base/jsonx.h"
#include "base/settings.h"
#include "base/uri.h"
#include "crypto/jws.h"
#include "crypto/jwt.h"
#include "http/fetch/documents.h"
#include "oauth/statement_kind.h"
#include "policy/decide/trust.h"
#include "store/clients/clients_statement.h"
#include "store/tokens/signing_keys.h"
#include "token/software_statement.h"

/* Asymmetric algorithms alone (oauth.md J3). */
static const char *const statement_algs[] = {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512",
                                             "ES256", "ES384", "ES512", "EdDSA", NULL};
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
    return st == AZ_OK ? AZ_OK : op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory");
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
    enum az_status st = trust_find(op, reading->claims.iss, &reading->trusted, &found);
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

/* ---- keys */

/* Check a fetched key set. AZ_INVALID: the host answered with something else. */
static enum az_status
statement_check_keys(struct op *op, const char *url, const json_t *document)
{
    struct jwk_set *set;
    const char *why = NULL;
    enum az_status st = jwk_set_parse(op->mem, document, JWK_SET_FETCHED, &set, &why);
    if (st == AZ_INVALID)
        return op_fail(op, AZ_INVALID, NULL, "key set of %.160s: %s", url, why);
    return st == AZ_OK ? AZ_OK : op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory");
}

static enum az_status
check_metadata(struct op *op, const char *url, const json_t *document)
{
    if (json_is_string(json_object_get(document, "issuer"))
        && json_is_string(json_object_get(document, "jwks_uri")))
        return AZ_OK;
    return op_fail(op, AZ_INVALID, NULL, "metadata of %.160s: no issuer or jwks_uri", url);
}

/* Report a failed fetch. If the host of the issuer does not deliver, the statement cannot be
 * checked, and the sender is told so. A full pool and the like are failures of this service. */
static enum az_status
tell_fetch(struct op *op, enum az_status st, enum fetch_fault fault)
{
    struct az_fault before = op->fault;
    bool theirs = st == AZ_INVALID
                  || (st == AZ_UNAVAILABLE && fault != FETCH_OK && fault != FETCH_FAULT_BUSY
                      && fault != FETCH_FAULT_OURS);
    if (!theirs)
        return st;
    az_fault_clear(&op->fault);
    return statement_refuse(
        op, "The keys of the issuer of the software statement cannot be fetched", before.detail);
}

/* Return one of the two addresses of the metadata of an issuer: OpenID Connect Discovery 4
 * appends the name, RFC 8414 3 puts it before the path. */
static const char *
metadata_url(TALLOC_CTX *mem, const char *issuer, bool oauth)
{
    size_t length = strlen(issuer);
    while (length > 0 && issuer[length - 1] == '/')
        length--;
    if (!oauth)
        return talloc_asprintf(mem, "%.*s/.well-known/openid-configuration", (int) length, issuer);
    const char *host = strstr(issuer, "://");
    size_t origin = host != NULL ? (size_t) (host + 3 - issuer) : length;
    origin += host != NULL ? strcspn(host + 3, "/") : 0;
    if (origin > length)
        origin = length;
    return talloc_asprintf(mem, "%.*s/.well-known/oauth-authorization-server%.*s", (int) origin,
                           issuer, (int) (length - origin), issuer + origin);
}

/* Find the address of the keys by discovery. Metadata of another issuer is refused (RFC 8414
 * 3.3). */
static enum az_status
discover(struct op *op, const char *issuer, const char **ret_url)
{
    struct document document;
    enum fetch_fault fault = FETCH_OK;
    enum az_status st = AZ_UNAVAILABLE;
    for (int oauth = 0; oauth < 2; oauth++) {
        const char *url = metadata_url(op->mem, issuer, oauth == 1);
        if (url == NULL)
            return op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory");
        az_fault_clear(&op->fault);
        st = document_get(op, DOCUMENT_DISCOVERY, url, 0, check_metadata, &document, &fault);
        const char *its =
            st == AZ_OK ? json_string_value(json_object_get(document.json, "issuer")) : NULL;
        if (its != NULL && strcmp(its, issuer) == 0) {
            *ret_url = json_string_value(json_object_get(document.json, "jwks_uri"));
            return AZ_OK;
        }
        if (st == AZ_OK)
            st = op_fail(op, AZ_INVALID, NULL, "%.160s names another issuer", url);
        if (st != AZ_INVALID && fault != FETCH_FAULT_HTTP)
            break;
    }
    return tell_fetch(op, st, fault);
}

static enum az_status
fetch_keys(struct statement_reading *reading, int64_t not_before, struct jwk_set **ret)
{
    struct op *op = reading->op;
    struct document document;
    enum fetch_fault fault = FETCH_OK;
    const char *url = reading->trusted.jwks_uri;
    enum az_status st = url != NULL ? AZ_OK : discover(op, reading->trusted.issuer, &url);
    if (st != AZ_OK)
        return st;
    st = document_get(op, DOCUMENT_KEYS, url, not_before, statement_check_keys, &document, &fault);
    if (st != AZ_OK)
        return tell_fetch(op, st, fault);
    if (jwk_set_parse(op->mem, document.json, JWK_SET_FETCHED, ret, NULL) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory");
    return AZ_OK;
}

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

/* ---- signature */

static enum az_status
verify_with(const struct statement_reading *reading, const struct jwk_set *keys,
            enum jws_fault *ret_fault)
{
    const struct jws_policy policy = {
        .keys = keys,
        .algs = reading->own ? our_algs : statement_algs,
        .types = reading->own ? our_types : statement_types,
        .typ_optional = !reading->own,
    };
    return jws_verify(reading->jws, &policy, NULL, ret_fault);
}

/* True if the key may be a new one, so that the set is fetched again. documents.c limits how
 * often, because anyone can send an unknown kid. */
static bool
may_be_new(const struct statement_reading *reading, enum jws_fault fault)
{
    return !reading->own
           && (fault == JWS_FAULT_KEY
               || (fault == JWS_FAULT_SIGNATURE && reading->jws->kid == NULL));
}

static enum az_status
statement_verify(struct statement_reading *reading)
{
    struct op *op = reading->op;
    struct jwk_set *keys = NULL;
    enum jws_fault fault = JWS_FAULT_OURS;
    enum az_status st = reading->own ? own_keys(op, &keys) : fetch_keys(reading, 0, &keys);
    if (st != AZ_OK)
        return st;
    st = verify_with(reading, keys, &fault);
    if (st == AZ_INVALID && may_be_new(reading, fault)) {
        if ((st = fetch_keys(reading, op->now_ms, &keys)) != AZ_OK)
            return st;
        st = verify_with(reading, keys, &fault);
    }
    if (st == AZ_INVALID)
        return statement_refuse(op, "The signature of the software statement is not valid",
                                jws_fault_text(fault));
    return st == AZ_OK ? AZ_OK
                       : op_fail(op, AZ_SERVER_ERROR, NULL, "a statement cannot be verified");
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
