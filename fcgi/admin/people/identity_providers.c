#include "config.h"

#include "admin/people/identity_providers.h"

#include "admin/people/identity_provider_dto.h"
#include "admin/people/identity_provider_warnings.h"
#include "admin/resource/secret_address.h"
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

/* Refuse an issuer that names no tenant, make an idpId for a provider that was given none, check
 * that the caller may write it, and that its secret goes nowhere else. */
static enum az_status
identity_provider_complete(struct op *op, struct resource_reading *reading)
{
    const struct identity_providers *taken;
    enum az_status st;
    const char *fault = identity_provider_tenant_fault(op, resource_text(reading, "issuer"));
    if (fault != NULL) {
        resource_tell(reading, "issuer", fault);
        return op_fail(op, AZ_INVALID_FIELDS, NULL, NULL);
    }
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
