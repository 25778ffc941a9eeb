/* /delegation: an owner of a UMA resource lets others act on it (specification 2.15 and 4.10). */
#ifndef AZ_UMA_DELEGATIONS_H
#define AZ_UMA_DELEGATIONS_H

#include "http/route.h"

/* Members of the body of a new delegation, and of a change. */
extern const struct field_table delegation_table;
extern const struct field_table delegation_change_table;

/* Delegate: 201 with delegation_id. 404: the resource is not the owner's. 409: the owner has
 * DELEGATIONS_MAX active ones. */
enum az_status delegation_create_handle(struct request *req);

/* List the owner's delegations, show one, change its end, revoke it. The ids of others are not
 * found; nor is a revoked delegation, except to read it. */
enum az_status delegation_list_handle(struct request *req);
enum az_status delegation_show_handle(struct request *req);
enum az_status delegation_change_handle(struct request *req);
enum az_status delegation_revoke_handle(struct request *req);

#endif
