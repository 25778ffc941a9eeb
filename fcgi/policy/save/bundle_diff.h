/* What differs between the rows of two bundles. */
#ifndef AZ_POLICY_SAVE_BUNDLE_DIFF_H
#define AZ_POLICY_SAVE_BUNDLE_DIFF_H

#include <jansson.h>
#include <talloc.h>

/*
 * What one diff may cost, all its rows together: two bundles may hold 64 MiB of text with nothing
 * in common (ARCHIVE_MAX). Steps: about a second. Octets: what a client of the admin API can be
 * expected to read; a row whose diff does not fit has null in its place.
 */
#define BUNDLE_DIFF_STEPS_MAX 100000000
#define BUNDLE_DIFF_OCTETS_MAX (8 << 20)

/*
 * {"rules":{"added":[path],"removed":[path],"changed":[{path,diff}]},"data":{...the same with
 * dataKey}}; `diff` is a unified diff of the two texts, of data rows with one member to a line and
 * members sorted, as their order says nothing. Where the versions differ, `changed` has `versions`:
 * [from, to] as well; then `diff` may be "". Both contents as bundle_history_content gives them.
 * Owned by mem; NULL when memory is out.
 */
json_t *bundle_diff(TALLOC_CTX *mem, const json_t *from, const json_t *to);

#endif
