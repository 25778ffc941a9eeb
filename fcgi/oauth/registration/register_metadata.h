/*
 * Client metadata of a registration (RFC 7591 section 2; specification 2.2; oauth.md 3.5): the
 * members, their rules, and the rules between them. This module does not depend on HTTP or on
 * policy.
 */
#ifndef AZ_OAUTH_REGISTRATION_REGISTER_METADATA_H
#define AZ_OAUTH_REGISTRATION_REGISTER_METADATA_H

#include <jansson.h>
#include <stdbool.h>

#include "base/op.h"

/* Most contacts of one client, and characters of each: a page shows them. */
#define REGISTER_CONTACTS_MAX 20
#define REGISTER_CONTACT_MAX 256

/* Parameters of the rules. */
struct register_rules {
    long max_redirect_uris;     /* SVC_MAX_REDIRECT_URIS */
    const char **id_token_algs; /* SVC_OIDC_ID_TOKEN_ALGS */
    bool dpop;                  /* SVC_DPOP_ENABLED */
};

/* Valid metadata with defaults. Values are borrowed from `members`. */
struct register_metadata {
    json_t *members;         /* registered members by their names on the wire; on op->mem */
    json_t *redirect_uris;   /* array, never empty */
    json_t *addresses;       /* redirect_uris and post_logout_redirect_uris, for policy */
    json_t *grant_types;     /* array, never empty */
    json_t *response_types;  /* array: ["code"], or empty */
    json_t *scopes;          /* words of scope, on op->mem, or NULL */
    const char *auth_method; /* token_endpoint_auth_method */
    const char *client_name; /* or NULL */
    bool confidential;       /* the client has a secret or keys */
    bool keyed;              /* it authenticates by its keys, and gets no secret */
};

/*
 * Read metadata. `claims` are those of a software statement, or NULL: they replace the members of
 * the request (RFC 7591 section 2.3), and software_id and software_version are taken from them
 * alone. Unknown members are ignored; null and "" count as absent. AZ_INVALID_REDIRECT_URI or
 * AZ_INVALID_CLIENT_METADATA with a public text that names the member.
 */
enum az_status register_metadata_read(struct op *op, const json_t *plain, const json_t *claims,
                                      const struct register_rules *rules,
                                      struct register_metadata *ret);

#endif
