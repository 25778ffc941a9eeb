/* The consent page: the user sees what a client asks for before a code is issued (decisions.md
 * "Browser side"). */
#ifndef AZ_OIDC_CONSENT_H
#define AZ_OIDC_CONSENT_H

#include "http/route.h"

/* Parameters of the page and of its form. */
extern const struct route_param consent_params[];
extern const struct route_param consent_form_params[];

/* GET /authorize/consent?id=: show the request that waits for this browser's session. */
enum az_status consent_show_handle(struct request *req);

/* POST /authorize/consent: take the user's answer. Only the first answer counts. */
enum az_status consent_answer_handle(struct request *req);

#endif
