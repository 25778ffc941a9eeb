#include "config.h"

#include "base/b64url.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static const char url_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* The two characters that differ between the alphabets. */
struct alphabet {
    char digit_62;
    char digit_63;
};

static const struct alphabet url_alphabet = {'-', '_'};
static const struct alphabet standard_alphabet = {'+', '/'};

/* Return the value of one character, or -1. Octets above 127 are in no range. */
static int
b64url_digit_value(const struct alphabet *alphabet, char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    if (c == alphabet->digit_62)
        return 62;
    if (c == alphabet->digit_63)
        return 63;
    return -1;
}

/* Return the number of octets in len characters. False for 4n+1 characters, which no octets
 * encode to. */
static bool
decoded_size(size_t len, size_t *ret)
{
    if (len % 4 == 1)
        return false;
    *ret = len / 4 * 3 + (len % 4 ? len % 4 - 1 : 0);
    return true;
}

/* Decode into out, which has room for decoded_size(len). */
static bool
decode_octets(const struct alphabet *alphabet, const char *text, size_t len, unsigned char *out)
{
    uint32_t bits = 0;
    unsigned held = 0;

    for (size_t i = 0; i < len; i++) {
        int value = b64url_digit_value(alphabet, text[i]);
        if (value < 0)
            return false;
        bits = bits << 6 | (uint32_t) value;
        held += 6;
        if (held >= 8) {
            held -= 8;
            *out++ = (unsigned char) (bits >> held);
            bits &= (1U << held) - 1;
        }
    }
    return bits == 0;
}

static enum az_status
decode_new(TALLOC_CTX *mem, const struct alphabet *alphabet, const char *text, size_t len,
           unsigned char **ret, size_t *ret_len)
{
    size_t size;
    if (!decoded_size(len, &size))
        return AZ_INVALID;
    unsigned char *out = talloc_size(mem, size + 1);
    if (out == NULL)
        return AZ_SERVER_ERROR;
    if (!decode_octets(alphabet, text, len, out)) {
        explicit_bzero(out, size);
        talloc_free(out);
        return AZ_INVALID;
    }
    out[size] = '\0';
    *ret = out;
    *ret_len = size;
    return AZ_OK;
}

enum az_status
b64url_decode(TALLOC_CTX *mem, const char *text, size_t len, unsigned char **ret, size_t *ret_len)
{
    return decode_new(mem, &url_alphabet, text, len, ret, ret_len);
}

enum az_status
b64url_decode_into(const char *text, size_t len, void *ret, size_t size)
{
    size_t need;
    if (!decoded_size(len, &need) || need != size)
        return AZ_INVALID;
    if (!decode_octets(&url_alphabet, text, len, ret)) {
        explicit_bzero(ret, size);
        return AZ_INVALID;
    }
    return AZ_OK;
}

enum az_status
b64_decode(TALLOC_CTX *mem, const char *text, size_t len, unsigned char **ret, size_t *ret_len)
{
    return len % 4 == 0 ? b64_decode_lenient(mem, text, len, ret, ret_len) : AZ_INVALID;
}

enum az_status
b64_decode_lenient(TALLOC_CTX *mem, const char *text, size_t len, unsigned char **ret,
                   size_t *ret_len)
{
    size_t padding = 0;
    while (padding < 2 && padding < len && text[len - padding - 1] == '=')
        padding++;
    if (padding > 0 && len % 4 != 0)
        return AZ_INVALID;
    return decode_new(mem, &standard_alphabet, text, len - padding, ret, ret_len);
}

void
b64url_encode_into(const void *data, size_t len, char *ret)
{
    const unsigned char *in = data;
    uint32_t bits = 0;
    unsigned held = 0;

    for (size_t i = 0; i < len; i++) {
        bits = (bits << 8 | in[i]) & 0xffff;
        held += 8;
        while (held >= 6) {
            held -= 6;
            *ret++ = url_digits[bits >> held & 63];
        }
    }
    if (held > 0)
        *ret++ = url_digits[bits << (6 - held) & 63];
    *ret = '\0';
}

char *
b64url_encode(TALLOC_CTX *mem, const void *data, size_t len)
{
    if (len > SIZE_MAX / 4 - 1)
        return NULL;
    char *text = talloc_size(mem, B64URL_LENGTH(len) + 1);
    if (text != NULL)
        b64url_encode_into(data, len, text);
    return text;
}

char *
b64_encode(TALLOC_CTX *mem, const void *data, size_t len)
{
    if (len > SIZE_MAX / 4 - 4)
        return NULL;
    char *text = talloc_size(mem, (len + 2) / 3 * 4 + 1), *c = text;
    if (text == NULL)
        return NULL;
    b64url_encode_into(data, len, text);
    for (; *c != '\0'; c++)
        *c = *c == url_alphabet.digit_62   ? standard_alphabet.digit_62
             : *c == url_alphabet.digit_63 ? standard_alphabet.digit_63
                                           : *c;
    for (; (c - text) % 4 != 0; c++)
        *c = '=';
    *c = '\0';
    return text;
}
