/* The payload that is written to a data row: read from the request and checked (specification 2.5,
 * 7.2). */
#ifndef AZ_ADMIN_POLICY_POLICY_PAYLOAD_H
#define AZ_ADMIN_POLICY_POLICY_PAYLOAD_H

#include <jansson.h>

#include "base/json/fields.h"
#include "http/request.h"
#include "store/policy/policy_rows.h"

/* A PolicyDataDto as it was sent. */
struct policy_payload {
    const char *data_key; /* key of the row */
    const char *text;     /* payload: JSON text */
    json_t *value;        /* payload, parsed */
    const char *version;  /* NULL: not given */
    bool has_in_bundle;   /* inBundle is given */
    bool in_bundle;       /* its value */
};

/*
 * Read the body as a PolicyDataDto. With a key, the dataKey of the body must be the same or absent;
 * without one it is required. AZ_INVALID_FIELDS: every fault is in the answer's fieldErrors.
 */
enum az_status policy_payload_read(struct request *req, const char *key,
                                   struct policy_payload *ret);

/* Read the body of a PATCH, a JSON Merge Patch (RFC 7396). AZ_MEDIA_TYPE: the content type is
 * neither application/merge-patch+json nor application/json; AZ_INVALID_FIELDS: not a JSON object.
 */
enum az_status policy_patch_read(struct request *req, json_t **ret_patch);

/* Merge the patch into the row's payload. AZ_TOO_LARGE: the result exceeds
 * POLICY_DATA_PAYLOAD_MAX. */
enum az_status policy_patch_apply(struct request *req, const struct policy_row *row,
                                  const json_t *patch, json_t **ret_value, const char **ret_text);

/* Read the row of a key and its schema. The payload is NULL if there is no row, the schema if the
 * row has none. AZ_CONFLICT or AZ_PROTECTED: the key is reserved. */
enum az_status policy_payload_target(struct request *req, const char *key, struct policy_row *ret,
                                     const char **ret_schema);

/* Check the payload against the schema. AZ_UNPROCESSABLE, with {dataKey, failures} in the answer.
 */
enum az_status policy_payload_check(struct request *req, const char *key, const char *schema,
                                    const json_t *payload);

/* PolicyDataDto: the members of the body. */
extern const struct field_table policy_payload_table;

/* PolicyDataDto (specification 2.5). */
extern const struct field_table policy_payload_table;

#endif
