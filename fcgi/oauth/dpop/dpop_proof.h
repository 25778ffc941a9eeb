/* DPoP proofs (RFC 9449 section 4): the rule for one proof. No HTTP, no database. */
#ifndef AZ_OAUTH_DPOP_DPOP_PROOF_H
#define AZ_OAUTH_DPOP_DPOP_PROOF_H

#include <stdbool.h>
#include <stdint.h>

#include "crypto/jwk.h"

/* Longest jti, in octets: each is hashed and remembered. 96 random bits are 16 characters. */
#define DPOP_JTI_MAX 128

/* The request that a proof must be made for. */
struct dpop_rule {
    const char *const *algs;  /* names of the accepted algorithms, then NULL */
    const char *method;       /* method of the request */
    const char *url;          /* address of the request, built from the issuer; without a query */
    const char *access_token; /* text of the token that the request shows, or NULL */
    int64_t now;              /* seconds since 1970 */
    int64_t window;           /* iat may differ from now by as many seconds */
    bool slash;               /* htu may have one slash more at the end than url */
};

/* A good proof. The texts live as long as the memory that it was read on. */
struct dpop_proof {
    char jkt[JWK_THUMBPRINT_SIZE]; /* RFC 7638 thumbprint of its key */
    const char *jti;               /* never empty */
    const char *nonce;             /* as claimed, or NULL */
    int64_t iat;                   /* within the window of the rule */
};

/*
 * Read a proof (RFC 9449 section 4.3). The caller still has to check the nonce and that the proof
 * was not used before. All checks of its text come before the work with its key. Members that the
 * RFC does not name are ignored. AZ_INVALID: refused; *ret_why is a constant text for the log.
 */
enum az_status dpop_proof_read(TALLOC_CTX *mem, const char *text, const struct dpop_rule *rule,
                               struct dpop_proof *ret, const char **ret_why);

#endif
