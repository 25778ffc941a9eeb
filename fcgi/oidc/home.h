/* GET /: the address of the service itself. */
#ifndef AZ_OIDC_HOME_H
#define AZ_OIDC_HOME_H

#include "http/request.h"

/*
 * Answer a browser with a page that names the issuer and links to discovery and health. It shows
 * nothing that discovery does not publish. A caller that does not prefer HTML gets the 404 of a
 * path that does not exist (decisions.md "Start page").
 */
enum az_status home_handle(struct request *req);

#endif
