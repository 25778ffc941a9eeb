/*
 * The requestState of a result that asks for input (MCP 2026-07-28, multi round-trip requests;
 * gateway-admin.md 1.1): what the client sends back with the same call. It says which call it was
 * made for and when, under a key of ours; it does not identify the person.
 *
 *   v1.<base64url of 8 octets: expiry, 32 octets: SHA-256 of the call>.<base64url of the MAC>
 */
#ifndef AZ_GATEWAY_MCP_TOOLS_REQUEST_STATE_H
#define AZ_GATEWAY_MCP_TOOLS_REQUEST_STATE_H

#include <jansson.h>
#include <stdbool.h>

#include "base/op.h"
#include "crypto/digest.h"

/* Seconds that a state is good for: as long as the link that it goes with. */
#define REQUEST_STATE_SECONDS 600

/* A call that a state is made for. */
struct stated_call {
    const char *subject;     /* of the token, or NULL */
    const char *client_id;   /* of the token */
    const char *resource;    /* name */
    const char *tool;        /* name within its resource */
    const json_t *arguments; /* or NULL */
};

/* Hash a call: who calls what with which arguments. The JSON text of its parts keeps them apart. */
enum az_status stated_call_hash(struct op *op, const struct stated_call *call,
                                unsigned char ret[SHA256_OCTETS]);

/* Return the state of a call, on op->mem, or NULL if out of memory. */
const char *request_state_make(struct op *op, const struct stated_call *call);

/* True if a text is a state that was made for this call and has not expired. */
bool request_state_check(struct op *op, const char *text, const struct stated_call *call);

#endif
