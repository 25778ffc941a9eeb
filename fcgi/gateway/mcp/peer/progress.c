#include "config.h"

#include "gateway/mcp/peer/progress.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "gateway/mcp/message/shown_text.h"

/* True if a notification is progress of our request. */
static bool
is_ours(const struct json_rpc *message)
{
    const json_t *token = json_object_get(message->params, "progressToken");
    return strcmp(message->method, "notifications/progress") == 0 && json_is_integer(token)
           && json_integer_value(token) == PROGRESS_TOKEN
           && json_is_number(json_object_get(message->params, "progress"));
}

/* True if one more may be passed on in this second. */
static bool
has_room(struct peer_progress *progress, int64_t second)
{
    if (second != progress->second)
        progress->sent = 0;
    progress->second = second;
    return progress->sent < PROGRESS_RATE;
}

bool
peer_progress_take(TALLOC_CTX *mem, struct peer_progress *progress, int64_t now_ms,
                   const struct json_rpc *message)
{
    json_t *value = json_object_get(message->params, "progress");
    json_t *total = json_object_get(message->params, "total");
    const char *text = json_string_value(json_object_get(message->params, "message"));
    if (!is_ours(message) || (progress->begun && json_number_value(value) <= progress->last)
        || !has_room(progress, now_ms / 1000))
        return true;
    json_t *shown = jsonx_own(mem, json_pack("{s:O,s:O*,s:o*}", "progress", value, "total",
                                             json_is_number(total) ? total : NULL, "message",
                                             text != NULL ? shown_text(mem, text) : NULL));
    progress->begun = true;
    progress->last = json_number_value(value);
    progress->sent++;
    return shown == NULL || progress->tell(progress->arg, shown);
}
