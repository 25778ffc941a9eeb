/* The input document of a decision (policy.md 6.2), built from plain structs, so that rules never
 * see a request. */
#ifndef AZ_POLICY_DECIDE_QUESTION_H
#define AZ_POLICY_DECIDE_QUESTION_H

#include <jansson.h>
#include <stdbool.h>

#include "base/op.h"
#include "store/clients/clients.h"

/* The DPoP proof of a request to /token, and if the client must send one. */
struct question_dpop {
    bool present;    /* a proof was sent */
    const char *jkt; /* thumbprint of the key of a good one, or NULL */
    bool required;   /* the client registered dpop_bound_access_tokens */
};

/* The common part of all questions. NULL members are left out of the document. */
struct question {
    const char *endpoint;        /* the route's pattern */
    const char *ip;              /* client address */
    const char *user_agent;      /* User-Agent */
    const char *flow_id;         /* ties requests together */
    const struct client *client; /* owner of the token; NULL for an unknown token */
    json_t *delegation;      /* active delegations to the client and the subject, array, or NULL */
    const char *auth_method; /* how the client authenticated, by its name on the wire */
    struct question_dpop dpop;
};

/* A user as subject, as the identity provider described the sign-in. NULL members are left out. */
struct question_user {
    const char *iss;    /* issuer of the provider */
    const char *idp;    /* its idpId */
    const char *acr;    /* authentication context */
    json_t *amr;        /* array: authentication methods */
    int64_t auth_time;  /* seconds since 1970 */
    json_t *claims;     /* object, as stored: the list of incomplete ones (stored_claims.h) becomes
                           a member of its own */
    json_t *incomplete; /* that list, of claims that are not stored ones; or NULL */
};

/* A token exchange (RFC 8693). NULL members are left out of the document. */
struct question_exchange {
    const char *type;      /* kind of the subject token: access_token or id_token */
    const char *client_id; /* client that it was issued to */
    const char *resource;  /* resource that it names */
    json_t *scopes;        /* array: its scopes */
    json_t *claims;        /* object: its further claims */
    json_t *may_act;       /* object: its may_act claim (RFC 8693 4.4) */
};

/* A refresh by a token that is replaced (world.md R1, R2). */
struct question_refresh {
    int branch;           /* of the new token, from 0 */
    int branches;         /* of the family, with that which the refresh makes */
    bool network_changed; /* another network than that of the use before, or an unknown one */
};

/* Evaluation 1. */
struct issue_question {
    struct question frame;            /* common part */
    bool preview;                     /* asked at /authorize, before there is a code */
    const char *grant_type;           /* wire value */
    int64_t default_ttl;              /* configured lifetime, seconds */
    const char *subject_id;           /* id of the subject */
    const struct question_user *user; /* sign-in of a user; NULL: the subject is the client */
    const char *resource;             /* RFC 8707 indicator, or NULL */
    json_t *resource_types;           /* array of type URIs, or NULL */
    json_t *scopes;                   /* array of requested scopes; never NULL */
    json_t *default_scopes;           /* array: used if the request has no scope; never NULL */
    json_t *ceiling; /* array: the most that the server may grant; NULL: no ceiling */
    json_t *details; /* RFC 9396 array, or NULL */
    const struct question_exchange
        *exchange;                          /* NULL: another grant; else `act` is in the document */
    const struct question_refresh *refresh; /* NULL: another grant, or a token that stays */
    /* These do not reach the document otherwise. */
    const char *jkt;        /* thumbprint of the sender's DPoP key, or NULL */
    json_t *act;            /* act claim of the token (RFC 8693 4.1), object, or NULL */
    int64_t expires_before; /* the token does not live longer, seconds since 1970; 0: no limit */
    const unsigned char *grant; /* family that the token is bound to, although it is not issued from
                                   it; UUID7_OCTETS, or NULL */
    int64_t idp;                /* provider of a person whose token has no family, or 0 */
    bool opaque; /* the service itself shows the token to another server, which asks about it */
};

/* Evaluation 2. Without `token` it asks about the caller alone. */
struct introspect_question {
    struct question frame;       /* common part; its client is the token's, as its row is now */
    const struct client *caller; /* the client that asks */
    const char *caller_method;   /* how it authenticated; "bearer" with a token of its own */
    bool service;  /* the service asks for an endpoint of its own; caller is the token's client */
    bool unpacked; /* the audit row may tell of a later decision: see ask_unpacked() */
    json_t *caller_token; /* {scopes, resource?, resource_types} of a Bearer caller, or NULL */
    json_t *token;        /* {kind, iat, exp, scopes, jit_single_use}, or NULL */
    json_t *baseline;     /* pdpOutput, or NULL */
    json_t *issued;       /* pdpInput, or NULL */
    json_t *context;      /* what the resource server supplied, or NULL */
};

/* A registration (RFC 7591). frame.client is NULL: the client does not exist yet. */
struct register_question {
    struct question frame; /* common part */
    json_t *registration;  /* the requested metadata, in the document's form; never NULL */
    const char *issuer;    /* signer of the software statement, or NULL if there is none */
    bool verified;         /* its signature was checked */
    json_t *claims;        /* its claims; NULL without one */
};

/* Access requests of AuthZEN. frame.client is NULL: no client of ours needs to be involved. */
struct access_question {
    struct question frame;       /* common part */
    const struct client *caller; /* the client that asks */
    const char *caller_method;   /* how it authenticated; "bearer" with a token of its own */
    json_t *caller_token; /* {scopes, resource?, resource_types} of a Bearer caller, or NULL */
    json_t *requests;     /* array of {subject, action, resource, context?}; one unless `batch` */
    bool batch;           /* they were sent as a batch */
};

/* A request to the admin API. frame.client is NULL. NULL members are left out of the document. */
struct admin_question {
    struct question frame;            /* common part */
    const char *key;                  /* id of the admin key; NULL: a person asks */
    const char *label;                /* its label */
    const char *role;                 /* a word of admin_role_words */
    bool session;                     /* the request is of a session of the console */
    const char *subject;              /* the person; NULL: a key */
    const struct question_user *user; /* provider and claims of the person */
    const char *operation;            /* of the route */
    const char *method;               /* of HTTP */
    const char *path;                 /* as it was sent */
    json_t *values;                   /* array: {name} segments, decoded */
};

/* The claim that marks stored claims whose signature was not checked. */
#define STATEMENT_UNVERIFIED "urn:svc:unverified"

/* Return the entrypoint that decides a document ("svc/decision/issue"), on mem; NULL: its member
 * `evaluation` is no text, or no memory. */
const char *question_entrypoint(TALLOC_CTX *mem, const json_t *document);

/* Return the scopes that are asked for: the requested ones, or else the default (policy.md 6.2). */
json_t *question_asked(const struct issue_question *question);

/* Return the member `subject` of a document, a new reference; NULL: no memory. */
json_t *question_subject(const char *id, const struct question_user *user);

/* Return the part of a document that all questions have, owned by op->mem; NULL: no memory. */
json_t *question_frame(struct op *op, const struct question *frame, const char *evaluation);

/* Return the document of a question, owned by op->mem; NULL: no memory. */
json_t *question_issue(struct op *op, const struct issue_question *question);
json_t *question_introspect(struct op *op, const struct introspect_question *question);
json_t *question_register(struct op *op, const struct register_question *question);
json_t *question_access(struct op *op, const struct access_question *question);
json_t *question_admin(struct op *op, const struct admin_question *question);

#endif
