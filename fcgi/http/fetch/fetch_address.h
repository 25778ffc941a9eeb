/* The check that another server's address is on the public Internet. */
#ifndef AZ_HTTP_FETCH_FETCH_ADDRESS_H
#define AZ_HTTP_FETCH_FETCH_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

/*
 * True if the address, of `length` octets, is public: in no range of the IANA special-purpose
 * registries (RFC 6890; loopback, private, link-local, shared, documentation, benchmarking,
 * multicast and others) and none where a cloud keeps its metadata. An IPv6 address that carries an
 * IPv4 address is as public as that one if the system itself connects to it (IPv4-mapped, NAT64),
 * and not public if a tunnel would. Other address families are not public.
 */
bool fetch_address_is_public(const struct sockaddr *address, size_t length);

/*
 * True if nothing may be asked at the address, whatever the operator allows: it is link-local (RFC
 * 3927, RFC 4291 2.5.6), or a cloud keeps the metadata of a machine there, with its credentials; so
 * are the IPv6 forms of such an IPv4 address, and other address families.
 */
bool fetch_address_is_forbidden(const struct sockaddr *address, size_t length);

#endif
