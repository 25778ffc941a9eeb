/* Faults of identity providers that do not heal by themselves (world.md W3). */
#ifndef AZ_STORE_PEOPLE_PROVIDER_FAULTS_H
#define AZ_STORE_PEOPLE_PROVIDER_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"

/* Note a fault of a provider. At most one write for each code and minute, because anybody can begin
 * a sign-in; the number counts such minutes. A fault that had not come for a day begins anew. */
enum az_status provider_fault_note(struct op *op, int64_t idp, const char *code);

/* *ret_had: an answer of the provider's userinfo has been joined, since its row had these scopes
 * (world.md U2; noted by session_create()). */
enum az_status provider_userinfo_had(struct op *op, int64_t idp, bool *ret_had);

#endif
