#include "config.h"

#include "admin/people/identity_providers.h"

#include "admin/people/identity_provider_dto.h"
#include "admin/people/identity_provider_warnings.h"
#include "policy/decide/console_guard.h"
#include "store/people/identity_providers.h"
#include "store/people/identity_providers_admin.h"

/* Make an idpId for a provider that was given none, and check that the caller may write it. */
static enum az_status
identity_provider_complete(struct op *op, struct resource_reading *reading)
{
    const struct identity_providers *taken;
    if (reading->key != NULL)
        return console_guard_provider(op, reading->key);
    enum az_status st = identity_providers_get(op, true, &taken);
    if (st != AZ_OK)
        return st;
    reading->key = identity_provider_make_id(op->mem, resource_text(reading, "name"),
                                             resource_text(reading, "issuer"), taken);
    return reading->key != NULL ? console_guard_provider(op, reading->key)
                                : op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory");
}

static const struct resource_secret identity_provider_secret = {
    .purpose = KEYRING_IDENTITY_PROVIDER,
    .place = identity_provider_secret_place,
};

const struct admin_resource identity_providers_resource = {
    .rows = &identity_providers_admin_rows,
    .body = &identity_provider_body,
    .secret = &identity_provider_secret,
    .complete = identity_provider_complete,
    .may_delete = console_guard_provider,
    .warn = identity_provider_warnings,
};
