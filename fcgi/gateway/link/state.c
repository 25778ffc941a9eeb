#include "config.h"

#include "gateway/link/state.h"

#include <string.h>

#include "crypto/secret.h"

#define STATE_PREFIX "v1."
#define STATE_PREFIX_LENGTH 3
#define STATE_PAYLOAD_LENGTH B64URL_LENGTH(LINK_PAYLOAD_OCTETS)

/* Prefix of the signed text: a signature that the key made for another purpose is not valid here.
 */
static const char signed_prefix[] = "link\0v1";

enum az_status
link_key_derive(const char *secret, unsigned char ret[SHA256_OCTETS])
{
    static const char info[] = "gateway link state";
    return hkdf_sha256(secret, strlen(secret), NULL, 0, info, sizeof(info) - 1, ret, SHA256_OCTETS);
}

static enum az_status
state_mac(const unsigned char key[SHA256_OCTETS], const unsigned char payload[LINK_PAYLOAD_OCTETS],
          unsigned char ret[SHA256_OCTETS])
{
    unsigned char text[sizeof(signed_prefix) + LINK_PAYLOAD_OCTETS];
    memcpy(text, signed_prefix, sizeof(signed_prefix));
    memcpy(text + sizeof(signed_prefix), payload, LINK_PAYLOAD_OCTETS);
    return hmac_sha256(key, SHA256_OCTETS, text, sizeof(text), ret);
}

enum az_status
link_state_make(const struct link_keys *keys, const struct link_state *state,
                char ret[LINK_STATE_SIZE])
{
    unsigned char payload[LINK_PAYLOAD_OCTETS], mac[SHA256_OCTETS];
    uint64_t expiry = (uint64_t) state->expires_at;
    memcpy(payload, state->jti, LINK_JTI_OCTETS);
    for (size_t i = 0; i < LINK_EXPIRY_OCTETS; i++)
        payload[LINK_JTI_OCTETS + i] =
            (unsigned char) (expiry >> (8 * (LINK_EXPIRY_OCTETS - 1 - i)));
    if (keys->count == 0 || state_mac(keys->key[0], payload, mac) != AZ_OK)
        return AZ_SERVER_ERROR;
    memcpy(ret, STATE_PREFIX, STATE_PREFIX_LENGTH);
    b64url_encode_into(payload, sizeof(payload), ret + STATE_PREFIX_LENGTH);
    ret[STATE_PREFIX_LENGTH + STATE_PAYLOAD_LENGTH] = '.';
    b64url_encode_into(mac, sizeof(mac), ret + STATE_PREFIX_LENGTH + STATE_PAYLOAD_LENGTH + 1);
    return AZ_OK;
}

/* True if one of the keys made the HMAC. All keys are tried in any case. */
static bool
is_signed(const struct link_keys *keys, const unsigned char payload[LINK_PAYLOAD_OCTETS],
          const unsigned char mac[SHA256_OCTETS])
{
    bool found = false;
    for (size_t i = 0; i < keys->count; i++) {
        unsigned char made[SHA256_OCTETS];
        bool equal = state_mac(keys->key[i], payload, made) == AZ_OK
                     && secret_equal(made, sizeof(made), mac, SHA256_OCTETS);
        found = found || equal;
    }
    return found;
}

enum az_status
link_state_read(const struct link_keys *keys, const char *text, struct link_state *ret)
{
    unsigned char payload[LINK_PAYLOAD_OCTETS], mac[SHA256_OCTETS];
    const char *box = text + STATE_PREFIX_LENGTH;
    uint64_t expiry = 0;
    if (strlen(text) != LINK_STATE_LENGTH || strncmp(text, STATE_PREFIX, STATE_PREFIX_LENGTH) != 0
        || box[STATE_PAYLOAD_LENGTH] != '.'
        || b64url_decode_into(box, STATE_PAYLOAD_LENGTH, payload, sizeof(payload)) != AZ_OK
        || b64url_decode_into(box + STATE_PAYLOAD_LENGTH + 1, B64URL_LENGTH(SHA256_OCTETS), mac,
                              sizeof(mac))
               != AZ_OK
        || !is_signed(keys, payload, mac))
        return AZ_INVALID;
    for (size_t i = 0; i < LINK_EXPIRY_OCTETS; i++)
        expiry = expiry << 8 | payload[LINK_JTI_OCTETS + i];
    if (expiry > INT64_MAX)
        return AZ_INVALID;
    memcpy(ret->jti, payload, LINK_JTI_OCTETS);
    ret->expires_at = (int64_t) expiry;
    return AZ_OK;
}
