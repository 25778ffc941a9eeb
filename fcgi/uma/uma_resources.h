/* /resource_registration/resource (Federated Authorization for UMA 2.0 section 3;
 * specification 4.9). */
#ifndef AZ_UMA_UMA_RESOURCES_H
#define AZ_UMA_UMA_RESOURCES_H

#include "http/route.h"

/* Members of a resource, in the body and in the answer (specification 2.14). */
extern const struct field_table uma_resource_table;

/* Register a resource: 201 with `_id` and Location. 409: the owner has UMA_RESOURCES_MAX of them.
 */
enum az_status uma_resource_register_handle(struct request *req);

/* List the ids of the owner's resources, show one, replace one, delete one. The ids of others are
 * not found. */
enum az_status uma_resource_list_handle(struct request *req);
enum az_status uma_resource_show_handle(struct request *req);
enum az_status uma_resource_replace_handle(struct request *req);
enum az_status uma_resource_delete_handle(struct request *req);

#endif
