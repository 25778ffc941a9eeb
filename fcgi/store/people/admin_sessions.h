/* Sessions of the console: a cookie, of which the hash is stored, for an admin key or for a person
 * who signed in at an identity provider (gateway-admin.md 3.9). A session lives as long as its key
 * or its sign-in is valid and gives the role that it gave at the beginning. */
#ifndef AZ_STORE_PEOPLE_ADMIN_SESSIONS_H
#define AZ_STORE_PEOPLE_ADMIN_SESSIONS_H

#include "crypto/digest.h"
#include "store/people/admin_keys.h"

/* Seconds without a request after which a session ends, as is usual at banks. The last request is
 * noted once a minute, so a session may end up to a minute earlier. */
#define ADMIN_SESSION_IDLE (30 * 60)
/* Seconds after which it ends in any case: a working day. */
#define ADMIN_SESSION_LIFE (8 * 60 * 60)

/* The sign-in of a session, and what decides about its role. On op->mem. */
struct admin_sign_in {
    const char *subject;  /* NULL: the session is of a key */
    const char *idp_id;   /* where the person signed in */
    json_t *claims;       /* object: claims of the last sign-in */
    json_t *grants;       /* row svc.operator.controls.console, or NULL */
    enum admin_role role; /* at the beginning of the session */
};

/* Begin a session of a valid key, or of the sign-in `sign_in` (hash of the cookie of
 * store/people/sessions.h; NULL: of a key). `before` is the hash of the session that the browser
 * had, which ends, or NULL. Sessions that are over are removed. One trip. */
enum az_status admin_session_begin(struct op *op, const unsigned char hash[SHA256_OCTETS],
                                   const unsigned char *before, const struct admin_key *key,
                                   const unsigned char *sign_in);

/* Find the key or the sign-in of a live session, and note its use. Both have no name (id,
 * subject) if there is no such session. ret->role is that of a key; the caller finds that of a
 * person. One trip. */
enum az_status admin_session_find(struct op *op, const unsigned char hash[SHA256_OCTETS],
                                  struct admin_key *ret, struct admin_sign_in *ret_sign_in);

/* Read the row svc.operator.controls.console, or NULL. One trip. */
enum az_status admin_grants_read(struct op *op, json_t **ret);

/* Read the times of a session as a JSON object, or NULL: createdAt, idleUntil, expiresAt. */
enum az_status admin_session_times(struct op *op, const unsigned char hash[SHA256_OCTETS],
                                   const char **ret);

/* End a session, if there is one. */
enum az_status admin_session_end(struct op *op, const unsigned char hash[SHA256_OCTETS]);

#endif
