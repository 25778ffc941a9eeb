/* Sign-ins that are at an identity provider: made when the browser leaves, taken once when it comes
 * back. The row stays until it expires, without what its callback needs. */
#ifndef AZ_STORE_PEOPLE_SIGN_INS_H
#define AZ_STORE_PEOPLE_SIGN_INS_H

#include <stdbool.h>
#include <stdint.h>

#include "crypto/digest.h"
#include "store/clients/clients.h"
#include "store/db/rows/audit.h"
#include "store/people/identity_providers.h"

/* Longest time that a browser may stay at the provider. Seconds (oauth.md 5). */
#define SIGN_IN_VALIDITY 600

struct sign_in_new {
    const unsigned char *state_hash;          /* SHA256_OCTETS of the upstream state */
    const unsigned char *browser_hash;        /* SHA256_OCTETS of the browser's cookie */
    const struct identity_provider *provider; /* as cached; the statement checks its version */
    int64_t providers_version;                /* version of the cached list; checked too */
    const struct client *client; /* as cached, checked too; id 0: the client has no row yet */
    const char *nonce;           /* nonce of the request to the provider */
    const char *verifier;        /* PKCE, sealed here */
    const char *request;         /* authorization_dump, JSON text */
};

/* Store the sign-in and its audit row in one commit and one trip. *ret_stored false: provider, list
 * or client have changed, and nothing was written. */
enum az_status sign_in_insert(struct op *op, const struct sign_in_new *sign_in,
                              const struct audit_entry *audit, bool *ret_stored);

/* The names by which a sign-in is found. */
struct sign_in_key {
    unsigned char state_hash[SHA256_OCTETS];   /* of the upstream state */
    unsigned char browser_hash[SHA256_OCTETS]; /* of the browser's cookie */
    const char *idp_id;                        /* of the provider that the browser comes from */
};

/* Find a waiting sign-in without removing it. *ret_request: JSON text for authorization_load, on
 * op->mem; NULL: this browser has no sign-in at this provider, or it has expired. One trip. */
enum az_status sign_in_find(struct op *op, const struct sign_in_key *key, const char **ret_request);

/* A sign-in that came back; on op->mem. */
struct sign_in {
    bool found;    /* there was one of this browser and provider, and it had not expired */
    bool disabled; /* ... but the provider was disabled in between */
    struct identity_provider provider; /* as the row is now */
    const char *nonce;                 /* nonce of the request to the provider */
    const char *verifier;              /* PKCE; wiped with op->mem */
};

/* Take the sign-in: of several requests, only one goes on. A state of another browser or provider
 * takes nothing. Mark, nonce and verifier leave the row. One trip. */
enum az_status sign_in_take(struct op *op, const struct sign_in_key *key, struct sign_in *ret);

/* Find the request of a sign-in that was taken and has not expired, by state and provider and of
 * any browser, once. *ret_request: as of sign_in_find; NULL: the state is unknown, or this is the
 * second time. *ret_idp: its provider. One trip. */
enum az_status sign_in_again(struct op *op, const struct sign_in_key *key, const char **ret_request,
                             int64_t *ret_idp);

#endif
