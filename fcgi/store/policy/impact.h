/* Rows of policy impact: the runs, their progress and their results (policy.md I3, I12). */
#ifndef AZ_STORE_POLICY_IMPACT_H
#define AZ_STORE_POLICY_IMPACT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"

/* Results that are kept, and octets of one. */
#define IMPACT_KEPT_MAX 50
#define IMPACT_RESULT_MAX (1 << 20)

/* A run that begins. */
struct impact_new {
    const char *who;              /* label of the admin key, or authzctl */
    const char *base, *candidate; /* revisions */
    const char *selection;        /* JSON text */
};

/* Store a run that begins; *ret_id names it. */
enum az_status impact_insert(struct op *op, const struct impact_new *run, int64_t *ret_id);

/* Note how many decisions were looked at. *ret_wanted is false if the run was ended. */
enum az_status impact_note(struct op *op, int64_t id, int64_t looked, bool *ret_wanted);

/* Store the result, or the reason why there is no result (`note`). */
enum az_status impact_end(struct op *op, int64_t id, const char *result, const char *note);

/* Read a run as the API shows it (PolicyImpactDto), as JSON text on op->mem, or NULL. A run whose
 * process has lost its lock has failed. *ret_running: it is not over. */
enum az_status impact_fetch(struct op *op, int64_t id, const char **ret, bool *ret_running);

/* Properties of a stored run that may take the place of a new one. */
struct impact_like {
    const char *base, *candidate; /* revisions */
    const char *guards;           /* digest of the row with the guards */
    const char *since;            /* period of the request; NULL: any */
    int64_t decisions;            /* most decisions that it looks at */
    int64_t age_s;                /* most seconds since it began */
    int64_t sample_ms;            /* most milliseconds of the period of a sample */
};

/* Find the newest run that ended with a result like this, without a filter and an end, and that was
 * not out of time; *ret is its id, or 0. */
enum az_status impact_find_like(struct op *op, const struct impact_like *like, int64_t *ret);

/* List all runs, the newest first, without their results, as the text of a JSON array. */
enum az_status impact_list(struct op *op, const char **ret);

/* Delete a run, which ends it if it is not over. *ret_found is false if there is none. */
enum az_status impact_remove(struct op *op, int64_t id, bool *ret_found);

/* Delete the runs that are not over and that no save waits for, which ends them: a save measures.
 */
enum az_status impact_end_previews(struct op *op);

/* Delete runs that are older than SVC_IMPACT_KEEP_DAYS or than audit rows may be, and all but the
 * newest IMPACT_KEPT_MAX. */
enum az_status impact_purge(struct op *op, int64_t *ret_removed);

#endif
