/*
 * Client assertions (RFC 7521 4.2, RFC 7523 3, OpenID Connect Core 9; oauth.md J1 to J7, J9):
 * signed JWTs by which a client authenticates with a key in place of a secret, or a workload with
 * the JWT-SVID that its SPIFFE issuer has given it (draft-ietf-oauth-spiffe-client-auth). This
 * module does not depend on HTTP or SQL.
 */
#ifndef AZ_OAUTH_CLIENT_ASSERTION_H
#define AZ_OAUTH_CLIENT_ASSERTION_H

#include <stdbool.h>

#include "crypto/jws.h"
#include "crypto/jwt.h"

/* Name of the method with which a client registers (OpenID Connect Core 9). */
#define PRIVATE_KEY_JWT "private_key_jwt"

/* Name of the method of workloads (draft-ietf-oauth-spiffe-client-auth 4). */
#define SPIFFE_JWT "spiffe_jwt"

/* Tolerance for clocks of clients that differ: after the end of an assertion, and before its begin.
 * Seconds (oauth.md J5). */
#define ASSERTION_SKEW_PAST 10
#define ASSERTION_SKEW_FUTURE 60

/* The same after the end of a JWT-SVID. Its lifetime is short and its workload, which does not make
 * it, cannot wait for a fresh one (oauth.md J9). */
#define SVID_SKEW_PAST 60

/* Longest time from now to the end of an assertion, in seconds. For as long a stolen one that was
 * not used yet is good, and a used one is remembered. */
#define ASSERTION_LIFETIME_MAX 3600

/* One row per kind of assertion. */
struct assertion_kind {
    const char *type;         /* client_assertion_type */
    const char *method;       /* token_endpoint_auth_method of the clients that may use it */
    const char *const *algs;  /* signature algorithms, then NULL */
    const char *const *types; /* typ in the header, then NULL; a token without typ is accepted */
    const char *key_use;      /* use of the keys; NULL: sig or none */
    int64_t skew_past;        /* seconds after its end for which it is accepted */
    bool svid;                /* a JWT-SVID: sub is a SPIFFE ID, the keys are those of its domain */
    bool issued_by_client;    /* iss is the client itself, and equals sub */
    bool used_once;           /* jti is required, and an assertion is accepted once */
};

/* Return the row of a client_assertion_type, or NULL if unknown. */
const struct assertion_kind *assertion_kind_find(const char *type);

/* True if clients registered with this method authenticate by an assertion; the method may be
 * NULL. */
bool assertion_is_method(const char *method);

/* Names of the algorithms of all kinds, then NULL, for discovery (RFC 8414 2). */
extern const char *const assertion_algs[];

/* An assertion that was read. Nothing in it is proved before client_assertion_verify(). */
struct client_assertion {
    const struct assertion_kind *kind;
    const char *client_id;    /* sub */
    const char *jti;          /* or NULL */
    int64_t until;            /* it is refused from then on; seconds since 1970 */
    int64_t usable;           /* it was refused before; the same */
    struct jws *jws;          /* split */
    struct jwt_claims claims; /* of it */
};

/* The request with which an assertion came. */
struct assertion_request {
    const char *client_id;        /* parameter of the form, or NULL */
    const char *const *audiences; /* names of this service, one of which is aud; then NULL */
    const char *spiffe_audience;  /* the aud of a JWT-SVID */
    int64_t now;                  /* seconds since 1970 */
};

/*
 * Read an assertion of the kind that the request names; one of a SPIFFE ID is a JWT-SVID, also if
 * it comes as jwt-bearer. Check everything but its signature and its jti's first use. *ret lives on
 * mem. AZ_INVALID: *ret_why is a constant text for the operator.
 */
enum az_status client_assertion_read(TALLOC_CTX *mem, const struct assertion_kind *kind,
                                     const char *text, const struct assertion_request *request,
                                     struct client_assertion *ret, const char **ret_why);

/* Verify the signature by one of the keys. AZ_INVALID: *ret_fault is KEY or SIGNATURE. */
enum az_status client_assertion_verify(const struct client_assertion *assertion,
                                       const struct jwk_set *keys, enum jws_fault *ret_fault);

#endif
