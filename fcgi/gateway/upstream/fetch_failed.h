/* Failures of a fetch from an upstream or its authorization server. */
#ifndef AZ_GATEWAY_UPSTREAM_FETCH_FAILED_H
#define AZ_GATEWAY_UPSTREAM_FETCH_FAILED_H

#include "base/op.h"
#include "http/fetch/fetch.h"

/* Return the status that a failed fetch has for an upstream, and give it to the fault too:
 * AZ_UPSTREAM_TIMEOUT or AZ_UPSTREAM_UNREACHABLE in place of AZ_UNAVAILABLE. Faults of this
 * service, and AZ_BUSY, stay as they are. */
enum az_status upstream_fetch_failed(struct op *op, enum az_status st, enum fetch_fault fault);

#endif
