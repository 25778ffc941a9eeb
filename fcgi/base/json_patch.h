/* JSON Patch (RFC 6902) with JSON Pointers (RFC 6901). */
#ifndef AZ_BASE_JSON_PATCH_H
#define AZ_BASE_JSON_PATCH_H

#include <jansson.h>
#include <stddef.h>
#include <talloc.h>

#include "base/status.h"

/* Operations of one patch. Each may move what stands behind it in an array. */
#define JSON_PATCH_OPERATIONS_MAX 1000

/* What all `copy` together may add, in json_patch_weight: copying the whole into itself doubles it,
 * and a patch of a hundred such operations would fill any memory. */
#define JSON_PATCH_COPIED_MAX (8 << 20)

/* Values that all operations together may put somewhere, those inside them counted: each is looked
 * at, and a thousand moves of one long array would take half a minute. */
#define JSON_PATCH_PUT_MAX (16 << 20)

/*
 * The target with the patch's operations done, all or none; target and patch are left as they were.
 * The result belongs to mem and is nested at most max_depth deep, as the target must be.
 *
 * AZ_CONFLICT: a `test` does not hold. AZ_INVALID: the patch is no patch, or one of its operations
 * cannot be done; AZ_SERVER_ERROR: no memory. *ret_why, on mem, names the operation by its number
 * from 0; it never quotes the patch.
 */
enum az_status json_patch(TALLOC_CTX *mem, const json_t *target, const json_t *patch,
                          size_t max_depth, json_t **ret, const char **ret_why);

/* About the octets of a value's text. */
size_t json_patch_weight(const json_t *value);

#endif
