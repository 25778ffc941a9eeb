/* The page on which a person connects an account (gateway-admin.md 3.5, steps 1 to 4). */
#ifndef AZ_GATEWAY_LINK_PAGE_H
#define AZ_GATEWAY_LINK_PAGE_H

#include "http/route.h"

extern const struct route_param link_page_params[];
extern const struct route_param link_form_params[];

/* Show what would be connected. Without a session, the person signs in first. It changes nothing.
 */
enum az_status link_show_handle(struct request *req);

/* Take the answer: Connect sends the browser to the upstream, or asks for the secret; Cancel ends
 * the link; the secret is stored. */
enum az_status link_answer_handle(struct request *req);

#endif
