/* Owners of objects over the admin API (store/db/rows/object_owners.h). The service keeps no secret
 * of the files, but a MAC: so a plan sees that one has changed. */
#ifndef AZ_ADMIN_OBJECT_OWNERS_H
#define AZ_ADMIN_OBJECT_OWNERS_H

#include "base/json/fields.h"
#include "http/route.h"

/* Bodies of the PUT and the POST, and the parameters of the GET and the DELETE. */
extern const struct field_table object_owners_table, object_secrets_table;
extern const struct route_param object_owners_params[], object_owner_params[];

/* Answer 200 with the marks. */
enum az_status object_owners_list_handle(struct request *req);

/* Mark objects as those of an owner: 204, or 409 if one belongs to another. */
enum az_status object_owners_put_handle(struct request *req);

/* Answer 200 with true for each secret that is the one of the mark. */
enum az_status object_secrets_handle(struct request *req);

/* Delete the mark of one object: 204, or 404. */
enum az_status object_owner_delete_handle(struct request *req);

#endif
