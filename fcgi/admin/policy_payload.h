/* What is written to a data row: read from the request, and checked (specification 2.5, 7.2). */
#ifndef AZ_ADMIN_POLICY_PAYLOAD_H
#define AZ_ADMIN_POLICY_PAYLOAD_H

#include <jansson.h>

#include "http/request.h"
#include "store/policy/policy_rows.h"

/* A PolicyDataDto as it was sent. */
struct policy_payload {
    const char *data_key; /* which row */
    const char *text;     /* payload: JSON text */
    json_t *value;        /* the same, parsed */
    const char *version;  /* NULL: not given */
    bool has_in_bundle;   /* given */
    bool in_bundle;
};

/*
 * The body as a PolicyDataDto. With a key, the body's must be the same or absent; without one it is
 * required. AZ_INVALID_FIELDS: every fault is in the answer's fieldErrors.
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

/* The row of a key (payload NULL when there is none) and its schema, or NULL. AZ_CONFLICT or
 * AZ_PROTECTED: the key cannot hold an operator's row. */
enum az_status policy_payload_target(struct request *req, const char *key, struct policy_row *ret,
                                     const char **ret_schema);

/* Holds the payload against the schema; AZ_UNPROCESSABLE with the answer's {dataKey, failures}. */
enum az_status policy_payload_check(struct request *req, const char *key, const char *schema,
                                    const json_t *payload);

#endif
