/* Spans of requests to a collector of OpenTelemetry (SVC_TRACES_URL; decisions.md "Traces"). */
#ifndef AZ_AUDIT_TRACES_H
#define AZ_AUDIT_TRACES_H

#include "base/op.h"

/* Requests whose traces one message to the collector holds. With ten spans each they have some MiB,
 * less than collectors accept. */
#define TRACES_BATCH 256

/* Seconds until a process that ended is started again. */
#define TRACES_SERVE_EVERY 5

/* Send traces as they arrive until the service stops: a process of its own, beside the workers.
 * What the collector does not take is counted and not sent again. */
void traces_serve(struct op *op);

#endif
