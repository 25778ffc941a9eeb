/* The page on which a person approves or denies CIBA requests (gateway-admin.md 4.2, channel B). It
 * stands below /authorize, because that alone has a browser session (specification 5.7). */
#ifndef AZ_OIDC_CIBA_PAGE_H
#define AZ_OIDC_CIBA_PAGE_H

#include "http/route.h"

extern const struct route_param ciba_page_params[];
extern const struct route_param ciba_form_params[];

/* Show a request that waits for the signed-in person, or the list of them. Without a session, the
 * person signs in first. It changes nothing. */
enum az_status ciba_show_handle(struct request *req);

/* Take the answer of the form. */
enum az_status ciba_answer_handle(struct request *req);

#endif
