/* Access tokens that the gateway keeps for all workers: one fetches, the others wait for it. */
#ifndef AZ_GATEWAY_CREDENTIAL_KEPT_TOKEN_H
#define AZ_GATEWAY_CREDENTIAL_KEPT_TOKEN_H

#include "gateway/upstream/credential.h"

struct upstream_token;

/* A token is replaced so many seconds before it expires, so that a request that takes some time
 * does not arrive with an expired one. */
#define TOKEN_EARLY_SECONDS 60

/* Fetch a token from its server. */
typedef enum az_status kept_token_fetch_fn(void *arg, struct upstream_token *ret);

/*
 * Fill the credential with the token of an owner (UPSTREAM_OWNER_OCTETS; NULL stands for the
 * service itself): the stored one if it is good and not the one that the upstream has just refused,
 * else one that is fetched under a lease. Requests that find the lease taken wait until its owner
 * has stored the token. AZ_BUSY if that takes longer than a fetch may; else the statuses of `fetch`
 * and of the database.
 */
enum az_status kept_token_get(struct op *op, const struct upstream_wish *wish,
                              const unsigned char *owner, kept_token_fetch_fn *fetch, void *arg,
                              struct upstream_credential *ret);

#endif
