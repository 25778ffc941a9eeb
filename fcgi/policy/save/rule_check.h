/* Whether a rule of an operator may be published at all: what a single save and a deploy both ask
 * (decisions.md "Policy" and "Admin API"). */
#ifndef AZ_POLICY_SAVE_RULE_CHECK_H
#define AZ_POLICY_SAVE_RULE_CHECK_H

#include "policy/save/save.h"

/*
 * Checks a rule that has a good path (rule_path_fault) and a text. AZ_OK; AZ_PROTECTED: the path
 * or the package is the service's own (svc and below); AZ_CONFLICT: package system, which is the
 * engine's; AZ_INVALID_FIELDS: the text is over RULE_CONTENT_MAX, or declares its package in a form
 * that is not read here (the fault's public text fits after the name of the field `content`);
 * AZ_UNPROCESSABLE with *ret: an enabled Cedar rule. A disabled rule is checked like an enabled
 * one, but the text of a disabled Cedar rule is not looked into.
 */
enum az_status rule_check(struct op *op, const char *path, const char *content, bool enabled,
                          struct save_refusal *ret);

#endif
