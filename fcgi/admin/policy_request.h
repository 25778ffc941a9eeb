/* What the operations on rules and on data rows have alike. */
#ifndef AZ_ADMIN_POLICY_REQUEST_H
#define AZ_ADMIN_POLICY_REQUEST_H

#include <stdbool.h>

#include "http/request.h"

/* If-Match against the digest of what is there, or NULL when there is nothing; holds without the
 * header. AZ_PRECONDITION_FAILED; also for a header too long to be read. */
enum az_status policy_if_match(struct request *req, const char *digest);

/* Whether the caller sent If-Match. */
bool policy_has_if_match(struct request *req);

/* Answers with the JSON text of a rule or row, and its digest as ETag. */
enum az_status policy_respond(struct request *req, int status, const char *dto, const char *digest);

/* Names a field that is at fault; AZ_INVALID_FIELDS. */
enum az_status policy_invalid_field(struct request *req, const char *field, const char *why);

/* The same as fields_read() wants it; `arg` is the request. */
void policy_add_field_error(void *arg, const char *path, const char *why);

#endif
