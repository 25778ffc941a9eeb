/* Guards: limits that hold for every save of policy (policy.md G2, G4), in a row that C reads. */
#ifndef AZ_POLICY_IMPACT_GUARDS_H
#define AZ_POLICY_IMPACT_GUARDS_H

#include <jansson.h>

#include "base/json/jsonx.h"
#include "base/op.h"

/* The row with the guards. */
#define GUARDS_ROW "svc.operator.controls.changes"

/* Stands for the id of an admin key where authzctl saves on the database. */
#define GUARDS_OPERATOR "authzctl"

struct guards {
    const json_t *list;      /* guards, or NULL */
    const json_t *overrides; /* ids of the keys that may pass them, or NULL */
    bool named;              /* overrides names a key that is valid and may save, or a person */
    const char *way_out;     /* id of SVC_ADMIN_API_KEY if overrides names no such key, or NULL */
    const char *digest;      /* of the row; "" without one */
    bool in_bundle;          /* the row is part of the bundle */
};

/* Read the row. One trip, two with overrides. */
enum az_status guards_read(struct op *op, struct guards *ret);

/* *ret: true if the row of this key, of guards or of roles, has this payload (JSON text). One trip.
 */
enum az_status guards_row_is(struct op *op, const char *key, const char *payload, bool *ret);

/* True if there is a guard. */
bool guards_any(const struct guards *guards);

/* True if a change of the row needs an override: the row has guards, or says who may pass them. */
bool guards_are_kept(const struct guards *guards);

/* True if this caller may pass the guards and change the row: his key is listed, or none is, or he
 * is GUARDS_OPERATOR, or his is the configured key and no key that is listed is valid any more:
 * else nobody could end such guards over the API. `key` is the id of the admin key; NULL: there is
 * no key. */
bool guards_may_override(const struct guards *guards, const char *key);

/* Add the guards to a list of watches (watch.h). Those whose period begins before `least_ms` are
 * not measured, with `why` as the reason. *earliest_ms becomes the begin of the longest period of
 * the others, if that is earlier. False: a period cannot be read. */
bool guards_watch(const struct guards *guards, int64_t now_ms, int64_t least_ms, const char *why,
                  struct jsonx_build *watches, int64_t *earliest_ms);

#endif
