#include "config.h"

#include "gateway/mcp/message/log_level.h"

#include <stddef.h>
#include <string.h>

static const char *const levels[] = {"debug", "info",     "notice", "warning",
                                     "error", "critical", "alert",  "emergency"};

int
mcp_log_level(const char *word)
{
    for (size_t i = 0; word != NULL && i < sizeof(levels) / sizeof(levels[0]); i++)
        if (strcmp(levels[i], word) == 0)
            return (int) i;
    return MCP_LOG_UNSAID;
}

const char *
mcp_log_word(int level)
{
    return level >= 0 && (size_t) level < sizeof(levels) / sizeof(levels[0]) ? levels[level] : NULL;
}
