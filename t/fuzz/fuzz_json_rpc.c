/* Messages of MCP callers and upstreams: whatever is read keeps the limits, has one revision, and
 * survives being an upstream's answer. */
#include "config.h"

#include <string.h>
#include <talloc.h>

#include "fuzz/fuzz.h"
#include "gateway/mcp/message/result.h"
#include "gateway/mcp/message/version.h"
#include "gateway/mcp/peer/peer_list.h"
#include "gateway/mcp/peer/peer_message.h"

static void
check_version(TALLOC_CTX *mem, const struct json_rpc *message)
{
    const char *method = message->method;
    const struct mcp_headers none = {NULL, NULL, NULL}, modern = {MCP_MODERN, method, NULL};
    struct mcp_version version;
    struct json_rpc_fault fault = {.code = 0};
    if (mcp_version_find(mem, message, &none, &version, &fault) == AZ_OK)
        MUST(!version.modern && !version.opens_urls
             && strcmp(version.name, MCP_LEGACY_OLDEST) == 0);
    else
        MUST(fault.http == 400 && fault.code != 0 && fault.message != NULL);
    if (mcp_version_find(mem, message, &modern, &version, &fault) == AZ_OK && version.modern)
        MUST(strcmp(version.name, MCP_MODERN) == 0
             && json_object_get(message->params, "_meta") != NULL);
}

static void
check_answer(TALLOC_CTX *mem, const struct json_rpc *message)
{
    size_t left_out = 0;
    const char *cursor = NULL;
    json_t *tools = json_array();
    json_t *relayed = mcp_relayed_result(mem, NULL, message->result);
    MUST(relayed == NULL
         || (json_is_array(json_object_get(relayed, "content")) && json_object_size(relayed) <= 3));
    if (peer_entries_add(mem, &peer_tools, message->result, tools, &left_out, &cursor) == AZ_OK)
        MUST(json_array_size(tools) <= PEER_TOOLS_MAX
             && (cursor == NULL || strlen(cursor) <= PEER_CURSOR_MAX));
    json_decref(tools);
    peer_is_modern(message->result);
    if (message->error != NULL) {
        const char *text = peer_error_text(mem, message->error);
        MUST(text != NULL && strlen(text) <= PEER_MESSAGE_MAX + 50);
        MUST(text[strcspn(text, "\r\n\x1b\x7f")] == '\0');
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct json_rpc message;
    struct json_rpc_fault fault = {.code = 0};
    enum az_status st = json_rpc_read(mem, (const char *) data, size, &message, &fault);
    MUST(st == AZ_OK || st == AZ_INVALID);
    MUST((st == AZ_OK) == (fault.code == 0));
    MUST(message.id == NULL || json_is_integer(message.id)
         || (json_is_string(message.id) && json_string_length(message.id) <= JSON_RPC_ID_MAX));
    if (st == AZ_OK && message.method != NULL) {
        MUST(strlen(message.method) <= JSON_RPC_METHOD_MAX);
        MUST((message.id == NULL) == (message.kind == JSON_RPC_NOTIFICATION));
        check_version(mem, &message);
    } else if (st == AZ_OK) {
        MUST((message.result == NULL) != (message.error == NULL));
        check_answer(mem, &message);
    }
    talloc_free(mem);
    return 0;
}
