/* How the gateway proves itself at the token endpoint of an upstream (RFC 6749 2.3, RFC 7523 2.2).
 */
#ifndef AZ_GATEWAY_UPSTREAM_CLIENT_PROOF_H
#define AZ_GATEWAY_UPSTREAM_CLIENT_PROOF_H

#include "base/op.h"
#include "base/query.h"

struct managed_auth;
struct managed_secrets;

/* Parameters that a proof adds to the form. */
#define CLIENT_PROOF_PAIRS 3

/* A proof; on op->mem. Its secrets are wiped when that ends. */
struct client_proof {
    const char *authorization;                  /* header, or NULL */
    struct query_pair pair[CLIENT_PROOF_PAIRS]; /* parameters of the form */
    size_t pairs;
};

/* Make the proof by tokenAuthMethod: client_secret_basic, client_secret_post, private_key_jwt or
 * none. AZ_UPSTREAM_AUTH: the secret or the key is missing or not usable. */
enum az_status client_proof_make(struct op *op, const struct managed_auth *auth,
                                 const struct managed_secrets *secrets, struct client_proof *ret);

#endif
