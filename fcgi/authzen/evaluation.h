/* POST /access/v1/evaluation and /access/v1/evaluations (AuthZEN 1.0, 6 and 7). */
#ifndef AZ_AUTHZEN_EVALUATION_H
#define AZ_AUTHZEN_EVALUATION_H

#include "http/route.h"

/* The caller: a Bearer token with scope authzen, or Basic of an entitled client (specification 5).
 */
extern const struct route_credential credential_authzen;

/* Decide one access evaluation, and a batch of them (AuthZEN 1.0). */
enum az_status evaluation_handle(struct request *req);
enum az_status evaluations_handle(struct request *req);

#endif
