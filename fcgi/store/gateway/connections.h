/* Connections: the accounts of people at the upstreams of managed resources (gateway-admin.md 3.5).
 */
#ifndef AZ_STORE_GATEWAY_CONNECTIONS_H
#define AZ_STORE_GATEWAY_CONNECTIONS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"
#include "crypto/digest.h"

struct session;

/* The contents of a connection; each of them a secret, or NULL. */
struct connection_secrets {
    const char *access_token;  /* oauth_link */
    const char *refresh_token; /* oauth_link */
    const char *issuer;        /* of the server that gave the tokens; NULL: unknown */
    const char *revocation; /* revocationEndpoint of upstreamAuth at the time of the connection, ""
                               without one; NULL: unknown */
    const char *typed;      /* user_secret: what the person typed */
};

/* A connection as stored; on op->mem. */
struct connection {
    bool person; /* the subject is a person who signs in here */
    bool found;  /* there is a connection */
    bool active; /* false: the person must connect the account again; also if the secret does not
                    open, because SVC_CREDENTIAL_KEY was changed */
    int64_t id;
    int64_t idp; /* identity_provider.id of the person */
    unsigned char binding[SHA256_OCTETS];
    struct connection_secrets secrets;
    const unsigned char *sealed; /* the secrets as the row has them: its version */
    size_t sealed_length;
    json_t *scopes;       /* array */
    json_t *asked_scopes; /* array: what the person was asked for besides scopes of upstreamAuth */
    int64_t expires_at;   /* seconds since 1970; 0: never */
    int64_t refreshed_at; /* seconds since 1970; 0: never */
};

/* A connection that is made. */
struct connection_new {
    const char *subject;
    int64_t idp; /* identity_provider.id */
    const char *resource;
    const unsigned char *binding; /* SHA256_OCTETS */
    struct connection_secrets secrets;
    json_t *scopes;       /* array */
    json_t *asked_scopes; /* array, for connection_store(); or NULL */
    const char *account;  /* or NULL */
    int64_t expires_in;   /* seconds; 0: never */
};

/* Find the connection of a person with a resource, and note that it is used. One trip. */
enum az_status connection_find(struct op *op, const char *subject, const char *resource,
                               struct connection *ret);

/* Find the connections of a person with several resources, for which `ret` has room. They are not
 * noted as used. One trip. */
enum az_status connections_find(struct op *op, const char *subject, const char *const *resources,
                                size_t count, struct connection *ret);

/*
 * Take the lease to refresh a connection, so that of several requests one asks the token endpoint
 * and the others read what it stored. No transaction is open meanwhile; the lease of a process that
 * died ends after `seconds`. *ret_taken false: another process has it, or the secrets are not those
 * that were read any more. One trip.
 */
enum az_status connection_lease(struct op *op, const struct connection *connection, int64_t seconds,
                                bool *ret_taken);

/* Store the result of a refresh and give the lease back: tokens, their lifetime and, unless NULL,
 * the scopes. *ret_stored false: the secrets are not those that were read any more, and the row
 * stays as it is. */
enum az_status connection_renew(struct op *op, const struct connection *connection,
                                const struct connection_new *renewed, bool *ret_stored);

/* The meaning of a failed refresh for the connection. */
enum connection_failure {
    CONNECTION_STAYS,   /* the server did not say that anything has ended */
    CONNECTION_REFUSED, /* 400, 401 or 403 without a code that tells what is wrong (world.md M6) */
    CONNECTION_LOST,    /* the person must connect the account again */
};

/* Refusals after which a connection is lost, if the first of them is that old, in seconds. */
#define CONNECTION_REFUSALS_MAX 3
#define CONNECTION_REFUSED_SECONDS_MAX 600

/* Note that a refresh failed, and give the lease back. *ret_lost: the person must connect the
 * account again. Nothing is written if the secrets are not those that were read any more. */
enum az_status connection_fail(struct op *op, const struct connection *connection,
                               enum connection_failure how, const char *why, bool *ret_lost);

/* Store a connection in place of an earlier one of the same person and resource. *ret_stored false:
 * the person or the resource was deleted in between. */
enum az_status connection_store(struct op *op, const struct connection_new *connection,
                                bool *ret_stored);

/* List the connections of a signed-in person, as an array of {resource, displayName, account,
 * scopes, status, connectedAt, lastUsedAt}. */
enum az_status connections_of_person(struct op *op, const struct session *session, json_t **ret);

/* Delete the connections of a subject with a resource. *ret_removed counts them. */
enum az_status connections_remove(struct op *op, const char *resource, const char *subject,
                                  int64_t *ret_removed);

#endif
