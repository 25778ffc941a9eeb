/*
 * Claims of a JSON Web Token (RFC 7519) after its signature was verified: read into a plain struct
 * and checked against a rule. The caller passes "now".
 */
#ifndef AZ_CRYPTO_JWT_H
#define AZ_CRYPTO_JWT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <talloc.h>

#include "base/status.h"

struct jws;

/* Deepest nesting of a payload: claims such as authorization_details nest, attacks nest deeper. */
#define JWT_DEPTH_MAX 16

/* Most audiences of one token; each is compared. */
#define JWT_AUDIENCES_MAX 20

/* Longest iss, sub, azp, jti and aud, in octets: they are compared and stored. */
#define JWT_NAME_MAX 1024

/* A NumericDate; RFC 7519 section 2 allows fractions, which are cut off. */
struct jwt_time {
    bool present;
    int64_t seconds; /* seconds since 1970, from 0 to the end of the year 9999 */
};

struct jwt_claims {
    const json_t *object; /* all claims */
    const char *iss;      /* NULL if absent; the three below too */
    const char *sub;
    const char *azp;
    const char *jti;
    const char *aud[JWT_AUDIENCES_MAX]; /* a string counts as an array with one item */
    size_t aud_count;
    struct jwt_time exp;
    struct jwt_time nbf;
    struct jwt_time iat;
};

/* Faults of claims. */
enum jwt_fault {
    JWT_FAULT_NONE,
    JWT_FAULT_JSON,     /* payload is not a JSON object */
    JWT_FAULT_TYPE,     /* a claim named above has the wrong type, size or range */
    JWT_FAULT_ISS,      /* absent or another */
    JWT_FAULT_SUB,      /* absent */
    JWT_FAULT_AUD,      /* absent, different, or several */
    JWT_FAULT_AZP,      /* several audiences, and azp is not this service */
    JWT_FAULT_EXP,      /* absent */
    JWT_FAULT_EXPIRED,  /* exp has passed */
    JWT_FAULT_LIFETIME, /* exp is further ahead than allowed */
    JWT_FAULT_NOT_YET,  /* nbf lies in the future */
    JWT_FAULT_IAT,      /* absent where it is required */
    JWT_FAULT_FUTURE,   /* iat lies in the future */
    JWT_FAULT_OLD,      /* iat lies too far in the past */
    JWT_FAULT_JTI,      /* absent or empty where it is required */
    JWT_FAULT_OURS,     /* out of memory; comes with AZ_SERVER_ERROR */
};

/* Return a constant text for the log or an error_description. */
const char *jwt_fault_text(enum jwt_fault fault);

/* Requirements of a caller; times in seconds. */
struct jwt_rule {
    const char *iss;              /* exactly this issuer; NULL: any or none */
    const char *const *audiences; /* NULL-terminated; one must be in the token; NULL: not checked */
    bool several_aud;             /* accept further audiences if azp is in the list too (OIDC) */
    bool need_sub;                /* sub is required and must not be empty */
    bool need_jti;                /* so jti */
    bool need_exp;                /* exp is required (if present it is always checked) */
    bool need_iat;                /* so iat */
    int64_t now;                  /* since 1970 */
    int64_t skew_past;            /* exp may be less than this in the past */
    int64_t skew_future;          /* nbf and iat may be up to this in the future */
    int64_t lifetime_max;         /* exp may be up to this in the future; 0: no limit */
    int64_t age_max;              /* iat may be up to this in the past; 0: no limit */
};

/*
 * Read the claims; *ret points into memory that belongs to mem. ret_fault may be NULL here and
 * below. AZ_INVALID: JSON or TYPE.
 */
enum az_status jwt_claims_parse(TALLOC_CTX *mem, const struct jws *jws, struct jwt_claims *ret,
                                enum jwt_fault *ret_fault);

/* Check the claims against the rule. AZ_INVALID: *ret_fault is the first fault in the order of
 * enum jwt_fault. */
enum az_status jwt_claims_check(const struct jwt_claims *claims, const struct jwt_rule *rule,
                                enum jwt_fault *ret_fault);

#endif
