/* Rows that cannot be in one bundle. */
#ifndef AZ_POLICY_SAVE_BUNDLE_BUNDLE_CONFLICTS_H
#define AZ_POLICY_SAVE_BUNDLE_BUNDLE_CONFLICTS_H

#include "base/op.h"
#include "policy/save/bundle/bundle_modules.h"

/*
 * Check the rows before anything is published. AZ_CONFLICT, naming both, if the engine would refuse
 * the rows or take one for another: a data key at or below another one, a key and a package of
 * which one lies at or below the other, a path below another path, a path that is also the file of
 * a compiled rule, two compiled rules with one package.
 */
enum az_status bundle_check_conflicts(struct op *op, const struct bundle_rows *rows,
                                      const struct bundle_modules *modules);

#endif
