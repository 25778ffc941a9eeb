#include "config.h"

#include "policy/save/rule_check.h"

#include <string.h>

#include "policy/rows/data_key.h"
#include "policy/rows/rule.h"

static enum az_status
check_package(struct op *op, const char *content)
{
    const char *package = "";
    switch (rule_package(op->mem, content, &package)) {
    case RULE_PACKAGE_NONE:
        return AZ_OK; /* the engine reports it, with the place */
    case RULE_PACKAGE_UNREAD:
        return op_fail(op, AZ_INVALID_FIELDS,
                       "must declare a package of words (A-Z a-z 0-9 _) separated by dots, or of "
                       "plain strings in brackets",
                       NULL);
    case RULE_PACKAGE_NAMED:
        break;
    }
    if (policy_name_lies_in(package, "svc"))
        return op_fail(op, AZ_PROTECTED, "The package svc belongs to the service", NULL);
    if (policy_name_lies_in(package, "system"))
        return op_fail(op, AZ_CONFLICT, "The package system belongs to the policy engine", NULL);
    return AZ_OK;
}

enum az_status
rule_check(struct op *op, const char *path, const char *content, bool enabled,
           struct save_refusal *ret)
{
    if (rule_path_is_ours(path))
        return op_fail(op, AZ_PROTECTED, "Paths below svc belong to the service", NULL);
    if (strlen(content) > RULE_CONTENT_MAX)
        return op_fail(op, AZ_INVALID_FIELDS, "must have at most 524288 octets", NULL);
    if (strcmp(rule_kind(path), "cedar") != 0)
        return check_package(op, content);
    return enabled ? save_refuse(op, ret, "Cedar rules are not supported yet") : AZ_OK;
}
