/* Questions about more tools than one document can hold (gateway-admin.md 1.5 "Lists"). */
#ifndef AZ_POLICY_DECIDE_GATEWAY_GROUPS_H
#define AZ_POLICY_DECIDE_GATEWAY_GROUPS_H

#include "policy/decide/gateway.h"

/* Tools that differ neither in their resource nor in the scopes that they need. */
struct gateway_groups {
    struct gateway_tool *group; /* resource, and an action with kind and scopes, and no name */
    size_t count;
    size_t *of; /* place of the group of each tool */
};

/* Put the tools of a question into groups, on the operation's memory. */
enum az_status gateway_groups_make(struct op *op, const struct gateway_tools_question *question,
                                   struct gateway_groups *ret);

#endif
