/* Finding tokens for introspection. */
#ifndef AZ_STORE_TOKENS_TOKENS_FIND_H
#define AZ_STORE_TOKENS_TOKENS_FIND_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "crypto/token.h"
#include "store/clients/clients.h"

struct db_batch;
struct grant_row;

/* A live token. */
struct token_row {
    bool found;                    /* id, secret, expiry, revocation and client are all right */
    const char *flow_id;           /* of the request that issued it; NULL: it was not found */
    const char *dead;              /* for the log: why the token is not live; NULL: found */
    struct client client;          /* the client, as the row is now (no secrets) */
    int64_t issued_at, expires_at; /* seconds since 1970 */
    bool jit;                      /* single use */
    const char *subject;           /* subject, or client_id if the token is the client's own */
    const char *scope;             /* granted, space-separated */
    const char *resource;          /* or NULL */
    const char *jkt;               /* thumbprint of its DPoP key; NULL: a bearer token */
    json_t *act;                   /* its act claim, object, or NULL */
    const unsigned char *output;   /* packed pdpOutput */
    size_t output_length;          /* octets */
    const unsigned char *input;  /* packed pdpInput from the audit row; NULL if that row is gone */
    size_t input_length;         /* octets */
    const unsigned char *family; /* id of its family, UUID7_OCTETS, or NULL */
    int64_t provider;            /* row of its person\'s identity provider, or 0 */
    const char *idp;             /* idpId of its user's provider, or NULL */
    json_t *claims;              /* claims of the user, object, or NULL */
    json_t *delegation;          /* active delegations to its client and subject: array, or NULL */
    const struct grant_row *grant; /* family of a refresh token; NULL for an access token */
};

/* Input and output of the first trip of an introspection. */
struct token_lookup {
    const struct token_parts
        *token;           /* token of the request; NULL if the text was not one of our tokens */
    enum token_kind kind; /* TOKEN_ACCESS or TOKEN_REFRESH */
    const struct token_parts *caller_token; /* token of a Bearer caller, or NULL */
    const struct client *caller;            /* Basic caller as cached, or NULL */
    const char *stated; /* id of the resource whose delegations are looked up by key; NULL: no such
                           resource is named */
    bool may_lag; /* a standby may answer (store/db/connect/db_standby.h), if it has the rows */
    /* Adds a statement to the trip, whose result the caller reads afterwards, or NULL. The trip may
     * be made twice, and each time has its own batch. */
    void (*join)(struct db_batch *batch, void *arg);
    void *join_arg;              /* for join */
    struct token_row row;        /* out: the token */
    struct token_row caller_row; /* out: the caller's token */
    bool caller_current;         /* out: the cached caller is still the row in the database */
    const char *acceptable;      /* out: revisions that may decide, as PostgreSQL prints text[] */
};

/* Read all of it in one trip. A token of an unknown partition costs nothing. */
enum az_status token_find(struct op *op, struct token_lookup *lookup);

/* True if a revision is in the list of token_lookup.acceptable. */
bool token_revision_acceptable(const char *acceptable, const char *revision);

#endif
