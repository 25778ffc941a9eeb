/* The address a request is counted under. */
#ifndef AZ_HTTP_ADDRESS_H
#define AZ_HTTP_ADDRESS_H

#include <talloc.h>

/*
 * The client's address: that of the connection, or, behind `trusted` proxies, the entry of
 * X-Forwarded-For that many from the right (specification 8). An entry that is no address (a caller
 * can send anything further left, and a proxy's own mistake must not open the limit) falls back to
 * the connection. Canonical text on mem; NULL when there is none.
 */
const char *address_of_client(TALLOC_CTX *mem, const char *remote, const char *forwarded,
                              long trusted);

#endif
