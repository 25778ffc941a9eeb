#include "config.h"

#include "policy/save/check/rule_check.h"

#include <stdio.h>
#include <string.h>
#include <talloc.h>

#include "base/settings/settings.h"
#include "base/utf8.h"
#include "base/visible.h"
#include "policy/rows/cedar_rule.h"
#include "policy/rows/data_key.h"
#include "policy/rows/rule.h"
#include "policy/rows/rule_builtins.h"

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

/* Refuse a rule that could reach what is outside of the engine, with its place as the engine would
 * name it. */
static enum az_status
check_builtins(struct op *op, const char *path, const char *content, struct save_refusal *ret)
{
    struct rule_builtin_use use;
    if (op->az->cfg->allow_network_builtins || !rule_builtin_find(content, &use))
        return AZ_OK;
    const char *why =
        talloc_asprintf(op->mem, "%s:%d: %s is not allowed: %s (SVC_POLICY_ALLOW_NETWORK_BUILTINS)",
                        path, use.line, use.name, use.why);
    return why != NULL ? save_refuse(op, ret, why) : op_no_memory(op);
}

/* Refuse a Cedar rule that cannot be compiled, with its place as the engine would name it. */
static enum az_status
check_cedar(struct op *op, const char *path, const char *content, struct save_refusal *ret)
{
    struct cedar_fault fault;
    TALLOC_CTX *work = talloc_new(op->mem);
    struct cedar_modules modules;
    const char *why = NULL;
    enum az_status st =
        work != NULL ? cedar_rule_compile(work, path, content, &modules, &fault) : AZ_SERVER_ERROR;
    talloc_free(work);
    if (st == AZ_OK)
        return AZ_OK;
    if (st == AZ_INVALID)
        why = cedar_rule_fault_text(op->mem, path, &fault);
    return why != NULL ? save_refuse(op, ret, why) : op_no_memory(op);
}

enum az_status
rule_check_visible(struct op *op, const char *content)
{
    char why[128];
    unsigned line = 1, point;
    while (*content != '\0') {
        const char *at = content;
        bool blank = *at == '\n' || *at == '\t' || *at == '\r';
        line += *at == '\n';
        if (visible_next(&content) <= VISIBLE_SELECTOR || blank) {
            content = blank ? at + 1 : content;
            continue;
        }
        utf8_step(at, &point);
        snprintf(why, sizeof(why),
                 "has a control or invisible character in line %u (U+%04X); delete it, or write it "
                 "as an escape in a string",
                 line, point);
        return op_fail(op, AZ_INVALID_FIELDS, why, NULL);
    }
    return AZ_OK;
}

enum az_status
rule_check_text(struct op *op, const char *path, const char *content)
{
    if (rule_path_is_ours(path))
        return op_fail(op, AZ_PROTECTED, "Paths below svc belong to the service", NULL);
    if (strlen(content) > RULE_CONTENT_MAX)
        return op_fail(op, AZ_INVALID_FIELDS, "must have at most 524288 octets", NULL);
    return strcmp(rule_kind(path), "cedar") != 0 ? check_package(op, content) : AZ_OK;
}

enum az_status
rule_check(struct op *op, const char *path, const char *content, bool enabled,
           struct save_refusal *ret)
{
    enum az_status st = rule_check_text(op, path, content);
    if (st == AZ_OK && enabled)
        st = rule_check_visible(op, content);
    if (st != AZ_OK || !enabled)
        return st;
    if (strcmp(rule_kind(path), "cedar") == 0)
        return check_cedar(op, path, content, ret);
    return check_builtins(op, path, content, ret);
}
