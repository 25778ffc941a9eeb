/* Checks of a rule before it is published: its path, its kind, and the package that it declares.
 * The engine checks everything else. */
#ifndef AZ_POLICY_ROWS_RULE_H
#define AZ_POLICY_ROWS_RULE_H

#include <stdbool.h>
#include <talloc.h>

/* Longest path, in octets (PolicyRuleDto.path, specification 2.4); the same as ARCHIVE_PATH_MAX. */
#define RULE_PATH_MAX 512
/* Longest text of one rule, in octets: far longer than a readable rule, and less than the body of
 * an admin request may have. */
#define RULE_CONTENT_MAX (512 << 10)
/* Longest package name, in octets: twice the longest data key. */
#define RULE_PACKAGE_MAX 512

/*
 * Return the fault of a rule's path, or NULL. A path has 1 to 512 octets of UTF-8, is relative,
 * ends in .rego or .cedar, and has no empty, `.` or `..` segment, no backslash or control
 * character, and no name that the engine treats differently (policy.md 2.3).
 */
const char *rule_path_fault(const char *path);

/* Return the fault of the text of a rule, or NULL. */
const char *rule_content_fault(const char *content);

/* Return "cedar" or "rego", by the path's suffix. */
const char *rule_kind(const char *path);

/* True if a path belongs to the service: svc and below. */
bool rule_path_is_ours(const char *path);

/* The package declaration of a Rego text. */
enum rule_package {
    RULE_PACKAGE_NONE,   /* no package: the engine refuses it, with the place */
    RULE_PACKAGE_NAMED,  /* *ret is its name, words separated by dots */
    RULE_PACKAGE_UNREAD, /* a form that is not supported here, though the engine may accept it:
                            refuse it */
};

/*
 * Read the package declaration as the engine does: comments and white space before and between its
 * tokens, words and ["text"] members. Attack: an operator's rule that entered package svc or system
 * by a form that only the engine understands would act as a rule of the service.
 */
enum rule_package rule_package(TALLOC_CTX *mem, const char *content, const char **ret);

#endif
