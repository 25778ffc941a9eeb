/* The two kinds of upstreams that a tool can have, and the outcome of a call there. */
#ifndef AZ_GATEWAY_MCP_TOOLS_CALL_UPSTREAM_H
#define AZ_GATEWAY_MCP_TOOLS_CALL_UPSTREAM_H

#include "gateway/mcp/ask/round.h"
#include "gateway/mcp/message/trace.h"
#include "gateway/mcp/peer/log.h"
#include "gateway/mcp/peer/progress.h"
#include "gateway/mcp/tools/catalogue.h"
#include "gateway/upstream/credential.h"

/* A call that policy allows. */
struct mcp_call {
    struct op *op;
    const struct mcp_tool *tool;
    json_t *arguments; /* object */
    const struct managed_secrets *secrets;
    const struct upstream_caller *caller;
    const struct gateway_obligations *obligations;
    const char *scope;              /* of the URIs that clients see (scoped_uri.h) */
    const char *address;            /* of the endpoint, for content that needs a URI */
    struct mcp_round *round;        /* what an MCP server may ask, and answers to what it asked */
    struct mcp_trace trace;         /* of the caller */
    struct peer_progress *progress; /* for a client that asked for it, or NULL */
    struct peer_log *log;           /* for a client that wants it, or NULL */
    /* The outcome. */
    json_t *result;          /* of tools/call */
    const json_t *asked;     /* in its place: an MCP server asks for input */
    const json_t *addresses; /* an error in its place that names addresses to open */
    json_t *missing;         /* without a result: capabilities that the server needs of
                                the client, which has not all of them */
    const char *why;         /* AZ_INVALID: what the model should correct */
    bool failed;             /* the upstream answered with a failure */
    int status;              /* its HTTP status code; 0 if there was none */
    size_t octets;           /* of its answer */
    struct upstream_credential credential; /* AZ_LINK_REQUIRED: the link */
};

/*
 * Call the route of a tool, or the MCP server. AZ_OK: call->result, ->asked, ->addresses or
 * ->missing. AZ_INVALID: the arguments do not fit, call->why. Otherwise fails as upstream_begin()
 * does.
 */
enum az_status mcp_call_route(struct mcp_call *call);
enum az_status mcp_call_peer(struct mcp_call *call);

#endif
