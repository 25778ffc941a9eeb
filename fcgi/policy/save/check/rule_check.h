/* The check of an operator's rule that a single save and a deploy share. */
#ifndef AZ_POLICY_SAVE_CHECK_RULE_CHECK_H
#define AZ_POLICY_SAVE_CHECK_RULE_CHECK_H

#include "policy/save/save.h"

/*
 * Check a rule that has a good path (rule_path_fault) and a text. AZ_OK; AZ_PROTECTED: the path or
 * the package belongs to the service (svc and below); AZ_CONFLICT: the package is system, which
 * belongs to the engine; AZ_INVALID_FIELDS: the text is over RULE_CONTENT_MAX, or declares its
 * package in a form that is not supported (the fault's public text fits after the name of the field
 * `content`). A Cedar rule declares no package, and its text is not read. Needs neither settings
 * nor the database.
 */
enum az_status rule_check_text(struct op *op, const char *path, const char *content);

/*
 * Refuse control and invisible characters, and those that reorder text: people would read another
 * rule than the one that runs. AZ_INVALID_FIELDS, with a public text as above.
 */
enum az_status rule_check_visible(struct op *op, const char *content);

/*
 * Check a rule as above. AZ_UNPROCESSABLE with *ret: an enabled Cedar rule that cannot be compiled,
 * or an enabled rule with a builtin of rule_builtins.h unless SVC_POLICY_ALLOW_NETWORK_BUILTINS is
 * set. A disabled rule is in no bundle: it may be a draft, and one that was stored before can still
 * be switched off.
 */
enum az_status rule_check(struct op *op, const char *path, const char *content, bool enabled,
                          struct save_refusal *ret);

#endif
