/* What a rule must be before it is worth publishing: its path, its kind, and the package it
 * declares (decisions.md "Policy" and "Admin API"). Everything else the engine judges. */
#ifndef AZ_POLICY_ROWS_RULE_H
#define AZ_POLICY_ROWS_RULE_H

#include <stdbool.h>
#include <talloc.h>

/* Octets of a path (PolicyRuleDto.path, specification 2.4); the same as ARCHIVE_PATH_MAX. */
#define RULE_PATH_MAX 512
/* Octets of one rule's text: far more than anybody reads, and less than an admin body holds. */
#define RULE_CONTENT_MAX (512 << 10)
/* Octets of a package's name that we read: twice the longest data key. */
#define RULE_PACKAGE_MAX 512

/*
 * What keeps a text from being a rule's path, or NULL: 1 to 512 octets of UTF-8, relative, ending
 * in .rego or .cedar, no empty, `.` or `..` segment, no backslash or control character, and no name
 * that the engine reads as something else (policy.md 2.3).
 */
const char *rule_path_fault(const char *path);

/* "cedar" or "rego", by the path's suffix. */
const char *rule_kind(const char *path);

/* Whether a path is the service's own: svc and below. */
bool rule_path_is_ours(const char *path);

/* What a Rego text declares. */
enum rule_package {
    RULE_PACKAGE_NONE,   /* no package: the engine will refuse it, with the place */
    RULE_PACKAGE_NAMED,  /* *ret is its name, words joined by dots */
    RULE_PACKAGE_UNREAD, /* a form that we do not read, though the engine may: refuse it */
};

/*
 * Reads the package declaration as the engine does: comments and white space before and between its
 * tokens, words and ["text"] members. An operator's rule that got into package svc or system by a
 * form that only the engine understands would be a rule of ours.
 */
enum rule_package rule_package(TALLOC_CTX *mem, const char *content, const char **ret);

#endif
