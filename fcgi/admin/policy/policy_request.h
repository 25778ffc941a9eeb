/* Parts that the operations on rules and on data rows share. */
#ifndef AZ_ADMIN_POLICY_POLICY_REQUEST_H
#define AZ_ADMIN_POLICY_POLICY_REQUEST_H

#include "http/request.h"

/* Answer with the JSON text of a rule or row, and its digest as ETag. */
enum az_status policy_respond(struct request *req, int status, const char *dto, const char *digest);

#endif
