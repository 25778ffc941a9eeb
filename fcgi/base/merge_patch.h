/* JSON Merge Patch (RFC 7396). */
#ifndef AZ_BASE_MERGE_PATCH_H
#define AZ_BASE_MERGE_PATCH_H

#include <jansson.h>

/*
 * The target with the patch laid over it: null removes a member, an object is merged, anything else
 * replaces. Members that stay keep their place, new ones come last. Target and patch are left as
 * they were; target NULL counts as an empty object. A new reference of the caller; NULL when out of
 * memory. Depth is bounded by that of the two, which the parser limits.
 */
json_t *merge_patch(const json_t *target, const json_t *patch);

#endif
