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

/* How a PATCH is written, by its content type. */
enum policy_patch {
    POLICY_PATCH_MERGE, /* RFC 7396: application/merge-patch+json, application/json */
    POLICY_PATCH_STEPS, /* RFC 6902: application/json-patch+json */
};

/* The body of a PATCH, raw until here. AZ_MEDIA_TYPE, or AZ_INVALID_FIELDS for what is no JSON. */
enum az_status policy_patch_read(struct request *req, enum policy_patch *ret_kind,
                                 json_t **ret_patch);

/*
 * The row's payload with the patch done. AZ_CONFLICT: a `test` does not hold; AZ_INVALID_FIELDS: an
 * operation cannot be done; AZ_TOO_LARGE.
 */
enum az_status policy_patch_apply(struct request *req, const struct policy_row *row,
                                  enum policy_patch kind, const json_t *patch, json_t **ret_value,
                                  const char **ret_text);

/* The row of a key (payload NULL when there is none) and its schema, or NULL. AZ_CONFLICT or
 * AZ_PROTECTED: the key cannot hold an operator's row. */
enum az_status policy_payload_target(struct request *req, const char *key, struct policy_row *ret,
                                     const char **ret_schema);

/* Holds the payload against the schema; AZ_UNPROCESSABLE with the answer's {dataKey, failures}. */
enum az_status policy_payload_check(struct request *req, const char *key, const char *schema,
                                    const json_t *payload);

#endif
