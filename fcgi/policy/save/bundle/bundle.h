/* Building the bundle from its rows (policy.md 2.3). */
#ifndef AZ_POLICY_SAVE_BUNDLE_BUNDLE_H
#define AZ_POLICY_SAVE_BUNDLE_BUNDLE_H

#include "base/op.h"
#include "policy/save/bundle/bundle_modules.h"
#include "store/policy/bundles.h"

/* The bundle's name in URLs and opa.yaml. */
#define BUNDLE_NAME "svc"

/* A bundle and the rows that it is built from. */
struct bundle_build {
    struct bundle_rows rows;
    struct bundle_modules modules;
    char *data;               /* data.json */
    struct bundle_new bundle; /* the caller sets source, who and pending */
};

/*
 * Read the rows as they are in the open transaction and name their revision: the same rows have the
 * same revision. AZ_CONFLICT: rows would collide in the engine (two data keys, a key and a package,
 * two paths), or a rule cannot be compiled any more. AZ_TOO_LARGE: more than ARCHIVE_MAX.
 */
enum az_status bundle_read(struct op *op, struct bundle_build *ret);

/* Make the archive of the rows that were read, in the same transaction: the same octets for the
 * same revision. AZ_TOO_LARGE as above. */
enum az_status bundle_pack(struct op *op, struct bundle_build *build);

#endif
