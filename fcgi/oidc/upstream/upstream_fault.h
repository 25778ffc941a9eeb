/*
 * Faults between this service and an identity provider, a closed list of codes (world.md W1, W2). A
 * fault of a code does not heal by itself: the person reads the code, and the operator finds cause
 * and cure of it in doc/errors.md.
 */
#ifndef AZ_OIDC_UPSTREAM_UPSTREAM_FAULT_H
#define AZ_OIDC_UPSTREAM_UPSTREAM_FAULT_H

#include "base/op.h"
#include "store/people/identity_providers.h"

/* Text for the user and our client if the provider cannot be reached. */
#define UPSTREAM_NOT_REACHED "The identity provider cannot be reached at the moment"

enum upstream_fault {
    UPSTREAM_CLIENT_REFUSED,     /* it does not know us, or our secret has ended */
    UPSTREAM_REDIRECT_REFUSED,   /* our callback is not registered there */
    UPSTREAM_SCOPE_REFUSED,      /* a scope that we ask for */
    UPSTREAM_REQUEST_REFUSED,    /* another refusal of what we send */
    UPSTREAM_ISSUER_OTHER,       /* its discovery document names another issuer than the row */
    UPSTREAM_USERINFO_REFUSED,   /* userinfo is required, and it refuses our token */
    UPSTREAM_USERINFO_UNUSABLE,  /* userinfo is required, and its answer cannot be used */
    UPSTREAM_ENCRYPTED,          /* the ID token is a JWE */
    UPSTREAM_ID_TOKEN_TOO_LARGE, /* the ID token is longer than this service reads */
    UPSTREAM_NO_AUTH_TIME,       /* the ID token does not tell when the person signed in */
    UPSTREAM_CLAIMS_INCOMPLETE,  /* a claim that the row lists is not all there */
    UPSTREAM_SECRET_ENDED,       /* it refuses our secret, whose end has passed */
    UPSTREAM_FAULTS
};

/* Return the code of a fault, as people, pages and metrics have it. */
const char *upstream_fault_code(enum upstream_fault fault);

/* Note a fault for the operator: a row, and a number (world.md W3). A failure to do so is no other
 * failure for the person. */
void upstream_fault_note(struct op *op, const struct identity_provider *provider, const char *code);

/* Fail with AZ_PROVIDER_SETUP and leave the code in op->provider_fault. `said` goes into the log.
 */
enum az_status upstream_setup_fault(struct op *op, const struct identity_provider *provider,
                                    enum upstream_fault fault, const char *said);

/* Refuse a request that wants to know when the person signed in. The time at which the person comes
 * back proves nothing: the provider may have a session from long before (world.md F4). */
enum az_status upstream_untimed(struct op *op, const struct identity_provider *provider);

/*
 * Fail as an error code of the provider wants it: an OpenID code and access_denied as they are, a
 * fault of the provider that heals with AZ_UNAVAILABLE, and any other with AZ_PROVIDER_SETUP.
 * `where` and the first 64 octets of the code go into the log, with `text` (or NULL), the
 * provider's words; no client gets them.
 */
enum az_status upstream_error(struct op *op, const struct identity_provider *provider,
                              const char *where, const char *error, const char *text);

#endif
