/* Policy rules as rows. */
#ifndef AZ_STORE_POLICY_POLICY_RULES_H
#define AZ_STORE_POLICY_POLICY_RULES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"

/* A rule; content NULL when there is none. Texts on op->mem. */
struct policy_rule {
    int64_t id;          /* internal key */
    const char *path;    /* place in the bundle */
    const char *content; /* its text */
    const char *digest;  /* hex SHA-256 of content: the ETag */
    const char *dto;     /* PolicyRuleDto as JSON text */
    bool enabled;        /* in the bundle */
    bool shipped;        /* came with the program: cannot be changed */
};

/* What is written to a rule. */
struct policy_rule_write {
    const char *path, *kind, *content;
    const char *version; /* NULL keeps the stored one (a new rule gets "1") */
    bool enabled;
};

/* What a list is narrowed to; NULL or 0 for no matter. */
struct policy_rule_filter {
    const char *path;    /* exactly this, or, ending in `*`, everything that begins so */
    const char *kind;    /* rego or cedar */
    const char *enabled; /* true or false */
};

/* The rule of an id or of a path; one trip. */
enum az_status policy_rule_fetch(struct op *op, int64_t id, struct policy_rule *ret);
enum az_status policy_rule_fetch_path(struct op *op, const char *path, struct policy_rule *ret);

/* PolicyRuleDto texts as one JSON array text, by path. */
enum az_status policy_rule_list(struct op *op, const struct policy_rule_filter *filter,
                                const char **ret_json);

/* Writes, inside the caller's transaction. Insert: AZ_CONFLICT when the path is taken; update:
 * AZ_CONFLICT when another rule has the path. Shipped rules are left alone by update and delete:
 * the caller has looked. */
enum az_status policy_rule_insert(struct op *op, const struct policy_rule_write *rule,
                                  int64_t *ret_id);
enum az_status policy_rule_update(struct op *op, int64_t id, const struct policy_rule_write *rule);
enum az_status policy_rule_delete(struct op *op, int64_t id);

#endif
