/* Sessions of the console: an admin key exchanged for a cookie, of which the hash is stored
 * (gateway-admin.md 3.9). A session lives as long as its key is valid and has the role that it had
 * at the sign-in. */
#ifndef AZ_STORE_PEOPLE_ADMIN_SESSIONS_H
#define AZ_STORE_PEOPLE_ADMIN_SESSIONS_H

#include "crypto/digest.h"
#include "store/people/admin_keys.h"

/* Seconds without a request after which a session ends, as those of a bank do. The last request is
 * noted once a minute, so a session may end up to a minute earlier. */
#define ADMIN_SESSION_IDLE (30 * 60)
/* Seconds after which it ends in any case: a working day. */
#define ADMIN_SESSION_LIFE (8 * 60 * 60)

/* Begin a session of a valid key; `before` is the hash of the session that the browser had, which
 * ends, or NULL. Sessions that are over are removed. One trip. */
enum az_status admin_session_begin(struct op *op, const unsigned char hash[SHA256_OCTETS],
                                   const unsigned char *before, const struct admin_key *key);

/* Find the key of a live session, and note its use; ret->id stays NULL: there is no such session.
 * One trip. */
enum az_status admin_session_find(struct op *op, const unsigned char hash[SHA256_OCTETS],
                                  struct admin_key *ret);

/* Read the times of a session as a JSON object: createdAt, idleUntil, expiresAt; NULL: there is
 * none. */
enum az_status admin_session_times(struct op *op, const unsigned char hash[SHA256_OCTETS],
                                   const char **ret);

/* End a session, if there is one. */
enum az_status admin_session_end(struct op *op, const unsigned char hash[SHA256_OCTETS]);

#endif
