/* One MCP request while it is answered: what the files of this folder pass to each other. */
#ifndef AZ_GATEWAY_MCP_MESSAGE_EXCHANGE_H
#define AZ_GATEWAY_MCP_MESSAGE_EXCHANGE_H

#include "base/json/jsonx.h"
#include "gateway/door.h"
#include "gateway/mcp/message/json_rpc.h"
#include "gateway/mcp/message/session_id.h"
#include "gateway/mcp/message/version.h"
#include "http/request.h"
#include "store/gateway/resources.h"

struct mcp_exchange {
    struct request *req;
    struct gateway_access access;
    struct json_rpc message; /* the request */
    struct mcp_version version;
    struct mcp_session session; /* of an older client; .named is false if there is no session */
    struct managed_resources served; /* mcp_find_resources(); .item NULL: not yet found */
    bool via_search;       /* the message was a call of authz_call_tool, and names its tool now */
    const char *kept_from; /* request whose verdicts a list has (verdict_memory.h), or NULL */
    /* The answer of a handler that returns AZ_OK. */
    json_t *result;              /* NULL if there is a fault */
    struct json_rpc_fault fault; /* with its HTTP status */
};

/* Answer with a fault and return AZ_OK. */
static inline enum az_status
mcp_refuse(struct mcp_exchange *it, int http, int code, const char *message)
{
    it->fault = (struct json_rpc_fault){.http = http, .code = code, .message = message};
    return AZ_OK;
}

/* Note a summary for the audit row (gateway-admin.md 3.8), with what an upstream answered to a
 * request that began at that time (monotonic; 0: no upstream was asked). */
void mcp_note(struct mcp_exchange *it, struct jsonx_build *summary, int64_t began_ms, int status,
              size_t octets);

/* True if there is no answer yet. */
static inline bool
mcp_goes_on(const struct mcp_exchange *it)
{
    return it->result == NULL && it->fault.code == 0;
}

#endif
