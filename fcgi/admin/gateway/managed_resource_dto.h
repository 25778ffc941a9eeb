/* ManagedResourceDto (specification 2.10), and the columns that a save writes from it. */
#ifndef AZ_ADMIN_GATEWAY_MANAGED_RESOURCE_DTO_H
#define AZ_ADMIN_GATEWAY_MANAGED_RESOURCE_DTO_H

#include "admin/resource/resource_body.h"
#include "base/op.h"

extern const struct resource_body managed_resource_body;

/*
 * Read the whole document, and set the columns of the row and its new secrets. reading->stored is
 * the struct resource_stored that a PUT replaces, or NULL. AZ_INVALID: a fault was told; other
 * failures are set in op.
 */
enum az_status managed_resource_complete(struct op *op, struct resource_reading *reading);

#endif
