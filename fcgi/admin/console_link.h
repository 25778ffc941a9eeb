/* One-time links that sign a browser in to the console (gateway-admin.md 3.9). */
#ifndef AZ_ADMIN_CONSOLE_LINK_H
#define AZ_ADMIN_CONSOLE_LINK_H

#include "http/request.h"

/* Random octets of a link: too many to guess. */
#define CONSOLE_LINK_OCTETS 32

/* Make a link for the key of the path. Answer 201 {url, expiresAt}, or 404. The secret stands in
 * the fragment of the address, which a browser sends to no server. */
enum az_status console_link_make_handle(struct request *req);

/* Set req->admin to the key of the link in the header X-Authz-Console-Link, and use the link up.
 * The id stays NULL without the header and for a link that is not valid. AZ_FOREIGN_PAGE: the page
 * that sent it is not of the issuer; the link stays. */
enum az_status console_link_find(struct request *req);

#endif
