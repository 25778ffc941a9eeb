/* A bundle deploy: many rules and data rows in one save, all or nothing (specification 2.6). */
#ifndef AZ_POLICY_SAVE_DEPLOY_H
#define AZ_POLICY_SAVE_DEPLOY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "policy/save/save.h"

/* Rules and data rows of one deploy; each of them is looked at several times while the save lock is
 * held. */
#define DEPLOY_RULES_MAX 5000
#define DEPLOY_DATA_MAX 5000

/* RuleEntry. Its kind follows the path's suffix. */
struct deploy_rule {
    const char *path, *content;
    bool enabled;
    const char *version; /* NULL: the stored one stays (a new rule gets "1") */
};

/* DataEntry. A row that is there keeps its version and whether it is in the bundle; a rollback puts
 * it back in. */
struct deploy_data {
    const char *data_key;
    const char *payload; /* JSON text */
    const char *version; /* as above */
};

struct deploy {
    const struct deploy_rule *rule;
    size_t rules;
    const struct deploy_data *data;
    size_t data_rows;
    bool replace;     /* also delete what is not listed, the protected apart */
    bool bundle_only; /* with replace: leave alone what is not in a bundle (disabled rules, rows
                         with inBundle false), and leave out rules below svc that are shipped no
                         more (counted as protected). For a rollback */
    bool dry_run;     /* rehearse and count only */
    const char *source, *who; /* deploy or rollback; the admin key's label or authzctl */
};

struct deploy_counts {
    /* upserted: listed and written, whether or not it differed; deleted; protected: shipped ones
     * that this deploy would have changed (rules) or deleted (both) */
    int rules_upserted, rules_deleted, rules_protected;
    int data_upserted, data_deleted, data_protected;
};

struct deploy_result {
    struct deploy_counts counts;
    struct save_outcome save;
    const char *data_key; /* AZ_UNPROCESSABLE: the row that breaks its schema, NULL otherwise */
    json_t *failures;     /* its failures, owned by op->mem */
    const char *warning;  /* what of the rows this host could not check (data_check.h), or NULL */
    json_t *faults;       /* AZ_INVALID_FIELDS: field path (rules[3].path) to message, on op->mem */
};

/* Checks entries (paths, keys, packages, schemas) and saves them; outcomes as save_policy, and
 * AZ_INVALID_FIELDS. */
enum az_status deploy_run(struct op *op, const struct deploy *deploy, struct deploy_result *ret);

/*
 * Goes back to the rows of a bundle that was (bundle_history_content): a deploy with replace and
 * bundle_only, source rollback. The content must live as long as the operation.
 */
enum az_status deploy_rollback(struct op *op, const json_t *content, const char *who,
                               struct deploy_result *ret);

#endif
