/*
 * The requestState of a result that asks for input (MCP 2026-07-28, multi round-trip requests;
 * gateway-admin.md 1.12): what the client sends back with the same call. It is sealed, so that
 * neither client nor person reads or changes it, and it is bound to the call and to who makes it.
 *
 *   v2.<base64url of a box (crypto/seal.h)>
 */
#ifndef AZ_GATEWAY_MCP_ASK_REQUEST_STATE_H
#define AZ_GATEWAY_MCP_ASK_REQUEST_STATE_H

#include <jansson.h>
#include <stdbool.h>

#include "base/op.h"
#include "crypto/digest.h"

/* Seconds that a state is good for: as long as the link that it may go with. */
#define REQUEST_STATE_SECONDS 600
/* Octets of the state of an upstream, which ours carries. Servers put a few hundred there. */
#define REQUEST_STATE_UPSTREAM_MAX 8192

/* A call that a state is made for. */
struct stated_call {
    const char *person; /* subject of the token, whoever its issuer is, or NULL */
    const char
        *subject;    /* the same if the person belongs to one of our identity providers, or NULL */
    const char *idp; /* provider of the subject, or NULL */
    const char *client_id; /* of the token */
    const char *method;    /* of the JSON-RPC request */
    const char *resource;  /* name */
    const char
        *server; /* address of the upstream that asked, or NULL; another upstream gets no answer */
    const char *name;        /* of the tool or prompt within its resource, or the URI */
    const json_t *arguments; /* or NULL */
};

/* The contents of a state. */
struct request_state {
    int round;         /* times that the upstream has asked; 0 if the gateway asked */
    json_t *questions; /* object: by its key, what an answer to a question of the upstream must fit
                          (answer.h) */
    const char *own;   /* key of the gateway's own question, or NULL */
    const char *upstream; /* state of the upstream, or NULL */
};

/* Hash a call: who calls what with which arguments. The JSON text of its parts keeps them apart. */
enum az_status stated_call_hash(struct op *op, const struct stated_call *call,
                                unsigned char ret[SHA256_OCTETS]);

/* Return the state of a call as text, on op->mem, or NULL if out of memory or too long. */
const char *request_state_make(struct op *op, const struct stated_call *call,
                               const struct request_state *state);

/* Read a text, on op->mem. AZ_INVALID: the gateway did not make it, or made it for another call or
 * caller, or it has expired. AZ_SERVER_ERROR: out of memory. */
enum az_status request_state_read(struct op *op, const char *text, const struct stated_call *call,
                                  struct request_state *ret);

#endif
