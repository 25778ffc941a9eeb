/* The client address of a request. */
#ifndef AZ_HTTP_ADDRESS_H
#define AZ_HTTP_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
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

/* True if an address is in a list of addresses that are separated by commas. NULL, or an entry that
 * is no address, is never in it. */
bool address_is_listed(const char *address, const char *list);

/* Octets of the longest address. */
#define ADDRESS_OCTETS_MAX 16

/* Write the octets by which an address is counted and return their number: all of IPv4, the first
 * 64 bits of IPv6 (one subscriber owns a /64), none of NULL. */
size_t address_counted(const char *address, unsigned char ret[ADDRESS_OCTETS_MAX]);

#endif
