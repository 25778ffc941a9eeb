/* Requests of this service as a client: to a token endpoint (RFC 6749 4.1.3, 4.4.2 and 6, RFC 8693
 * 2.1), to a revocation endpoint (RFC 7009), and the address of an authorization request. */
#ifndef AZ_CLIENT_ASK_H
#define AZ_CLIENT_ASK_H

#include <jansson.h>
#include <stdbool.h>

#include "client/proof.h"
#include "http/fetch/fetch.h"

/* Most parameters in one request that are not configured: a token exchange has 7, with
 * CLIENT_PROOF_PAIRS. */
#define CLIENT_PAIRS_MAX 12
/* Longest answer, in octets: two tokens of CLIENT_TOKEN_MAX and an ID token fit. */
#define CLIENT_ANSWER_MAX 65536

/* A request. The caller owns the texts. */
struct client_ask {
    enum fetch_hosts hosts; /* the settings whose exceptions for hosts apply */
    const char *url;        /* the endpoint */
    const char *audience; /* audience of a client assertion: the token endpoint, or NULL for url */
    const struct client_identity *identity;
    struct query_pair pair[CLIENT_PAIRS_MAX]; /* ours; fill with client_ask_add() */
    size_t pairs;
    const char *fault;  /* why it cannot be sent, or NULL */
    const json_t *more; /* configured parameters, an object of texts; or NULL */
    bool json;          /* the body is a JSON object (a few servers want that), not a form */
};

/* Add a parameter of ours; NULL leaves it out. RFC 6749 3.2: a parameter stands once, so a second
 * value of one name makes the request fail. */
void client_ask_add(struct client_ask *ask, const char *name, const char *value);

/*
 * Send the request with our client authentication and wipe its body. A configured parameter never
 * replaces or repeats one of ours. The statuses are those of fetch() and client_proof_make();
 * AZ_SERVER_ERROR: a parameter cannot be added, and nothing is sent, because a request without its
 * scope or audience asks for more.
 */
enum az_status client_ask_send(struct op *op, const struct client_ask *ask,
                               struct fetch_answer *ret);

/* Return the URL with our parameters and those of `more` (or NULL) that are not among ours, on mem,
 * or NULL if out of memory. Names of `more` are escaped, ours are not. */
char *client_url(TALLOC_CTX *mem, const char *url, const struct query_pair *own, size_t count,
                 const json_t *more);

/* Return an array of scopes as one text, with `separator` (NULL: a space) between them, on mem.
 * *ret is NULL for none. AZ_SERVER_ERROR: out of memory. */
enum az_status client_join_scopes(struct op *op, const json_t *scopes, const char *separator,
                                  const char **ret);

#endif
