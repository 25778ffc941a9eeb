/* Members of MCP that are null. Stock servers and clients write the members that they leave out as
 * null; MCP has no member that may be null, so such a member is absent. */
#ifndef AZ_GATEWAY_MCP_MESSAGE_NULLS_H
#define AZ_GATEWAY_MCP_MESSAGE_NULLS_H

#include <jansson.h>

/*
 * Remove the null members of params, result and error of a message, in objects at any depth, before
 * anything reads them: no check trips over one, and none is passed on. The id stays, where null
 * says something (JSON-RPC 2.0 section 5). Within the data of tools and people (structuredContent,
 * arguments, _meta, schemas of tools, data of errors and logs, and the like) a null is a value.
 * Elements of arrays stay.
 */
void nulls_drop(json_t *message);

#endif
