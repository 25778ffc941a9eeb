/* Answering a failure in the dialect of the request's row, by the table of outcomes. */
#ifndef AZ_HTTP_SERVE_FAILURE_H
#define AZ_HTTP_SERVE_FAILURE_H

#include "http/request.h"

/* Answer with the recorded fault of the request. Never fails: what cannot be written is left out.
 */
void respond_failure(struct request *req);

#endif
