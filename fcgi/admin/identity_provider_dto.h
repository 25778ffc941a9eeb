/* IdentityProviderDto (specification 2.3): its field table and the rules of its fields. Knows
 * nothing of HTTP. */
#ifndef AZ_ADMIN_IDENTITY_PROVIDER_DTO_H
#define AZ_ADMIN_IDENTITY_PROVIDER_DTO_H

#include <jansson.h>
#include <talloc.h>

#include "base/fields.h"
#include "store/people/identity_providers.h"

/* Characters of an idpId (decisions.md "Browser side"). */
#define IDP_ID_MAX 64

/* An IdentityProviderDto that is good. */
struct identity_provider_dto {
    const char *idp_id;  /* as given; NULL: one is to be made */
    const char *name;    /* as given, or NULL */
    const char *issuer;  /* never NULL */
    const char *columns; /* values by column, JSON object as text */
    const char *secret;  /* clientSecret as given, or NULL */
};

/*
 * Reads an IdentityProviderDto and tells every fault. With a path_id (PUT) idpId is not looked at:
 * the path names the row. AZ_INVALID: there was a fault. AZ_SERVER_ERROR: no memory. Texts live on
 * mem or as long as object.
 */
enum az_status identity_provider_dto_read(TALLOC_CTX *mem, json_t *object, const char *path_id,
                                          field_fault_fn *fault, void *fault_arg,
                                          struct identity_provider_dto *ret);

/*
 * An idpId for a provider that was given none: letters and digits of its name, else of the host of
 * its issuer, with a number behind it when another one of `taken` has that name. On mem; NULL: no
 * memory.
 */
char *identity_provider_make_id(TALLOC_CTX *mem, const struct identity_provider_dto *dto,
                                const struct identity_providers *taken);

#endif
