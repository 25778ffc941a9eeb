/* Rows that cannot be in one bundle. */
#ifndef AZ_POLICY_SAVE_BUNDLE_BUNDLE_CONFLICTS_H
#define AZ_POLICY_SAVE_BUNDLE_BUNDLE_CONFLICTS_H

#include <jansson.h>

#include "base/op.h"
#include "policy/save/bundle/bundle_modules.h"
#include "store/policy/bundles.h"

/*
 * Check the rows before anything is published. AZ_CONFLICT, naming both, if the engine would refuse
 * the rows or take one for another: a data key at or below another one, a key and a package of
 * which one lies at or below the other, a path below another path, a path that is also the file of
 * a compiled rule, two compiled rules with one package.
 */
enum az_status bundle_check_conflicts(struct op *op, const struct bundle_rows *rows,
                                      const struct bundle_modules *modules);

/* After a row was written, in the same transaction: check the entities of all rows. Every other row
 * passes. AZ_UNPROCESSABLE with *ret_failures: places of this row. */
enum az_status cedar_data_check(struct op *op, const char *data_key, json_t **ret_failures);

/* Unite the entities of the rows of a bundle; *ret_text stays NULL if there are none. AZ_CONFLICT:
 * they do not go together, as when a rollback meets a row of an earlier version. */
enum az_status cedar_data_of_bundle(struct op *op, const struct bundle_rows *rows, char **ret_text);

#endif
