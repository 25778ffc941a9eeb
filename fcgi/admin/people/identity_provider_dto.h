/* IdentityProviderDto (specification 2.3): its field table and the rules of its fields. Knows
 * nothing of HTTP. */
#ifndef AZ_ADMIN_IDENTITY_PROVIDER_DTO_H
#define AZ_ADMIN_IDENTITY_PROVIDER_DTO_H

#include "admin/resource/resource_body.h"
#include "store/people/identity_providers.h"

/* Longest idpId, in characters (decisions.md "Browser side"). */
#define IDP_ID_MAX 64

extern const struct resource_body identity_provider_body;

/*
 * Make an idpId for a provider that was given none: the letters and digits of its name (which may
 * be NULL), else of the host of its issuer, and a number when another one of `taken` has that id.
 * On mem, or NULL if out of memory.
 */
char *identity_provider_make_id(TALLOC_CTX *mem, const char *name, const char *issuer,
                                const struct identity_providers *taken);

/* IdentityProviderDto: the members of the body. */
extern const struct field_table identity_provider_table;

#endif
