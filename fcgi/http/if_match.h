/* The precondition of a request (RFC 9110 13.1.1). */
#ifndef AZ_HTTP_IF_MATCH_H
#define AZ_HTTP_IF_MATCH_H

#include <stdbool.h>

#include "http/request.h"

/* Check If-Match against the digest of the stored row (NULL: no row is stored); AZ_OK without the
 * header. AZ_PRECONDITION_FAILED, also for a header that is too long to be read. */
enum az_status request_if_match(struct request *req, const char *digest);

/* True if the caller sent If-Match. */
bool request_has_if_match(struct request *req);

#endif
