/* /admin/api/policy-data/by-key?dataKey=K: the rows policy decides with (specification 2.5;
 * decisions.md "Policy"). */
#ifndef AZ_ADMIN_POLICY_DATA_H
#define AZ_ADMIN_POLICY_DATA_H

#include "http/route.h"

/* Code points of a data key (specification 2.5). */
#define POLICY_DATA_KEY_MAX 256

/* Nesting of a payload: what an admin body can bring, and no merge of two makes more. */
#define POLICY_DATA_DEPTH_MAX HTTP_JSON_DEPTH_MAX

/*
 * Octets of a payload that PATCH may grow to; a PUT is bounded by its body. 50,000 bindings of 150
 * octets fit; the engine holds about ten times the text in memory.
 */
#define POLICY_DATA_PAYLOAD_MAX (8 * 1024 * 1024)

extern const struct route_param policy_data_params[];

/* What is wrong with a data key, or NULL: 1 to 256 characters, words of A-Za-z0-9_- with dots
 * between them. */
const char *policy_data_key_fault(const char *key);

enum az_status policy_data_get_handle(struct request *req);
enum az_status policy_data_put_handle(struct request *req);
enum az_status policy_data_patch_handle(struct request *req);
enum az_status policy_data_delete_handle(struct request *req);

#endif
