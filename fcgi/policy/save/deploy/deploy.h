/* A bundle deploy: many rules and data rows in one save, all or nothing (specification 2.6).
 * deploy_check.c checks the entries without the database and deploy.c writes them; the two share
 * deploy_private.h. */
#ifndef AZ_POLICY_SAVE_DEPLOY_DEPLOY_H
#define AZ_POLICY_SAVE_DEPLOY_DEPLOY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "policy/impact/impact.h"
#include "policy/save/save.h"

/* Rules and data rows of one deploy. The save lock is held while each of them is read several
 * times. */
#define DEPLOY_RULES_MAX 5000
#define DEPLOY_DATA_MAX 5000
/* Objects that one deploy marks: as many rules and rows, or entries of rows. */
#define DEPLOY_MARKS_MAX 10000

/* RuleEntry. Its kind follows from the path's suffix. */
struct deploy_rule {
    const char *path, *content;
    bool enabled;
    const char *version; /* NULL: the stored one stays (a new rule gets "1") */
};

/* DataEntry. An existing row keeps its version and its inBundle; a rollback sets inBundle. */
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
    const json_t *delete_rules; /* array of paths to delete, or NULL */
    const json_t *delete_data;  /* array of data keys, so */
    bool replace;               /* also delete what is not listed, except protected rows */
    bool bundle_only; /* for a rollback, with replace: leave alone what is not in a bundle (disabled
                         rules, rows with inBundle false), and leave out rules below svc that are
                         no longer shipped (counted as protected) */
    bool dry_run;     /* rehearse and count only */
    const char *source, *who;         /* deploy or rollback; the admin key's label or authzctl */
    const char *message;              /* of the author (save_message_fault), or NULL */
    const char *if_revision;          /* refuse unless this revision is active, NULL: do not ask */
    const struct save_limits *limits; /* or NULL */
    /* Objects that the deploy may overwrite or delete: {rules, data} of names to states, as
     * deploy_result.replaced. A row in another state is AZ_CONFLICT. NULL: any. */
    const json_t *replaced;
    const char *owner;   /* marks objects in the transaction of the save, or NULL */
    const json_t *marks; /* array of {kind, key, digest}, with an owner */
    /* A shadow that the deploy promotes, which ends in the transaction of the save; or 0. It must
     * still be made of if_revision (AZ_CONFLICT). */
    int64_t shadow;
};

/* Counts of rules, or of data rows. Listed entries that are not protected are added, changed or
 * unchanged. */
struct deploy_count {
    int added;     /* not stored before */
    int changed;   /* stored otherwise */
    int unchanged; /* stored as they are listed */
    int deleted;   /* stored and not listed (replace) */
    int kept;      /* protected: shipped ones that this deploy would have changed (rules) or deleted
                      (both) */
};
struct deploy_counts {
    struct deploy_count rules, data;
};

struct deploy_result {
    struct deploy_counts counts;
    struct save_outcome save;
    const char *data_key; /* AZ_UNPROCESSABLE: the row that breaks a rule, NULL otherwise */
    json_t *failures;     /* its failures, owned by op->mem */
    const char *warning;  /* a check that this host could not make (data_check.h), or NULL */
    json_t *faults;       /* AZ_INVALID_FIELDS: field path (rules[3].path) to message, on op->mem */
    /* For each listed rule and row: it was stored as it is listed. NULL: not judged. */
    const bool *same_rule, *same_data;
    /* {rules, data}: name of each row that is changed or deleted to its state before, a digest and
     * for rules the word on or off; null: a new one. NULL: not judged. */
    json_t *replaced;
};

/* Check the entries (paths, keys, packages, schemas) and save them. Returns as save_policy(), and
 * AZ_INVALID_FIELDS. */
enum az_status deploy_run(struct op *op, const struct deploy *deploy, struct deploy_result *ret);

/* Make the candidate of a deploy, which changes nothing (candidate.h). Returns as deploy_run(), and
 * as candidate_make(). */
enum az_status deploy_measure(struct op *op, const struct deploy *deploy, struct deploy_result *ret,
                              struct impact_pair *ret_pair, json_t **ret_errors);

/* Return PolicyBundleDeployResult (specification 2.6), owned by mem; NULL: no memory. */
json_t *deploy_result_json(TALLOC_CTX *mem, const struct deploy_result *result, const char *mode);

#endif
