/* Links that wait for a person to connect an account (gateway-admin.md 3.5). */
#ifndef AZ_STORE_GATEWAY_LINKS_H
#define AZ_STORE_GATEWAY_LINKS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"
#include "crypto/digest.h"

/* Life of a link, in seconds, and the time that a person has at the upstream after Connect. A link
 * may be forwarded to others, so the time is short. */
#define LINK_REQUEST_VALIDITY 600
/* A link that expires sooner than this is not given out again, in seconds. */
#define LINK_REQUEST_REST 300
/* Octets of the id. */
#define LINK_REQUEST_JTI_OCTETS 16

/* A link that is needed. */
struct link_request_new {
    unsigned char jti[LINK_REQUEST_JTI_OCTETS]; /* for a new one */
    const char *subject;                        /* the person */
    const char *resource;                       /* managed resource */
    const char *client_id;                      /* "": the person came alone */
    const char *const *scopes;                  /* of the upstream; ends with NULL */
    const char *return_to;                      /* path on our host, or "" */
    const char *flow_id;                        /* UUID */
};

/* A link as stored; on op->mem. */
struct link_request {
    bool found;
    bool used;        /* the person has answered it */
    bool expired;     /* it has expired */
    bool at_upstream; /* the upstream's answer is still to come */
    unsigned char jti[LINK_REQUEST_JTI_OCTETS];
    const char *subject;
    int64_t idp;             /* identity_provider.id */
    const char *resource;    /* managed resource */
    const char *client_id;   /* may be "" */
    const char *client_name; /* of the registered client, or NULL */
    const char *return_to;   /* may be "" */
    const char *flow_id;
    json_t *scopes;                    /* array */
    const unsigned char *session_hash; /* of the browser session that chose Connect, until the link
                                          is closed; or NULL */
    const unsigned char *binding;      /* of the configuration at that time, or NULL */
    const char *verifier;              /* PKCE; secret; or NULL */
    int64_t made_ms;                   /* when the link was needed, milliseconds since 1970 */
};

/*
 * Store a link, or find one for the same that has at least LINK_REQUEST_REST left, so that a client
 * that asks again and again makes no rows. *ret_found false: the subject is not a person. ret_jti
 * and *ret_expires_at (seconds since 1970) are those of the row.
 */
enum az_status link_request_need(struct op *op, const struct link_request_new *link,
                                 bool *ret_found, unsigned char ret_jti[LINK_REQUEST_JTI_OCTETS],
                                 int64_t *ret_expires_at);

/* Find a link by its id, or by the SHA-256 of the state that the upstream sends back (one of them
 * is NULL). */
enum az_status link_request_find(struct op *op, const unsigned char *jti,
                                 const unsigned char *state_hash, struct link_request *ret);

/* The answer of a person. */
struct link_request_use {
    const unsigned char *session_hash; /* NULL: Cancel, and so the rest */
    const unsigned char *binding;      /* SHA256_OCTETS */
    const unsigned char *state_hash;   /* of the state for the upstream; NULL: user_secret */
    const char *verifier;              /* PKCE, sealed here; or NULL */
};

/* Mark a link as used. *ret_done false: it was used already, or has expired. */
enum az_status link_request_mark(struct op *op, const struct link_request *link,
                                 const struct link_request_use *use, bool *ret_done);

/* Close a used link of this browser session. *ret_done false: it is closed already, because another
 * request used the upstream's answer or the secret, or it has expired. */
enum az_status link_request_close(struct op *op, const struct link_request *link,
                                  const unsigned char session_hash[SHA256_OCTETS], bool *ret_done);

/* Housekeeping: delete links that have expired. */
enum az_status link_requests_purge(struct op *op);

#endif
