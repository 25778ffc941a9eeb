/* JSON Merge Patch (RFC 7396). */
#ifndef AZ_BASE_JSON_MERGE_PATCH_H
#define AZ_BASE_JSON_MERGE_PATCH_H

#include <jansson.h>

/*
 * Return the target with the patch applied: null removes a member, an object is merged, any other
 * value replaces. Members that stay keep their place, new ones come last. Target and patch are not
 * changed; target NULL counts as an empty object. The result is a new reference; NULL: no memory.
 * It nests no deeper than the two, whose depth the parser limits.
 */
json_t *merge_patch(const json_t *target, const json_t *patch);

#endif
