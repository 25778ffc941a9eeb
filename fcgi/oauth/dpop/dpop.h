/*
 * DPoP (RFC 9449) in a request: its proof, at /token and beside a token at endpoints of our own,
 * and the challenges. Without a DPoP header and without a bound token nothing here costs anything.
 */
#ifndef AZ_OAUTH_DPOP_DPOP_H
#define AZ_OAUTH_DPOP_DPOP_H

#include "http/route.h"

/* The proof of a request, as far as it counts. */
struct dpop {
    const char *jkt; /* thumbprint of its key; NULL: the proof is not good */
    const char *why; /* constant text for the operator: why it is not good, or NULL */
};

/*
 * Read the proof of a request to /token and set req->dpop; without a DPoP header, or if
 * SVC_DPOP_ENABLED is false, it stays NULL. A bad proof is no failure (specification 4.4): the
 * caller decides by jkt. With nonces, the answer gets a DPoP-Nonce. AZ_USE_DPOP_NONCE: the proof is
 * good except for its nonce.
 */
enum az_status dpop_read(struct request *req);

/*
 * Check how a request shows an access token (RFC 9449 7): a bound token needs the scheme DPoP and a
 * proof by its key with its ath, and another token needs the scheme Bearer. `jkt` is the key of the
 * token, NULL if it has none. AZ_INVALID: refused; *ret_why is a constant text for the operator.
 * AZ_DPOP_NONCE_NEEDED: the proof is good except for its nonce; the challenge is set.
 */
enum az_status dpop_check_token(struct request *req, const char *access_token, const char *jkt,
                                const char **ret_why);

/* The request that a proof is about, if a proxy asks about a request of its client. */
struct dpop_place {
    const char *method;
    const char *url; /* without query */
};

/* The same for a request that came to a proxy: htm and htu of the proof are those of `place`. */
enum az_status dpop_check_token_at(struct request *req, const struct dpop_place *place,
                                   const char *access_token, const char *jkt, const char **ret_why);

/*
 * Return the access token of the Authorization header: the text after the scheme Bearer (RFC 6750
 * 2.1) or DPoP, which may be empty, or NULL if it is another scheme, or no header.
 */
const char *access_token_text(const struct request *req);

/* Set the challenges for a token: Bearer, and DPoP beside it (RFC 9449 7.1). `params` are those of
 * the error, or NULL. */
void access_token_challenge(struct request *req, const char *params);

#endif
