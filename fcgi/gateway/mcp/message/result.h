/* Results of MCP requests, as JSON that is owned by the caller's memory. */
#ifndef AZ_GATEWAY_MCP_MESSAGE_RESULT_H
#define AZ_GATEWAY_MCP_MESSAGE_RESULT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <talloc.h>

#include "gateway/mcp/message/version.h"

/* Milliseconds for which a client may keep a list (gateway-admin.md 1.5): a change of
 * policy or of a resource shows within half a minute. */
#define MCP_LIST_TTL_MS 30000
/* The same for what `server/discover` says, which changes with the program alone. */
#define MCP_DISCOVER_TTL_MS 3600000

/* Blocks of content in one result of a tool (MCP has no limit; hosts show some). */
#define MCP_CONTENT_MAX 100

/* The answer of an upstream that is no MCP server, as a tool gives it. */
struct mcp_body {
    const char *content_type; /* media type in lower case, without parameters; "" if absent */
    const char *octets;       /* NUL-terminated */
    size_t length;
    const char *uri; /* of the answer, for content that is neither text, image nor sound */
    int status;      /* HTTP status code */
    bool failed;     /* 4xx and 5xx, or successWhen says so */
};

/* Return the result of a tool with one text; error: the model reads why the call failed, and can
 * correct itself. This function and all below return NULL if out of memory. */
json_t *mcp_text_result(TALLOC_CTX *mem, const char *text, bool error);

/*
 * Return the result of a tool from an upstream's body: JSON and other text as text, JSON objects
 * also as structuredContent, the rest in base64.
 */
json_t *mcp_body_result(TALLOC_CTX *mem, const struct mcp_body *body);

/* Return the contents of the read of a resource, an array with the body under body->uri: a text, or
 * base64. */
json_t *mcp_body_contents(TALLOC_CTX *mem, const struct mcp_body *body);

/*
 * Return the members of an upstream MCP server's result that may be passed on: content,
 * structuredContent and isError, their texts by shown_value(). scope: of the URIs in blocks
 * (scoped_uri.h). The result is NULL if it is not a result of tools/call, if the name of a member
 * is hidden, or if out of memory.
 */
json_t *mcp_relayed_result(TALLOC_CTX *mem, const char *scope, const json_t *result);

/* The features of an endpoint beside tools. */
struct mcp_features {
    bool resources, prompts;
    bool log;                 /* of upstreams */
    bool streams;             /* clients that wait for changes of lists are notified */
    bool watches;             /* ... and changes of URIs */
    const char *instructions; /* for the model of this caller, or NULL */
    bool decided;             /* policy was asked about them: the answer is the caller's alone */
};

/* Return the result of `server/discover`, and of `initialize` with this version. */
json_t *mcp_discover_result(TALLOC_CTX *mem, const struct mcp_features *features);
json_t *mcp_initialize_result(TALLOC_CTX *mem, const char *version,
                              const struct mcp_features *features);

/* Take the members from an entry of a list that the client's revision has not: before 2025-11-25
 * icons, before 2025-06-18 also title, outputSchema and `_meta`, and before 2026-07-28 an
 * outputSchema for other values than objects. */
void mcp_entry_fit(json_t *entry, const struct mcp_version *version);

/* Return the result of a list, or of a read, which the caller alone may keep for MCP_LIST_TTL_MS;
 * member: tools, ...; items: an array, borrowed. */
json_t *mcp_list_result(TALLOC_CTX *mem, const char *member, json_t *items);

/*
 * Return a result that asks the client to let its user open an address and then to send the request
 * again (MCP 2026-07-28, multi round-trip requests). `key` names this question in the result.
 */
json_t *mcp_elicit_url_result(TALLOC_CTX *mem, const char *key, const char *url,
                              const char *message, const char *state);

/*
 * Give a result what its revision has: a resultType, or neither that nor how long it may be kept;
 * before 2026-07-28 no structuredContent that is no object, and before 2025-06-18 none, and a text
 * in place of each link to a resource. False: out of memory.
 */
bool mcp_result_finish(json_t *result, const struct mcp_version *version);

#endif
