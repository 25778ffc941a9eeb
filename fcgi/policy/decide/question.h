/* The input document of a decision (policy.md 6.2), built from plain structs: rules never see a
 * request. */
#ifndef AZ_POLICY_DECIDE_QUESTION_H
#define AZ_POLICY_DECIDE_QUESTION_H

#include <jansson.h>
#include <stdbool.h>

#include "base/op.h"
#include "store/clients/clients.h"

/* What both evaluations carry. NULL members are left out of the document. */
struct question {
    const char *endpoint;        /* the route's pattern */
    const char *ip;              /* client address */
    const char *user_agent;      /* User-Agent */
    const char *flow_id;         /* ties requests together */
    const struct client *client; /* whose token it is (to be); NULL for an unknown token */
    const char *auth_method;     /* how the client authenticated, on the wire's name */
};

/* A user as subject, as the identity provider said at the sign-in. NULL members are left out. */
struct question_user {
    const char *iss;   /* issuer of the provider */
    const char *idp;   /* its idpId */
    const char *acr;   /* authentication context */
    json_t *amr;       /* array: authentication methods */
    int64_t auth_time; /* seconds since 1970 */
    json_t *claims;    /* object */
};

/* Evaluation 1. */
struct issue_question {
    struct question frame;            /* common part */
    const char *grant_type;           /* wire value */
    int64_t default_ttl;              /* configured lifetime, seconds */
    const char *subject_id;           /* who */
    const struct question_user *user; /* what is known of a user; NULL: the client itself */
    const char *resource;             /* RFC 8707 indicator, or NULL */
    json_t *resource_types;           /* array of type URIs, or NULL */
    json_t *scopes;                   /* array of requested scopes; never NULL */
    json_t *default_scopes; /* array: what an omitted scope asks for, else empty; never NULL */
    json_t *ceiling;        /* array: what the server itself may grant; NULL = no ceiling */
    json_t *details;        /* RFC 9396 array, or NULL */
};

/* Evaluation 2. Without `token` it only asks about the caller. */
struct introspect_question {
    struct question frame;       /* common part; client = whose token it is, as the row is now */
    const struct client *caller; /* who asks */
    const char *caller_method;   /* how it authenticated; "bearer" with a token of its own */
    bool service; /* it is us who asks, for an endpoint of our own; caller: the token's client */
    json_t *caller_token; /* {scopes, resource?, resource_types} of a Bearer caller, or NULL */
    json_t *token;        /* {kind, iat, exp, scopes, jit_single_use}, or NULL */
    json_t *baseline;     /* pdpOutput, or NULL */
    json_t *issued;       /* pdpInput, or NULL */
    json_t *context;      /* what the resource server supplied, or NULL */
};

/* A registration (RFC 7591; decisions.md "Policy"). frame.client is NULL: there is none yet. */
struct register_question {
    struct question frame; /* common part */
    json_t *registration;  /* what is asked for, in the document's form; never NULL */
    const char *issuer;    /* who signed the software statement; NULL: there is none */
    bool verified;         /* its signature was checked */
    json_t *claims;        /* its claims; NULL without one */
};

/* The claim that marks stored claims whose signature nobody checked. */
#define STATEMENT_UNVERIFIED "urn:svc:unverified"

/* The scopes that are asked for: the requested ones, or else the default (policy.md 6.2). */
json_t *question_asked(const struct issue_question *question);

/* The member `subject` of a document; a new reference, NULL when memory is short. */
json_t *question_subject(const char *id, const struct question_user *user);

/* The documents; owned by op->mem, NULL when memory is short. */
json_t *question_issue(struct op *op, const struct issue_question *question);
json_t *question_introspect(struct op *op, const struct introspect_question *question);
json_t *question_register(struct op *op, const struct register_question *question);

#endif
