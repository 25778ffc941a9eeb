#include "config.h"

#include "gateway/mcp/peer/log.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "gateway/mcp/message/log_level.h"
#include "gateway/mcp/message/shown_text.h"

bool
peer_log_take(TALLOC_CTX *mem, struct peer_log *log, const struct json_rpc *message)
{
    json_t *data = json_object_get(message->params, "data");
    const char *logger = json_string_value(json_object_get(message->params, "logger"));
    int level = mcp_log_level(json_string_value(json_object_get(message->params, "level")));
    if (strcmp(message->method, "notifications/message") != 0 || level == MCP_LOG_UNSAID
        || level < log->level || data == NULL || log->sent >= PEER_LOG_MAX)
        return true;
    data = jsonx_own(mem, shown_value(mem, data));
    const char *text = data != NULL ? jsonx_dump(mem, data) : NULL;
    if (text == NULL || strlen(text) > PEER_LOG_OCTETS_MAX)
        return true;
    json_t *shown =
        jsonx_own(mem, json_pack("{s:s,s:o*,s:O}", "level", mcp_log_word(level), "logger",
                                 logger != NULL ? shown_text(mem, logger) : NULL, "data", data));
    log->sent++;
    return shown == NULL || log->tell(log->arg, shown);
}
