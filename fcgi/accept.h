/* The loop over requests, which come from a FastCGI socket or, if there is none, as one plain CGI
 * request; and what is done between their answers. */
#ifndef AZ_ACCEPT_H
#define AZ_ACCEPT_H

#include <stdbool.h>

#include "base/op.h"

/* True if descriptor 0 is not a FastCGI socket, so that this process answers one CGI request. */
bool accept_is_cgi(void);

/* Answer the one request of a CGI process. */
void accept_cgi(struct az *az);

/* Accept and answer requests on a listening socket until *az->stopping is set. */
void accept_loop(struct az *az, int socket);

#endif
