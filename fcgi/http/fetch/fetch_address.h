/* Which addresses a server of somebody else may have: those of the public Internet alone. */
#ifndef AZ_HTTP_FETCH_FETCH_ADDRESS_H
#define AZ_HTTP_FETCH_FETCH_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

/*
 * Whether the address, of `length` octets, is public: in none of the ranges of the IANA
 * special-purpose registries (RFC 6890; loopback, private, link-local, shared, documentation,
 * benchmarking, multicast ...), in none where a cloud keeps its metadata. An IPv6 address that
 * carries an IPv4 one is as public as that one where the system itself goes there (IPv4-mapped,
 * NAT64), and not public where a tunnel would. Anything but IPv4 and IPv6 is not public.
 */
bool fetch_address_is_public(const struct sockaddr *address, size_t length);

#endif
