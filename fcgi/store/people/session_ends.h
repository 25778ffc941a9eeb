/* The end of browser sessions: logout, an operator's word, expiry. */
#ifndef AZ_STORE_PEOPLE_SESSION_ENDS_H
#define AZ_STORE_PEOPLE_SESSION_ENDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"
#include "store/db/json_rows.h"

/* A session that was ended: what the provider's own logout wants to know. */
struct session_end {
    bool found;           /* there was one */
    const char *subject;  /* whose */
    int64_t idp;          /* identity_provider.id */
    const char *id_token; /* the provider's; wiped with op->mem; NULL: none that opens */
};

/* Ends the session of a cookie's hash, and the one an ID token of ours names by `sid` for `subject`
 * (each may be NULL). One trip; *ret is of the cookie's when there were two. The cookie's is not
 * found when it had expired. */
enum az_status session_end(struct op *op, const unsigned char *id_hash, const char *sid,
                           const char *subject, struct session_end *ret);

/* What a logout looks at before it does anything. */
struct logout_facts {
    const char *subject; /* of the cookie's session, or NULL: it has none that lives */
    const char *label;   /* how people know that subject, or NULL */
    int64_t idp;         /* identity_provider.id of that session; 0: none */
    bool client;         /* the client is there and enabled */
    bool public_client;  /* its type */
    const char *name;    /* client_name, or NULL */
    const char **uris;   /* its postLogoutRedirectUris, NULL at the end; NULL: no client */
};

/* Reads them; id_hash and client_id may be NULL. One trip. */
enum az_status logout_facts_fetch(struct op *op, const unsigned char *id_hash,
                                  const char *client_id, struct logout_facts *ret);

/* Live sessions, for the administrator: {sid, subjectId, idpId, authTime, createdAt, expiresAt},
 * keyed by sid, the newest 1000 first, filtered by subject. A delete ends a session. */
extern const struct json_rows session_rows;

#endif
