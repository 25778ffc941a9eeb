/* How a failure looks: in the dialect of the request's row, from the table of outcomes. */
#ifndef AZ_HTTP_FAILURE_H
#define AZ_HTTP_FAILURE_H

#include "http/request.h"

/* Answers with the recorded fault of the request. Never fails: what cannot be written is left out.
 */
void respond_failure(struct request *req);

#endif
