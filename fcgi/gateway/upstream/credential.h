/* Credentials that the gateway shows to upstreams (gateway-admin.md 3.3): the request for one, and
 * its value. The token of the caller is never one. gateway/credential has the ways to get one. */
#ifndef AZ_GATEWAY_UPSTREAM_CREDENTIAL_H
#define AZ_GATEWAY_UPSTREAM_CREDENTIAL_H

#include <jansson.h>
#include <stdbool.h>

#include "base/op.h"

struct managed_resource;
struct managed_secrets;
struct token_text;

/* The lease of a token that is fetched or refreshed lasts this many seconds longer than the longest
 * request to a token endpoint, so that a process which still works is never taken for a dead one.
 */
#define UPSTREAM_LEASE_MARGIN 5

/* The person and the client for whom a request is made. */
struct upstream_caller {
    const char *person; /* sub of the token, whoever its issuer is: what is kept of one is not
                           used for another; or NULL */
    const char
        *subject;    /* the same if the person belongs to one of our identity providers, or NULL */
    const char *idp; /* provider of the subject, or NULL */
    const char *client_id; /* of the token */
    const json_t *act;     /* who acts for the person (RFC 8693 4.1), or NULL */
    const char *flow_id;   /* UUID that ties the audit rows together, or NULL */
    /*
     * Make a token of the person for another authorization server, which `resource` names
     * (token_exchange); the caller wipes it. Never the token of the request. NULL
     * if there is no token to make one from.
     */
    enum az_status (*make_token)(void *arg, const char *resource, struct token_text *ret);
    /* Return true if the caller has closed its connection; called repeatedly while the service
     * waits for an upstream. NULL skips the check. */
    bool (*gone)(void *arg);
    void *arg; /* for both */
};

/* A link that the caller must open first. */
struct upstream_link {
    const char *url;        /* NULL if none is needed */
    json_t *missing_scopes; /* array of upstream scopes, owned by op->mem, or NULL */
    int64_t expires_in;     /* seconds */
};

/* A credential; on op->mem. Wipe it with upstream_credential_done(). */
struct upstream_credential {
    const char *header; /* name of the header field, or NULL */
    const char *query;  /* name of the query parameter, in place of a header, or NULL */
    char *value; /* whole value, with its scheme; secret; or NULL if no credential is needed */
    bool caller_bound; /* if the upstream refuses it, the caller must link again; else it is the
                          service's own, and the operator must act */
    bool renewable;    /* a new credential can be got if the upstream refuses this one */
    bool personal; /* also set with a failure: the credential is for one caller, so its refusal does
                      not make the resource fail for others */
    struct upstream_link link; /* set with AZ_LINK_REQUIRED */
};

/* The request for a credential. */
struct upstream_wish {
    const struct managed_resource *resource;
    const struct managed_secrets *secrets;
    const struct upstream_caller *caller; /* NULL: the service itself asks */
    /* The value that the upstream has just refused: get a new one, or fail with AZ_LINK_REQUIRED or
     * AZ_UPSTREAM_AUTH. NULL at the first request. */
    const char *refused;
    const json_t *challenge; /* scopes that the upstream asked for with its refusal (RFC 6750 3.1,
                                insufficient_scope), an array; or NULL */
    bool again; /* `refused` was the second one already, and a third one is not tried */
};

/*
 * Get the credential of a resource for a caller. AZ_LINK_REQUIRED: the caller must open ret->link;
 * AZ_USER_REQUIRED: the token names no person, and the upstream wants one; AZ_UPSTREAM_AUTH: the
 * service's own credential is missing or refused; AZ_UPSTREAM_UNREACHABLE, AZ_UPSTREAM_TIMEOUT: the
 * token endpoint did not answer.
 */
typedef enum az_status upstream_credential_fn(struct op *op, const struct upstream_wish *wish,
                                              struct upstream_credential *ret);

/* Return "scheme value", or the value alone if the scheme is NULL or empty, or NULL if out of
 * memory. The credential owns it. */
char *upstream_credential_value(struct op *op, const char *scheme, const char *value);

/* Wipe the value. */
void upstream_credential_done(struct upstream_credential *credential);

#endif
