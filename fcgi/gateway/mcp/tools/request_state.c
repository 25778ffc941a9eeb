#include "config.h"

#include "gateway/mcp/tools/request_state.h"

#include <string.h>

#include "base/b64url.h"
#include "base/json/jsonx.h"
#include "crypto/digest.h"
#include "crypto/keyring.h"

#define PREFIX "v1."
#define EXPIRY_OCTETS 8
#define PAYLOAD_OCTETS (EXPIRY_OCTETS + SHA256_OCTETS)

enum az_status
stated_call_hash(struct op *op, const struct stated_call *call, unsigned char ret[SHA256_OCTETS])
{
    json_t *parts = jsonx_own(op->mem, json_pack("[s?,s,s,s,O?]", call->subject, call->client_id,
                                                 call->resource, call->tool, call->arguments));
    const char *text = parts != NULL ? jsonx_dump_sorted(op->mem, parts) : NULL;
    return text != NULL ? sha256(text, strlen(text), ret) : AZ_SERVER_ERROR;
}

static enum az_status
mcp_state_mac(struct op *op, const unsigned char payload[PAYLOAD_OCTETS],
              unsigned char ret[SHA256_OCTETS])
{
    return keyring_mac(op->az->keyring, KEYRING_MCP_STATE, payload, PAYLOAD_OCTETS, ret);
}

const char *
request_state_make(struct op *op, const struct stated_call *call)
{
    unsigned char payload[PAYLOAD_OCTETS], mac[SHA256_OCTETS];
    char left[B64URL_LENGTH(PAYLOAD_OCTETS) + 1], right[B64URL_LENGTH(SHA256_OCTETS) + 1];
    uint64_t expiry = (uint64_t) op_now(op) + REQUEST_STATE_SECONDS;
    for (size_t i = EXPIRY_OCTETS; i-- > 0; expiry >>= 8)
        payload[i] = (unsigned char) expiry;
    if (stated_call_hash(op, call, payload + EXPIRY_OCTETS) != AZ_OK
        || mcp_state_mac(op, payload, mac) != AZ_OK)
        return NULL;
    b64url_encode_into(payload, sizeof(payload), left);
    b64url_encode_into(mac, sizeof(mac), right);
    return talloc_asprintf(op->mem, PREFIX "%s.%s", left, right);
}

bool
request_state_check(struct op *op, const char *text, const struct stated_call *call)
{
    size_t left = B64URL_LENGTH(PAYLOAD_OCTETS), right = B64URL_LENGTH(SHA256_OCTETS);
    unsigned char payload[PAYLOAD_OCTETS], mac[SHA256_OCTETS], wanted[SHA256_OCTETS];
    uint64_t expiry = 0;
    if (strlen(text) != strlen(PREFIX) + left + 1 + right
        || strncmp(text, PREFIX, strlen(PREFIX)) != 0)
        return false;
    text += strlen(PREFIX);
    if (text[left] != '.' || b64url_decode_into(text, left, payload, sizeof(payload)) != AZ_OK
        || b64url_decode_into(text + left + 1, right, mac, sizeof(mac)) != AZ_OK
        || mcp_state_mac(op, payload, wanted) != AZ_OK
        || !secret_equal(mac, sizeof(mac), wanted, sizeof(wanted)))
        return false;
    for (size_t i = 0; i < EXPIRY_OCTETS; i++)
        expiry = expiry << 8 | payload[i];
    return expiry > (uint64_t) op_now(op) && stated_call_hash(op, call, wanted) == AZ_OK
           && memcmp(payload + EXPIRY_OCTETS, wanted, sizeof(wanted)) == 0;
}
