/* The types of upstreamAuth and their members, as tables (gateway-admin.md 3.3). */
#ifndef AZ_MANAGED_AUTH_H
#define AZ_MANAGED_AUTH_H

#include "base/json/fields.h"
#include "managed/managed.h"

/* Most secrets of one resource. */
#define MANAGED_SECRETS_MAX 4

/* A secret member: {"clientSecret": "..."} is accepted, {"set": true} is shown. */
struct managed_secret_row {
    const char *name;   /* in the object of secrets: "clientSecret" */
    const char *member; /* member of upstreamAuth that holds it: the name, or "privateKeyJwt" */
    const char *inner;  /* member of that one: "key"; NULL: it is the text itself */
    size_t offset;      /* in struct managed_secrets */
};
extern const struct managed_secret_row managed_secret_rows[MANAGED_SECRETS_MAX];

/* True if the credential is shared by all callers: the upstream's refusal is an error of the
 * resource, not of a caller. */
bool managed_auth_is_shared(enum managed_auth_type type);

/* True if each person has a credential of his own, which a link connects (oauth_link, user_secret).
 */
bool managed_auth_is_linked(enum managed_auth_type type);

/* Read the opened secrets: an object of texts by name. AZ_INVALID: another kind of value. */
enum az_status managed_secrets_read(TALLOC_CTX *mem, const char *text, size_t length,
                                    struct managed_secrets *ret);

#endif
