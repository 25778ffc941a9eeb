/* Networks: addresses with a prefix length, as settings name them. */
#ifndef AZ_BASE_NETWORK_H
#define AZ_BASE_NETWORK_H

#include <stdbool.h>
#include <talloc.h>

/*
 * Return the first entry of a list of networks, separated by commas or blanks, that is none, or
 * NULL. An entry is an IPv4 or IPv6 address, or one with / and a prefix length that leaves no bit
 * of the address set behind it. On mem.
 */
const char *network_list_fault(TALLOC_CTX *mem, const char *list);

/* True if an address is in a network of the list. NULL, an entry that is no network, and an address
 * of the other family are never in it. */
bool network_list_has(const char *list, const char *address);

/* True for 127.0.0.0/8 and ::1; false for NULL. */
bool network_is_loopback(const char *address);

#endif
