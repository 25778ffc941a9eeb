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

/* Find the registration of a resource at an issuer, made with this redirect_uri, whose secret has
 * not expired. */
enum az_status registration_find(struct op *op, const char *resource, const char *issuer,
                                 const char *redirect_uri, struct registration *ret);

/* Begin a transaction and keep other requests from registering the same meanwhile; the caller ends
 * it with db_end(). */
enum az_status registration_lock(struct op *op, const char *resource, const char *issuer);

/* Store a registration in place of an earlier one. */
enum az_status registration_store(struct op *op, const char *resource, const char *issuer,
                                  const char *redirect_uri, const struct registration *made);

/* Delete a registration that the server no longer knows. */
enum az_status registration_forget(struct op *op, const char *resource, const char *client_id);

#endif
