/* Identity providers: rows, and the list that a process remembers while nothing has changed. */
#ifndef AZ_STORE_PEOPLE_IDENTITY_PROVIDERS_H
#define AZ_STORE_PEOPLE_IDENTITY_PROVIDERS_H

#include <jansson.h>
#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"

/* As stored. NULL: empty. */
struct identity_provider {
    int64_t id;                         /* internal key */
    int64_t version;                    /* changes with every update */
    const char *idp_id;                 /* name in paths */
    const char *name;                   /* for people; NULL: show idp_id */
    const char *issuer;                 /* its iss, byte for byte */
    const char *client_id;              /* ours there */
    const unsigned char *secret_sealed; /* ours there, sealed; NULL: public client with PKCE */
    size_t secret_length;               /* octets */
    const char *authorization_endpoint; /* empty ones come from discovery (oidc/upstream.h) */
    const char *token_endpoint;
    const char *userinfo_endpoint;
    const char *jwks_uri;
    const char **scopes;      /* NULL at the end; NULL: openid profile email */
    json_t *authorize_params; /* object of strings, or NULL */
    bool enabled;             /* false: no sign-ins, its sessions are over */
};

/* Columns of `identity_provider p` that identity_provider_read() takes, for statements that read a
 * row beside other things. */
#define IDENTITY_PROVIDER_COLUMNS                                                                  \
    "p.id, p.version, p.idp_id, p.name, p.issuer, p.client_id, p.secret_sealed,"                   \
    " p.authorization_endpoint, p.token_endpoint, p.userinfo_endpoint, p.jwks_uri,"                \
    " to_json(p.scopes) AS scopes, p.authorize_params, p.enabled"

/* A row whose columns begin at `first`; texts live on mem. A fault is set. */
enum az_status identity_provider_read(struct op *op, TALLOC_CTX *mem, const PGresult *result,
                                      int row, int first, struct identity_provider *ret);

/* Where a secret is sealed, so that one that is moved to another row does not open. NULL: no
 * memory. */
const char *identity_provider_secret_place(TALLOC_CTX *mem, const char *idp_id);

/* All of them, oldest first. */
struct identity_providers {
    int64_t version;                          /* last value of the sequence when they were read */
    size_t count;                             /* entries */
    const struct identity_provider *provider; /* array */
};

/* The providers: from the process's memory unless `fresh` or nothing is remembered, else read (one
 * trip). A list without an enabled one is not remembered: nothing is written on the ground of it
 * that could find out that it is old. Lives at least to the end of the operation. Who writes on the
 * ground of it re-checks the version in its statement. */
enum az_status identity_providers_get(struct op *op, bool fresh,
                                      const struct identity_providers **ret);

#endif
