/*
 * Prompts of MCP upstreams whose `mcpPrompts` is pinned (gateway-admin.md 1.7): lists show the
 * stored prompts that are approved; policy decides about each get, which is passed on.
 */
#ifndef AZ_GATEWAY_MCP_READS_PROMPTS_H
#define AZ_GATEWAY_MCP_READS_PROMPTS_H

#include "gateway/mcp/reads/resources.h"

/* Octets of one argument of a prompt: people type them. */
#define PROMPT_ARGUMENT_MAX 65536
/* Messages of one prompt. */
#define PROMPT_MESSAGES_MAX 100

/* Find out if the endpoint of this request has prompts: its resource has, or one of all enabled
 * resources. */
enum az_status mcp_serves_prompts(struct mcp_exchange *it, bool *ret);

/* Handle prompts/list and prompts/get. */
enum az_status mcp_list_prompts(struct mcp_exchange *it);
enum az_status mcp_get_prompt(struct mcp_exchange *it);

/* Find the prompt that clients of this endpoint know by a name (or NULL), and begin a call of it.
 * An unknown one becomes the answer, AZ_OK. */
enum az_status mcp_find_prompt(struct mcp_exchange *it, const char *name, struct resource_call *c);

#endif
