/*
 * Identity providers as the administrator sees and writes them. Rows go in as a JSON object of
 * column values (the columns of the field table in admin/identity_provider_dto.c), bound by name;
 * IdentityProviderDto comes out as the view identity_provider_dto shapes it, without the secret.
 */
#ifndef AZ_STORE_PEOPLE_IDENTITY_PROVIDERS_ADMIN_H
#define AZ_STORE_PEOPLE_IDENTITY_PROVIDERS_ADMIN_H

#include <stddef.h>

#include "base/op.h"

/* An identity provider to be written. */
struct identity_provider_row {
    const char *idp_id;          /* which */
    const char *columns;         /* JSON object; a column that is not in it gets its default */
    const unsigned char *sealed; /* new secret, sealed; NULL: none given */
    size_t sealed_length;        /* octets */
};

/* IdentityProviderDto objects as JSON text on op->mem. One trip each; *ret_dto is NULL for an
 * unknown one. */
enum az_status identity_providers_list(struct op *op, const char **ret_array);
enum az_status identity_provider_dto_fetch(struct op *op, const char *idp_id, const char **ret_dto);

/* AZ_CONFLICT: the idpId or the issuer is taken. */
enum az_status identity_provider_insert(struct op *op, const struct identity_provider_row *row,
                                        const char **ret_dto);

/*
 * Replaces all columns but the name of the row; `enabled` and the secret are kept where none is
 * given. Browser sessions of a provider that is disabled, or is another issuer afterwards, end in
 * the same statement. *ret_dto is NULL for an unknown one. AZ_CONFLICT: the issuer is taken.
 */
enum az_status identity_provider_replace(struct op *op, const struct identity_provider_row *row,
                                         const char **ret_dto);

/* AZ_NOT_FOUND for an unknown one. Its sign-ins, sessions and grants go with it. */
enum az_status identity_provider_delete(struct op *op, const char *idp_id);

#endif
