/* The levels of log messages (MCP, server/utilities/logging; RFC 5424 6.2.1), from debug, 0, to
 * emergency, 7. */
#ifndef AZ_GATEWAY_MCP_MESSAGE_LOG_LEVEL_H
#define AZ_GATEWAY_MCP_MESSAGE_LOG_LEVEL_H

/* In place of a level: the client did not set a level. */
#define MCP_LOG_UNSAID (-1)

/* Return the level that a word (or NULL) names, or MCP_LOG_UNSAID for any other word. */
int mcp_log_level(const char *word);

/* Return the word of a level, or NULL for MCP_LOG_UNSAID. */
const char *mcp_log_word(int level);

#endif
