/* Building the bundle from its rows (policy.md 2.3). */
#ifndef AZ_POLICY_SAVE_BUNDLE_H
#define AZ_POLICY_SAVE_BUNDLE_H

#include "base/op.h"
#include "store/policy/bundles.h"

/* The bundle's name in URLs and opa.yaml. */
#define BUNDLE_NAME "svc"

/* A bundle and the rows it was built from. */
struct bundle_build {
    struct bundle_rows rows;
    char *data;               /* data.json */
    struct bundle_new bundle; /* source, who and pending are the caller's to set */
};

/*
 * Reads the rows as they stand in the open transaction and names their revision: the same rows have
 * the same. Rows that would collide in the engine (two data keys, a key and a package, two paths):
 * AZ_CONFLICT. More than ARCHIVE_MAX: AZ_TOO_LARGE.
 */
enum az_status bundle_read(struct op *op, struct bundle_build *ret);

/* Makes the archive of what was read, in the same transaction: the same octets for the same
 * revision. AZ_TOO_LARGE as above. */
enum az_status bundle_pack(struct op *op, struct bundle_build *build);

#endif
