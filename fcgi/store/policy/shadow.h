/* Rows of shadows of the policy (policy.md 7.2). At most one is active. */
#ifndef AZ_STORE_POLICY_SHADOW_H
#define AZ_STORE_POLICY_SHADOW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json/fields.h"
#include "base/op.h"

/* Octets of what is kept of a reason why a shadow cannot be made. */
#define SHADOW_NOTE_MAX 1000

/* A shadow that begins. */
struct shadow_new {
    const char *who;              /* label of the admin key, or authzctl */
    const char *message;          /* or NULL */
    const char *change;           /* JSON text (policy/shadow/change.h) */
    const char *base, *candidate; /* revisions */
    int64_t rate;
    int64_t ends_ms; /* milliseconds since 1970 */
};

/* A shadow as the API shows it; on op->mem. */
struct shadow_shown {
    bool active;
    int64_t id;
    const char *version; /* changes when it is made of another base */
    const char *dto;     /* PolicyShadow without its result, as JSON text, or NULL */
    const char *result;  /* JSON text, or NULL */
};

/* The active shadow, for a process that compares; on op->mem. */
struct shadow_work {
    int64_t id;
    const char *change; /* NULL: the caller knows the id already */
    const char *base;   /* as it was last made, on any host */
    const char *message, *who;
    int64_t rate;
};

/* PolicyShadow, with the result that its reader adds. */
extern const struct field_table shadow_view;

/* Store a shadow, and end the active shadow with this id (may be 0) in its place. *ret_id is 0 if
 * another shadow is active. */
enum az_status shadow_insert(struct op *op, const struct shadow_new *shadow, int64_t replaced,
                             int64_t *ret_id);

/* End a shadow in the open transaction of the save that promotes it. *ret_found is false if it is
 * not active any more, or made of another base. Its row stays locked until the transaction ends. */
enum az_status shadow_promote(struct op *op, int64_t id, const char *base, const char *who,
                              bool *ret_found);

/* End the active shadow of this id. *ret_found is false if it is not active. */
enum az_status shadow_end(struct op *op, int64_t id, const char *state, const char *who,
                          bool *ret_found);

/* Read the newest shadow; ret->dto is NULL without a shadow. */
enum az_status shadow_fetch(struct op *op, struct shadow_shown *ret);

/* Read the active shadow; ret->id is 0 without a shadow. One trip. */
enum az_status shadow_fetch_active(struct op *op, int64_t known, struct shadow_work *ret);

/* Note what a shadow was made of, or why it could not be made (note). */
enum az_status shadow_note(struct op *op, int64_t id, const char *base, const char *candidate,
                           const char *note);

/* Read the result of a shadow and lock its row, in the open transaction. *ret is NULL if there is
 * no result yet. *ret_found is false if the shadow is not active, and was not active a moment
 * ago. */
enum az_status shadow_lock_result(struct op *op, int64_t id, const char **ret, bool *ret_found);

/* Store the result of the row that is locked. */
enum az_status shadow_store_result(struct op *op, int64_t id, const char *result);

/* End a shadow whose time is over, and delete ended ones that are older than SVC_IMPACT_KEEP_DAYS
 * or than audit rows may be. */
enum az_status shadow_purge(struct op *op, int64_t *ret_removed);

#endif
