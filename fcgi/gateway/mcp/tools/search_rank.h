/*
 * Search among tools by words: BM25 (Robertson and Zaragoza 2009) over the fields of each tool, of
 * which the name counts most. What is common is counted over the given tools alone, so a tool that
 * is not given has no influence. Knows neither HTTP nor SQL.
 */
#ifndef AZ_GATEWAY_MCP_TOOLS_SEARCH_RANK_H
#define AZ_GATEWAY_MCP_TOOLS_SEARCH_RANK_H

#include "gateway/mcp/tools/catalogue.h"

/* Distinct words of a query that count. A sentence has fewer. */
#define RANK_TERMS_MAX 32

/* A tool that was found. */
struct rank_hit {
    const struct mcp_tool *tool;
    double score; /* greater than 0 */
};

/*
 * Rank tools by a query. *ret, on mem, has those that have a word of it, the best first; of equals,
 * in the order in which they are given. A word matches itself in any case, its plural, and, from
 * three letters on, a longer one that begins with it, which counts half. Return how many there are.
 * *ret is NULL if out of memory.
 */
size_t rank_tools(TALLOC_CTX *mem, const char *query, const struct mcp_tool *const *tools,
                  size_t count, struct rank_hit **ret);

#endif
