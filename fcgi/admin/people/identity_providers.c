#include "config.h"

#include "admin/people/identity_providers.h"

#include <string.h>

#include "admin/people/identity_provider_dto.h"
#include "admin/people/identity_provider_warnings.h"
#include "admin/resource/secret_address.h"
#include "base/iso8601.h"
#include "base/settings/settings.h"
#include "crypto/jws.h"
#include "crypto/jwt.h"
#include "http/fetch/fetch.h"
#include "policy/decide/console_guard.h"
#include "store/people/identity_providers.h"
#include "store/people/identity_providers_admin.h"

static enum az_status
identity_provider_load(struct op *op, const char *idp_id, const void **ret)
{
    const struct identity_provider_stored *stored = NULL;
    enum az_status st = identity_provider_stored_fetch(op, idp_id, &stored);
    *ret = stored;
    return st;
}

/* Refuse a kept secret whose address changes. The row must not change until it is written. */
static enum az_status
identity_provider_check_kept(struct op *op, struct resource_reading *reading)
{
    const struct identity_provider_stored *stored = reading->stored;
    const char *member = identity_provider_body.secret;
    if (stored == NULL || !stored->has_secret || reading->secret != NULL)
        return AZ_OK;
    const char *fault = secret_address_fault(op->mem, SECRET_OF_PROVIDER, member, stored->addresses,
                                             reading->object);
    reading->version = stored->version;
    if (fault == NULL)
        return AZ_OK;
    resource_tell(reading, member, fault);
    return op_fail(op, AZ_INVALID_FIELDS, NULL, NULL);
}

/* Return the fault of an alias, or NULL. */
static const char *
alias_fault(const json_t *aliases, const char *issuer)
{
    size_t i;
    json_t *alias;
    json_array_foreach (aliases, i, alias)
        if (issuer != NULL && strcmp(json_string_value(alias), issuer) == 0)
            return "must not have the issuer itself";
    return NULL;
}

/* Return the fault of a member that depends on others, on settings or on the stored row, or NULL;
 * *ret_member is its name. */
static const char *
members_fault(struct op *op, const struct resource_reading *reading, const char **ret_member)
{
    const struct identity_provider_stored *stored = reading->stored;
    const char *issuer = resource_text(reading, "issuer"), *fault;
    const char *url = resource_text(reading, *ret_member = "discoveryUrl");
    if (url != NULL && strncmp(url, "https:", strlen("https:")) != 0
        && fetch_url_fault(op, FETCH_SAFE_HTTP, url, NULL) != FETCH_OK)
        return "must use https, or name a host of SVC_SAFE_HTTP_ALLOWED_INSECURE_HOSTS";
    fault = alias_fault(json_object_get(reading->object, *ret_member = "issuerAliases"), issuer);
    if (fault != NULL)
        return fault;
    const char *method = resource_text(reading, *ret_member = "tokenAuthMethod");
    if (method != NULL && strncmp(method, "client_secret", strlen("client_secret")) == 0
        && reading->secret == NULL && (stored == NULL || !stored->has_secret))
        return "needs clientSecret";
    if (method != NULL && strcmp(method, "private_key_jwt") == 0
        && resource_text_is(reading, "clientId", op->az->cfg->oidc_issuer))
        return "needs a clientId that is not the issuer of this service";
    *ret_member = "issuer";
    return identity_provider_tenant_fault(op, issuer);
}

/* Keep the exp of a secret that is a JWT, as Apple's is (world.md U9). Its signature is the
 * provider's to judge. */
static void
keep_exp(struct op *op, struct resource_reading *reading)
{
    struct jws *jws;
    struct jwt_claims claims;
    enum jws_fault bad;
    enum jwt_fault fault;
    char text[ISO8601_SIZE];
    const char *secret = reading->secret;
    if (secret != NULL && jws_parse_unverified(op->mem, secret, strlen(secret), &jws, &bad) == AZ_OK
        && jwt_claims_parse(op->mem, jws, &claims, &fault) == AZ_OK && claims.exp.present
        && iso8601_format(claims.exp.seconds, text) == AZ_OK)
        resource_set_column(reading, "secret_exp", json_string(text));
}

/* Refuse members that do not fit together, make an idpId for a provider that was given none, check
 * that the caller may write it, and that its secret goes nowhere else. */
static enum az_status
identity_provider_complete(struct op *op, struct resource_reading *reading)
{
    const struct identity_providers *taken;
    enum az_status st;
    const char *member, *fault = members_fault(op, reading, &member);
    if (fault != NULL) {
        resource_tell(reading, member, fault);
        return op_fail(op, AZ_INVALID_FIELDS, NULL, NULL);
    }
    keep_exp(op, reading);
    if (reading->key != NULL) {
        st = console_guard_provider(op, reading->key);
        return st == AZ_OK ? identity_provider_check_kept(op, reading) : st;
    }
    st = identity_providers_get(op, true, &taken);
    if (st != AZ_OK)
        return st;
    reading->key = identity_provider_make_id(op->mem, resource_text(reading, "name"),
                                             resource_text(reading, "issuer"), taken);
    return reading->key != NULL ? console_guard_provider(op, reading->key) : op_no_memory(op);
}

static const struct resource_secret identity_provider_secret = {
    .purpose = KEYRING_IDENTITY_PROVIDER,
    .place = identity_provider_secret_place,
};

const struct admin_resource identity_providers_resource = {
    .rows = &identity_providers_admin_rows,
    .body = &identity_provider_body,
    .secret = &identity_provider_secret,
    .load = identity_provider_load,
    .complete = identity_provider_complete,
    .may_delete = console_guard_provider,
    .warn = identity_provider_warnings,
};
