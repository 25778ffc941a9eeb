/* Declarations that the files of a transfer share. */
#ifndef AZ_GATEWAY_UPSTREAM_TRANSFER_PRIVATE_H
#define AZ_GATEWAY_UPSTREAM_TRANSFER_PRIVATE_H

#include "gateway/upstream/transfer.h"

/* Set all options of libcurl for the request. False: no memory, or libcurl lacks one. */
bool transfer_prepare(struct upstream_transfer *transfer);

/* Note that the exchange went on, so that the time limit of a pause begins again. */
void transfer_went_on(struct upstream_transfer *transfer);

#endif
