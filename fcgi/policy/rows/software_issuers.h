/* The check of two rows against each other: a software binding names its issuers as soon as several
 * statement issuers are trusted (decisions.md "Software bindings"). */
#ifndef AZ_POLICY_ROWS_SOFTWARE_ISSUERS_H
#define AZ_POLICY_ROWS_SOFTWARE_ISSUERS_H

#include <jansson.h>
#include <talloc.h>

#include "base/status.h"

#define SOFTWARE_BINDINGS_ROW "svc.entitlements.bindings"
#define SOFTWARE_TRUST_ROW "svc.operator.controls.trust"

/*
 * Judge the payloads of both rows as they would be after a save of `data_key`, one of the two. NULL
 * payloads are rows that do not exist. AZ_OK; AZ_INVALID with *ret_failures, an array of {path,
 * message} on mem with one entry for each binding without issuers, as places of the saved row;
 * AZ_SERVER_ERROR: no memory.
 */
enum az_status software_issuers_judge(TALLOC_CTX *mem, const char *data_key, const json_t *bindings,
                                      const json_t *trust, json_t **ret_failures);

#endif
