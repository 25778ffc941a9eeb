/* A rule in Cedar as the modules of Rego that the bundle contains in its place. */
#ifndef AZ_POLICY_ROWS_CEDAR_RULE_H
#define AZ_POLICY_ROWS_CEDAR_RULE_H

#include "base/status.h"
#include "cedar/ast.h"

/* Hex digits of the SHA-256 of a rule's path that name its modules. The names depend on the path
 * alone, so that they stay when the text changes. Two paths with one name are refused
 * (bundle_conflicts.h). */
#define CEDAR_RULE_DIGITS 16

/* Package of a rule, before the digits. No rule of an operator may declare it: it lies in svc. */
#define CEDAR_RULE_PACKAGE "svc.cedar.policies.r"

/* Return the same path as the engine has it for a document. */
#define CEDAR_RULE_DOCUMENT "svc/cedar/policies/r"

/* Most policies in one package. The engine compares each name in a package with all others there
 * (OPA v1/ast/compile.go, getExports), and a policy has some twenty: a package of a thousand
 * policies would take it ten seconds. */
#define CEDAR_RULE_PART_MAX 50

/* One module of a rule. */
struct cedar_module {
    const char *file; /* path in the bundle */
    const char *text;
};

/* All modules of a rule, the one of its package first. */
struct cedar_modules {
    struct cedar_module *module;
    size_t count;
};

/* Return the digits of a rule's path, on mem; NULL: no memory. */
const char *cedar_rule_digits(TALLOC_CTX *mem, const char *path);

/*
 * Compile the text of the rule of a path. The first module is cedar/DIGITS.rego: that of
 * cedar_rego() with one rule more, `path`, which is the path of the rule. A text of more than
 * CEDAR_RULE_PART_MAX policies has further modules cedar/DIGITS-N.rego with so many each, in
 * packages of their own, and the sets of the first one unite theirs. The same path and text always
 * give the same modules, on mem. AZ_INVALID: the text is refused, *ret_fault says where and why.
 */
enum az_status cedar_rule_compile(TALLOC_CTX *mem, const char *path, const char *content,
                                  struct cedar_modules *ret, struct cedar_fault *ret_fault);

/* Return a fault as people read it, PATH:LINE:COLUMN: why; on mem, NULL: no memory. */
const char *cedar_rule_fault_text(TALLOC_CTX *mem, const char *path,
                                  const struct cedar_fault *fault);

/* Return the line of the Cedar text that a line of a module was made of; 0 if it was made of
 * none. */
unsigned cedar_rule_line(const char *module, size_t line);

#endif
