/* The address a request is counted under. */
#ifndef AZ_HTTP_ADDRESS_H
#define AZ_HTTP_ADDRESS_H

#include <talloc.h>

/*
 * The client's address: that of the connection, or, behind `trusted` proxies, the entry of
 * X-Forwarded-For that many from the right (specification 8); without that header the connection's.
 * An entry that is missing or no address is nobody's: the connection would be the proxy's own
 * address, which rules may trust. Canonical text on mem; NULL when there is none: such callers
 * share one counter, and rules about addresses deny.
 */
const char *address_of_client(TALLOC_CTX *mem, const char *remote, const char *forwarded,
                              long trusted);

#endif
