/* /account: what a person has here, and can end (decisions.md "Account page"). */
#ifndef AZ_OIDC_ACCOUNT_H
#define AZ_OIDC_ACCOUNT_H

#include "http/route.h"

extern const struct route_param account_params[];
extern const struct route_param account_form_params[];

/* Show the sessions, applications, connections, approvals and delegations of the signed-in person,
 * who signs in first. It changes nothing. */
enum az_status account_show_handle(struct request *req);

/* End what the form names, if it is the person's; then show the page again. */
enum az_status account_end_handle(struct request *req);

#endif
