/* The client address of a request. */
#ifndef AZ_HTTP_ADDRESS_H
#define AZ_HTTP_ADDRESS_H

#include <talloc.h>

/*
 * Return the client's address, in canonical text on mem: that of the connection or, behind
 * `trusted` proxies, the entry of X-Forwarded-For that many from the right (specification 8);
 * without that header, the connection's. NULL: the entry is missing or malformed. The connection's
 * address is no substitute then, because it is the proxy's own, which rules may trust. Callers
 * without an address share one counter, and rules about addresses deny.
 */
const char *address_of_client(TALLOC_CTX *mem, const char *remote, const char *forwarded,
                              long trusted);

#endif
