/* The authentication of this service as a client of another authorization server (RFC 6749 2.3,
 * RFC 7523 2.2). */
#ifndef AZ_CLIENT_PROOF_H
#define AZ_CLIENT_PROOF_H

#include "base/op.h"
#include "base/query.h"

/* Most parameters that a proof adds to a request. */
#define CLIENT_PROOF_PAIRS 3

struct jwk;

/* The registration of this service at a server. The caller owns the texts. */
struct client_identity {
    const char *client_id;
    const char *method;      /* client_secret_basic, client_secret_post, private_key_jwt or none;
                                NULL: client_secret_basic */
    const char *secret;      /* or NULL */
    const char *private_key; /* PEM, for private_key_jwt; or NULL */
    const struct jwk *key; /* the private key itself, with its kid, in place of the next; or NULL */
    const char *key_id;    /* of private_key, or NULL */
    const char *key_alg;   /* its algorithm; NULL stands for the default algorithm of such a key */
};

/* A proof; on op->mem. Its secrets are wiped when that memory is freed. */
struct client_proof {
    const char *authorization;                  /* header, or NULL */
    struct query_pair pair[CLIENT_PROOF_PAIRS]; /* parameters of the body */
    size_t pairs;
};

/* Make the proof for a token endpoint, which is the audience of an assertion. AZ_UPSTREAM_AUTH: the
 * client_id, the secret or the key is missing or not usable. */
enum az_status client_proof_make(struct op *op, const struct client_identity *identity,
                                 const char *endpoint, struct client_proof *ret);

/* Return "Basic ..." for a name and a password, as they are (RFC 7617 2), on op->mem and wiped with
 * it, or NULL if out of memory. */
char *client_basic(struct op *op, const char *name, const char *password);

#endif
