/* The failures that a row of the routing table may answer, from what the row declares and from the
 * table of outcomes (base/status.h). */
#ifndef AZ_HTTP_API_FAILURES_H
#define AZ_HTTP_API_FAILURES_H

#include "base/json/jsonx.h"
#include "http/route.h"

/* Set the failures of a row in `answers`, each a reference to one in `responses`, which is added.
 * An object is marked as lost if a value could not be added to it. */
void failures_describe(struct jsonx_build *schemas, struct jsonx_build *responses,
                       const struct route *route, struct jsonx_build *answers);

#endif
