/*
 * Tell what the missing migrations will do to a database in use. The first line of each file of
 * sql/ says it, and t/store/plan.t holds it to what PostgreSQL does:
 *
 *   -- plan: KIND[; locks TABLE MODE, ...][; reads TABLE, ...][; rewrites TABLE, ...]
 *
 * KIND is expand (programs of the release before run on) or contract (they do not). The tables are
 * those that were there before: `locks` those that requests can not write, or read, meanwhile;
 * `reads` and `rewrites` those whose rows are read (an index, a constraint) or written.
 */
#ifndef AZ_STORE_SCHEMA_MIGRATION_PLAN_H
#define AZ_STORE_SCHEMA_MIGRATION_PLAN_H

#include <jansson.h>
#include <stdbool.h>

#include "base/op.h"

/* Longest time for which a migration may hold its locks while the service runs: a request waits for
 * them and is not refused. Milliseconds. */
#define PLAN_LOCK_MS 200

/* List the migrations that are missing as {version, name, kind, locks, reads, rewrites, rows, ms,
 * offline}; the array belongs to op->mem. *ret_offline: one of them takes longer than PLAN_LOCK_MS,
 * or is not of the kind expand. */
enum az_status schema_plan(struct op *op, json_t **ret, bool *ret_offline);

/* Fail with AZ_CONFLICT if a missing migration takes longer than PLAN_LOCK_MS, or is not of the
 * kind expand. */
enum az_status schema_plan_check(struct op *op);

#endif
