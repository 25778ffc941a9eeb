/*
 * The revision of MCP that a message follows, and a check of its form by it. Revision 2026-07-28
 * carries version and capabilities in every request; the older ones open with `initialize`. One
 * endpoint without sessions serves both. Nothing here knows HTTP.
 */
#ifndef AZ_GATEWAY_MCP_MESSAGE_VERSION_H
#define AZ_GATEWAY_MCP_MESSAGE_VERSION_H

#include <stdbool.h>

#include "gateway/mcp/message/json_rpc.h"

/* The modern revision. */
#define MCP_MODERN "2026-07-28"
/* The newest and the oldest of the older ones. A client that sends no MCP-Protocol-Version follows
 * the oldest (MCP 2025-06-18, transports). */
#define MCP_LEGACY_NEWEST "2025-11-25"
#define MCP_LEGACY_OLDEST "2025-03-26"

/* Members of `_meta`. */
#define MCP_META "io.modelcontextprotocol/"
#define MCP_META_VERSION MCP_META "protocolVersion"
#define MCP_META_CAPABILITIES MCP_META "clientCapabilities"
#define MCP_META_CLIENT MCP_META "clientInfo"
#define MCP_META_LOG_LEVEL MCP_META "logLevel"
#define MCP_META_SERVER MCP_META "serverInfo"
#define MCP_META_SUBSCRIPTION MCP_META "subscriptionId"

/* The headers of a message, or NULL if absent. */
struct mcp_headers {
    const char *version; /* MCP-Protocol-Version */
    const char *method;  /* Mcp-Method */
    const char *name;    /* Mcp-Name */
};

/* The revision of a message, and what its client can do. */
struct mcp_version {
    bool modern;                /* revision 2026-07-28 */
    const char *name;           /* as MCP-Protocol-Version has it */
    const json_t *capabilities; /* of a modern client, or of the session of an older one, borrowed;
                                   NULL: it says nothing */
    bool opens_urls; /* the client can show an address to its user (elicitation, mode url) */
};

/*
 * Find the revision of a request or notification. AZ_INVALID: it breaks the rules of its revision,
 * and *ret_fault is the answer. AZ_SERVER_ERROR: out of memory. Notifications of the modern
 * revision need no `_meta`.
 */
enum az_status mcp_version_find(TALLOC_CTX *mem, const struct json_rpc *message,
                                const struct mcp_headers *headers, struct mcp_version *ret,
                                struct json_rpc_fault *ret_fault);

/* True if a client follows an earlier revision than `name`. */
bool mcp_is_before(const struct mcp_version *version, const char *name);

/* Return the member of params that Mcp-Name repeats, or NULL if the method has no such member. */
const char *mcp_named_member(const char *method);

/* Return the constant for the name of a revision that is known, or NULL for another text. */
const char *mcp_known_version(const char *name);

/* Return the names of all revisions that are served, the newest first: a new reference, or NULL if
 * out of memory. */
json_t *mcp_versions(void);

/* True if a client has capabilities, and their parts, that are needed: both are objects of objects.
 */
bool mcp_has_capabilities(const json_t *has, const json_t *needed);

/* Return the version that answers the `initialize` of a client that asks for `asked` (or NULL): the
 * same if it is known, else the newest. The text is a constant. */
const char *mcp_legacy_version(const char *asked);

/* Return the text of a header value that may be "=?base64?...?=" (MCP 2026-07-28, transports), on
 * mem. The result is NULL if the base64 is malformed or contains a NUL. */
const char *mcp_header_text(TALLOC_CTX *mem, const char *value);

/* Encode a text for a header: return the text itself if a header can carry it, or NULL if out of
 * memory. */
const char *mcp_header_value(TALLOC_CTX *mem, const char *text);

#endif
