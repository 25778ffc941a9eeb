/* The engine's answer, read strictly and checked against the question: it can only narrow the
 * request (policy.md 6.2). */
#ifndef AZ_POLICY_DECIDE_DECISION_H
#define AZ_POLICY_DECIDE_DECISION_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <talloc.h>

#include "base/op.h"

/* Longest lifetime that policy can give, in seconds. */
#define DECISION_TTL_MAX 86400

/* Lifetime of a JWT access token, in seconds: who reads it sees no revocation for so long. */
#define DECISION_JWT_TTL_MIN 10
#define DECISION_JWT_TTL_MAX 600

/* A checked answer. Values are borrowed from `output`, which lives on op->mem. */
struct decision {
    bool allow;             /* strictly boolean */
    json_t *scopes;         /* array of strings; never NULL */
    const char *resource;   /* indicator, or NULL */
    json_t *resource_types; /* array, or NULL */
    json_t *details;        /* array, or NULL */
    bool has_ttl;           /* ttl is set */
    int64_t ttl;            /* expires_in_override after the cap, seconds */
    bool jit;               /* single use */
    bool refresh;           /* a refresh token may be issued beside the access token */
    const char *jwt_alg;    /* the access token is a JWT, signed by this algorithm, a constant
                               text; or NULL */
    int64_t jwt_ttl;        /* its longest life, seconds */
    json_t *jwt_claims;     /* claims of the sign-in that it has: array, or NULL */
    json_t *opaque;         /* why the token for such a resource is opaque: array, or NULL */
    json_t *obligations;    /* object, or NULL */
    json_t *reasons;        /* array sorted by category, control, code; never NULL */
    json_t *segments;       /* array, or NULL */
    json_t *extensions;     /* object, or NULL */
    json_t *output;         /* the whole answer without reserved claims; ask.c adds the engine */
    const char *revision;   /* bundle revision that decided */
};

/* The bounds of an answer. A NULL list is empty; a NULL ceiling does not limit. */
struct decision_bounds {
    json_t *scopes;         /* requested or default (issue), or baseline (introspect) */
    json_t *ceiling;        /* further limit, or NULL */
    const char *resource;   /* the one resource, or NULL */
    json_t *resource_types; /* requested or baseline types */
    json_t *details;        /* requested or baseline entries */
    bool types_by_resource; /* types the registry ties to `resource` may be added (issue) */
    const json_t *registry; /* the registry to look at; NULL: that of the revision that decided */
    bool open_scopes;       /* no scopes were requested, so `scopes` is no bound (register) */
    bool open_types;        /* likewise for `resource_types` */
};

/*
 * Read the value of an entrypoint; on entry, ret->revision is the revision that decided.
 * AZ_UNAVAILABLE, with the member in the fault's detail: the value is undefined, lacks `allow`, has
 * a member of a wrong type, or widens a bound. Such an answer is neither an allow nor a deny.
 */
enum az_status decision_read(struct op *op, json_t *result, const struct decision_bounds *bounds,
                             struct decision *ret);

/* Sort the reasons by category, control and code, so that the same facts always give the same first
 * reason. AZ_UNAVAILABLE: one of them is not an object with a code. AZ_SERVER_ERROR: no memory. */
enum az_status decision_sort_reasons(struct op *op, struct decision *decision);

/* Octets shown of a scope that is not granted; the public text of a failure has 255. */
#define DECISION_SCOPE_SHOWN 64

/* Return the OAuth outcome of a deny at /token, by the category of its first reason; *ret_text is
 * that reason's message, on mem. It names the scope or the entry of the details that the reason is
 * about, if that is one of `asked` or `details`, those of the caller's own request (or NULL). */
enum az_status decision_deny_status(TALLOC_CTX *mem, const struct decision *decision,
                                    const json_t *asked, const json_t *details,
                                    const char **ret_text);

/* Return the category of the first reason; "none" if there is no reason. */
const char *decision_category(const struct decision *decision);

/* Return the codes of all reasons, joined by words_join_texts, on mem, or NULL if there are none or
 * no memory. A code of several reasons (one per scope) is there once, so that a request for many
 * scopes does not push other codes out of the log line. */
const char *decision_codes(TALLOC_CTX *mem, const struct decision *decision);

/* True if one of the reasons has this code. */
bool decision_has_code(const struct decision *decision, const char *code);

#endif
