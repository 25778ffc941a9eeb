/* The difference between the rows of two bundles. */
#ifndef AZ_POLICY_SAVE_BUNDLE_BUNDLE_DIFF_H
#define AZ_POLICY_SAVE_BUNDLE_BUNDLE_DIFF_H

#include <jansson.h>
#include <talloc.h>

/*
 * Limits of one diff, all its rows together: two bundles may hold 64 MiB of text with nothing in
 * common (ARCHIVE_MAX). The steps take about a second. The octets are what a client of the admin
 * API can be expected to read; a row whose diff does not fit has null in its place.
 */
#define BUNDLE_DIFF_STEPS_MAX 100000000
#define BUNDLE_DIFF_OCTETS_MAX (8 << 20)

/*
 * Return {"rules":{"added":[path],"removed":[path],"changed":[{path,diff}]},"data":{...the same
 * with dataKey}}. `diff` is a unified diff of the two texts; data rows are compared with one member
 * to a line and members sorted, because their order has no meaning. If the versions differ,
 * `changed` also has `versions`: [from, to]; then `diff` may be "". The same holds for `enabled`,
 * a member of rules that is true if it is absent. Both contents are as bundle_history_content()
 * returns them. Owned by mem; NULL: no memory.
 */
json_t *bundle_diff(TALLOC_CTX *mem, const json_t *from, const json_t *to);

#endif
