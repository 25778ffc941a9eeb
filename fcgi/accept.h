/* Where requests come from: the FastCGI socket (libfcgi) or, when there is none, one plain CGI
 * request. */
#ifndef AZ_ACCEPT_H
#define AZ_ACCEPT_H

#include <stdbool.h>

#include "base/op.h"

/* True when descriptor 0 is no FastCGI socket, so that this process must answer one CGI request. */
bool accept_is_cgi(void);

/* Answers the one request of a CGI process. */
void accept_cgi(struct az *az);

/* Accepts and answers requests on a listening socket until *az->stopping. */
void accept_loop(struct az *az, int socket);

#endif
