/* The engine's answer, read strictly and held against the question: it can only narrow
 * (policy.md 6.2). */
#ifndef AZ_POLICY_DECIDE_DECISION_H
#define AZ_POLICY_DECIDE_DECISION_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"

/* Longest lifetime policy can give (decisions.md "Tokens"). Seconds. */
#define DECISION_TTL_MAX 86400

/* A checked answer. Values are borrowed from `output`, which lives on op->mem. */
struct decision {
    bool allow;             /* the one thing that counts, strictly boolean */
    json_t *scopes;         /* array of strings; never NULL */
    const char *resource;   /* indicator, or NULL */
    json_t *resource_types; /* array, or NULL */
    json_t *details;        /* array, or NULL */
    bool has_ttl;           /* ttl is set */
    int64_t ttl;            /* expires_in_override after the cap, seconds */
    bool jit;               /* single use */
    bool refresh;           /* a refresh token may be issued beside the access token */
    json_t *obligations;    /* object, or NULL */
    json_t *reasons;        /* array sorted by category, control, code; never NULL */
    json_t *segments;       /* array, or NULL */
    json_t *extensions;     /* object, or NULL */
    json_t
        *output; /* the whole answer without reserved claims, with what ask.c says of the engine */
    const char *revision; /* bundle revision that decided */
};

/* What an answer may at most hold. NULL lists hold nothing; a NULL ceiling does not limit. */
struct decision_bounds {
    json_t *scopes;         /* requested or default (issue), or baseline (introspect) */
    json_t *ceiling;        /* further limit, or NULL */
    const char *resource;   /* the one resource, or NULL */
    json_t *resource_types; /* requested or baseline types */
    json_t *details;        /* requested or baseline entries */
    bool types_by_resource; /* types the registry ties to `resource` may be added (issue) */
    bool open_scopes;       /* no scopes were asked for: `scopes` is no bound (register) */
    bool open_types;        /* so `resource_types` */
};

/*
 * Reads the value of an entrypoint; ret->revision says on entry which revision decided.
 * AZ_UNAVAILABLE with the member in the fault's detail when it is undefined, misses `allow`, has a
 * wrong type anywhere, or widens a bound: nonsense is never an allow, and never a deny that looks
 * like one.
 */
enum az_status decision_read(struct op *op, json_t *result, const struct decision_bounds *bounds,
                             struct decision *ret);

/* The OAuth outcome of a deny at /token by its first reason's category (decisions.md); its message
 * in *ret_text. */
enum az_status decision_deny_status(const struct decision *decision, const char **ret_text);

/* Whether a reason with this code is among the reasons. */
bool decision_has_code(const struct decision *decision, const char *code);

#endif
