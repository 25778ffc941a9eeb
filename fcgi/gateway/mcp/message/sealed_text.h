/* Texts that MCP clients get and send back, and that only this service makes and opens: states of
 * calls, sessions, and ids of questions. */
#ifndef AZ_GATEWAY_MCP_MESSAGE_SEALED_TEXT_H
#define AZ_GATEWAY_MCP_MESSAGE_SEALED_TEXT_H

#include "base/op.h"

/* Return `prefix` and the sealed octets as base64url, on op->mem; NULL: no memory, or the library
 * failed. A text of one `place` does not open for another. */
const char *mcp_seal_text(struct op *op, const char *prefix, const char *place, const void *octets,
                          size_t length);

/* Open what mcp_seal_text() made with the same prefix and place. *ret is on op->mem, wiped when it
 * is freed. AZ_INVALID: the text was not made so. */
enum az_status mcp_open_text(struct op *op, const char *prefix, const char *place, const char *text,
                             unsigned char **ret, size_t *ret_length);

#endif
