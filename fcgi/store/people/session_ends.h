/* Ending browser sessions: by logout or by the administrator. */
#ifndef AZ_STORE_PEOPLE_SESSION_ENDS_H
#define AZ_STORE_PEOPLE_SESSION_ENDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json/fields.h"
#include "base/op.h"
#include "store/db/rows/json_rows.h"

/* A session that was ended, with the values that a logout at its provider needs. */
struct session_end {
    bool found;           /* there was a session */
    const char *subject;  /* its user */
    int64_t idp;          /* identity_provider.id */
    const char *id_token; /* ID token of the provider, wiped with op->mem; NULL if it is missing or
                             cannot be opened */
};

/* End the session of a cookie's hash, and the one that an ID token of ours names by `sid` for
 * `subject` (each may be NULL). One trip. *ret is the cookie's session if there were two. A
 * cookie's session that had expired is not found. */
enum az_status session_end(struct op *op, const unsigned char *id_hash, const char *sid,
                           const char *subject, struct session_end *ret);

/* Facts that a logout checks before it does anything. */
struct logout_facts {
    const char *subject; /* user of the cookie's live session, or NULL */
    const char *label;   /* name or address of that user, or NULL */
    int64_t idp;         /* identity_provider.id of that session, or 0 if there is none */
    bool client;         /* the client is there and enabled */
    bool by_admin;       /* an administrator registered it */
    const char *name;    /* client_name, or NULL */
    const char **uris;   /* its postLogoutRedirectUris; ends with NULL; NULL: no client */
};

/* Fetch these facts; id_hash and client_id may be NULL. One trip. */
enum az_status logout_facts_fetch(struct op *op, const unsigned char *id_hash,
                                  const char *client_id, struct logout_facts *ret);

/* Live sessions, for the administrator, and the members of one that programs may rely on: keyed by
 * sid, the newest first, filtered by subject. A delete ends a session. */
extern const struct json_rows session_rows;
extern const struct field_table session_view;

#endif
