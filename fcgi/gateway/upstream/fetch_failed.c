#include "config.h"

#include "gateway/upstream/fetch_failed.h"

enum az_status
upstream_fetch_failed(struct op *op, enum az_status st, enum fetch_fault fault)
{
    if (st != AZ_UNAVAILABLE || fault == FETCH_FAULT_OURS)
        return st;
    return az_fail_as(&op->fault,
                      fault == FETCH_FAULT_TIMEOUT ? AZ_UPSTREAM_TIMEOUT : AZ_UPSTREAM_UNREACHABLE,
                      NULL);
}
