/* /admin/api/policy-data: the data rows that policy reads (specification 2.5; gateway-admin.md 3.6;
 * decisions.md "Policy"). Operations by key are in policy_data.c, by id in policy_data_rows.c. */
#ifndef AZ_ADMIN_POLICY_POLICY_DATA_H
#define AZ_ADMIN_POLICY_POLICY_DATA_H

#include "http/route.h"
#include "policy/rows/data_key.h"

/* The parameter `dataKey`: of the list a filter, of the row of a key required. */
extern const struct route_param policy_data_params[], policy_data_key_params[],
    policy_data_save_params[];

/* Handle the data row that the parameter `dataKey` names, and the schema of a key. */
enum az_status policy_data_get_handle(struct request *req);
enum az_status policy_data_put_handle(struct request *req);
enum az_status policy_data_patch_handle(struct request *req);
enum az_status policy_data_delete_handle(struct request *req);
enum az_status policy_data_schema_handle(struct request *req);

/* Handle the collection of data rows, and a row by its id. */
enum az_status policy_data_list_handle(struct request *req);
enum az_status policy_data_create_handle(struct request *req);
enum az_status policy_data_row_get_handle(struct request *req);
enum az_status policy_data_row_put_handle(struct request *req);
enum az_status policy_data_row_delete_handle(struct request *req);

#endif
