/* Our own registrations at the authorization servers of upstreams (RFC 7591). */
#ifndef AZ_STORE_GATEWAY_REGISTRATIONS_H
#define AZ_STORE_GATEWAY_REGISTRATIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"

/* A registration; on op->mem. */
struct registration {
    bool found;
    const char *client_id;
    const char *auth_method;   /* token_endpoint_auth_method */
    const char *secret;        /* secret, or NULL */
    int64_t secret_expires_at; /* seconds since 1970; 0: never */
};

/* The resource and the addresses that a registration is for. */
struct registration_key {
    const char *resource;
    const char *issuer;
    const char *endpoints; /* those that the resource sets in place of the issuer's, or "": the
                              secret opens for these alone */
    const char *redirect_uri;
};

/* Find the registration whose secret has not expired. Without `found` the service registers again,
 * also if the resource sets other endpoints: the secret goes to none that it was not given for. */
enum az_status registration_find(struct op *op, const struct registration_key *key,
                                 struct registration *ret);

/* Begin a transaction and keep other requests from registering the same meanwhile; the caller ends
 * it with db_end(). */
enum az_status registration_lock(struct op *op, const struct registration_key *key);

/* Store a registration in place of an earlier one. */
enum az_status registration_store(struct op *op, const struct registration_key *key,
                                  const struct registration *made);

/* Delete a registration that the server no longer knows. */
enum az_status registration_forget(struct op *op, const char *resource, const char *client_id);

#endif
