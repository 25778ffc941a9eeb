/* Access tokens at upstreams, of the gateway itself and of persons, sealed, so that all workers and
 * hosts share them. */
#ifndef AZ_STORE_GATEWAY_UPSTREAM_TOKENS_H
#define AZ_STORE_GATEWAY_UPSTREAM_TOKENS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"

struct managed_resource;

/* Octets of the digest that names the owner of a token. */
#define UPSTREAM_OWNER_OCTETS 32

/* A token; on op->mem, wiped when that ends. */
struct upstream_token {
    const char *token; /* or NULL */
    int64_t seconds;   /* until it expires */
};

/* Find the token of an owner (UPSTREAM_OWNER_OCTETS; NULL: the gateway itself) at a resource,
 * fetched for this version of it, that is good for `least` seconds more. One that does not open
 * (another SVC_CREDENTIAL_KEY) counts as absent. One trip. */
enum az_status upstream_token_find(struct op *op, const struct managed_resource *resource,
                                   const unsigned char *owner, int64_t least,
                                   struct upstream_token *ret);

/*
 * Take the lease to fetch a token for an owner, so that one process asks and the others find what
 * it stored; it ends after `seconds` if its process died. *ret_taken false: another process has it,
 * or the resource was deleted. One trip.
 */
enum az_status upstream_token_lease(struct op *op, const struct managed_resource *resource,
                                    const unsigned char *owner, int64_t seconds, bool *ret_taken);

/* Give the lease back without a token. One trip. */
enum az_status upstream_token_release(struct op *op, const struct managed_resource *resource,
                                      const unsigned char *owner);

/* Store the token of an owner at a resource in place of the one that is there, and give the lease
 * back. One trip. */
enum az_status upstream_token_store(struct op *op, const struct managed_resource *resource,
                                    const unsigned char *owner, const struct upstream_token *token);

/* Delete those that expired (housekeeping). */
enum az_status upstream_tokens_purge(struct op *op);

#endif
