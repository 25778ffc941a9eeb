/*
 * Client metadata of a registration (RFC 7591 section 2; specification 2.2; oauth.md 3.5): which
 * members there are, what they must be, and the rules between them. Knows nothing of HTTP, nor of
 * policy.
 */
#ifndef AZ_OAUTH_REGISTER_METADATA_H
#define AZ_OAUTH_REGISTER_METADATA_H

#include <jansson.h>
#include <stdbool.h>

#include "base/op.h"

/* Addresses of one client's contacts, and code points of each: a page shows them. */
#define REGISTER_CONTACTS_MAX 20
#define REGISTER_CONTACT_MAX 256

/* What metadata are held against beside the table. */
struct register_rules {
    long max_redirect_uris;         /* SVC_MAX_REDIRECT_URIS */
    const char *const *grant_types; /* those that work, NULL at the end */
    bool private_key_jwt;           /* client assertions work */
    bool dpop;                      /* DPoP works */
};

/* Metadata that are good, defaults filled in. Values are borrowed from `members`. */
struct register_metadata {
    json_t *members;         /* all that is registered, by its name on the wire; on op->mem */
    json_t *redirect_uris;   /* array, never empty */
    json_t *grant_types;     /* array, never empty */
    json_t *response_types;  /* array: ["code"], or empty */
    json_t *scopes;          /* words of scope, on op->mem; NULL: none was named */
    const char *auth_method; /* token_endpoint_auth_method */
    const char *client_name; /* or NULL */
    bool confidential;       /* it gets a secret, or has keys */
};

/*
 * Reads metadata. `claims` are those of a software statement, or NULL: what they say takes the
 * place of what is sent beside them (RFC 7591 section 2.3), and software_id and software_version
 * count from them alone. Unknown members are ignored, null and "" are absent.
 * AZ_INVALID_REDIRECT_URI or AZ_INVALID_CLIENT_METADATA with a public text that names the member.
 */
enum az_status register_metadata_read(struct op *op, const json_t *plain, const json_t *claims,
                                      const struct register_rules *rules,
                                      struct register_metadata *ret);

#endif
