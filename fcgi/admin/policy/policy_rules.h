/* /admin/api/policy-rules: the rules of policy (specification 2.4; gateway-admin.md
 * 3.6). */
#ifndef AZ_ADMIN_POLICY_POLICY_RULES_H
#define AZ_ADMIN_POLICY_POLICY_RULES_H

#include "base/json/fields.h"
#include "http/route.h"

extern const struct route_param policy_rules_params[];

/* Handle the collection of policy rules, and a rule by its id or its path. Writes are saves that
 * the engines must accept. */
enum az_status policy_rules_list_handle(struct request *req);
enum az_status policy_rules_create_handle(struct request *req);
enum az_status policy_rule_get_handle(struct request *req);
enum az_status policy_rule_put_handle(struct request *req);
enum az_status policy_rule_put_by_path_handle(struct request *req);
enum az_status policy_rule_delete_handle(struct request *req);

/* PolicyRuleDto: the members of the body. */
extern const struct field_table policy_rule_table;

/* PolicyRuleDto (specification 2.4). */
extern const struct field_table policy_rule_table;

#endif
