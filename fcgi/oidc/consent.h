/* The consent page: what a client asks for, shown to the user before a code is issued (decisions.md
 * "Browser side"). */
#ifndef AZ_OIDC_CONSENT_H
#define AZ_OIDC_CONSENT_H

#include "http/route.h"

/* Parameters of the page and of its form. */
extern const struct route_param consent_params[];
extern const struct route_param consent_form_params[];

/* GET /authorize/consent?id=: the page of a request that waits for this browser's session. */
enum az_status consent_show_handle(struct request *req);

/* POST /authorize/consent: the answer. The first one counts. */
enum az_status consent_answer_handle(struct request *req);

#endif
