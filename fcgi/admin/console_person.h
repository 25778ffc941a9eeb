/* GET /admin/session/start: a person signs in to the console at an identity provider
 * (gateway-admin.md 3.9). */
#ifndef AZ_ADMIN_CONSOLE_PERSON_H
#define AZ_ADMIN_CONSOLE_PERSON_H

#include "http/route.h"

extern const struct route_param console_start_params[];

/*
 * Send the browser to the provider of the parameter idp, or let the person choose one. Back from
 * there, the row svc.operator.controls.console gives the role: make a session of the console with a
 * new id and redirect to the console of this service, and to nowhere else. AZ_ROLE_REQUIRED: the
 * row gives the person none. AZ_NOT_FOUND: SVC_ADMIN_ENABLED is false. AZ_FOREIGN_PAGE: another
 * site sent the browser here.
 */
enum az_status console_start_handle(struct request *req);

#endif
