/* Parts that the operations on rules and on data rows share. */
#ifndef AZ_ADMIN_POLICY_POLICY_REQUEST_H
#define AZ_ADMIN_POLICY_POLICY_REQUEST_H

#include <stdbool.h>

#include "http/request.h"

/* Check If-Match against the digest of the stored row (NULL: there is none); AZ_OK without the
 * header. AZ_PRECONDITION_FAILED, also for a header that is too long to be read. */
enum az_status policy_if_match(struct request *req, const char *digest);

/* True if the caller sent If-Match. */
bool policy_has_if_match(struct request *req);

/* Answer with the JSON text of a rule or row, and its digest as ETag. */
enum az_status policy_respond(struct request *req, int status, const char *dto, const char *digest);

/* Fail with the fault of one field. Return AZ_INVALID_FIELDS. */
enum az_status policy_invalid_field(struct request *req, const char *field, const char *why);

#endif
