#include "config.h"

#include "gateway/mcp/message/sealed_text.h"

#include <string.h>

#include "base/b64url.h"
#include "crypto/keyring.h"

const char *
mcp_seal_text(struct op *op, const char *prefix, const char *place, const void *octets,
              size_t length)
{
    unsigned char *box = NULL;
    size_t box_length;
    if (keyring_seal(op->mem, op->az->keyring, KEYRING_MCP_STATE, place, octets, length, &box,
                     &box_length)
        != AZ_OK)
        return NULL;
    const char *encoded = b64url_encode(op->mem, box, box_length);
    return encoded != NULL ? talloc_asprintf(op->mem, "%s%s", prefix, encoded) : NULL;
}

enum az_status
mcp_open_text(struct op *op, const char *prefix, const char *place, const char *text,
              unsigned char **ret, size_t *ret_length)
{
    size_t begin = strlen(prefix), length;
    unsigned char *box = NULL;
    if (strncmp(text, prefix, begin) != 0)
        return AZ_INVALID;
    enum az_status st = b64url_decode(op->mem, text + begin, strlen(text + begin), &box, &length);
    return st == AZ_OK ? keyring_open(op->mem, op->az->keyring, KEYRING_MCP_STATE, place, box,
                                      length, ret, ret_length)
                       : st;
}
