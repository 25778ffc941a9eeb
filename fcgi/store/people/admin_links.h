/* One-time links to the console, each of an admin key (gateway-admin.md 3.9). The database has the
 * hash of the secret, and the statement that finds a link deletes it. */
#ifndef AZ_STORE_PEOPLE_ADMIN_LINKS_H
#define AZ_STORE_PEOPLE_ADMIN_LINKS_H

#include "crypto/digest.h"
#include "store/people/admin_keys.h"

/* Seconds for which a link is valid: long enough to copy it from a terminal to a browser. */
#define ADMIN_LINK_VALIDITY (10 * 60)

/* Store the link of a valid key; *ret_ends is its end as text. Links that have ended are removed.
 * AZ_NOT_FOUND: there is no such key, or it is revoked or has ended. One trip. */
enum az_status admin_link_make(struct op *op, const unsigned char hash[SHA256_OCTETS],
                               const char *key_id, const char **ret_ends);

/* Use a link up and find its key. The id stays NULL: there is no such link of this issuer, its time
 * is over, or its key is not valid. One trip. */
enum az_status admin_link_use(struct op *op, const unsigned char hash[SHA256_OCTETS],
                              struct admin_key *ret);

#endif
