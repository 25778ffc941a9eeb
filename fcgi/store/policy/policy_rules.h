/* Rows of policy rules. */
#ifndef AZ_STORE_POLICY_POLICY_RULES_H
#define AZ_STORE_POLICY_POLICY_RULES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"

/* A rule; content is NULL if there is none. Texts on op->mem. */
struct policy_rule {
    int64_t id;          /* internal key */
    const char *path;    /* place in the bundle */
    const char *content; /* its text */
    const char *digest;  /* hex SHA-256 of content: the ETag */
    const char *dto;     /* PolicyRuleDto as JSON text */
    bool enabled;        /* part of the bundle */
    bool shipped;        /* part of the program: cannot be changed */
};

/* Values to write to a rule. */
struct policy_rule_write {
    const char *path, *kind, *content;
    const char *version; /* NULL keeps the stored one (a new rule gets "1") */
    bool enabled;
};

/* Filter of a list; NULL matches all. */
struct policy_rule_filter {
    const char *path;    /* this path, or, if it ends in `*`, all paths with that prefix */
    const char *kind;    /* rego or cedar */
    const char *enabled; /* true or false */
};

/* Fetch the rule of an id or of a path, in one trip. */
enum az_status policy_rule_fetch(struct op *op, int64_t id, struct policy_rule *ret);
enum az_status policy_rule_fetch_path(struct op *op, const char *path, struct policy_rule *ret);

/* List PolicyRuleDto objects as the text of a JSON array, by path. */
enum az_status policy_rule_list(struct op *op, const struct policy_rule_filter *filter,
                                const char **ret_json);

/* Write in the caller's transaction. AZ_CONFLICT if another rule has the path. Update and delete do
 * not change a shipped rule; the caller has checked. */
enum az_status policy_rule_insert(struct op *op, const struct policy_rule_write *rule,
                                  int64_t *ret_id);
enum az_status policy_rule_update(struct op *op, int64_t id, const struct policy_rule_write *rule);
enum az_status policy_rule_delete(struct op *op, int64_t id);

#endif
