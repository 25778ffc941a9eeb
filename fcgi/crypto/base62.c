#include "config.h"

#include "crypto/base62.h"

static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

static int
base62_digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'A' && c <= 'Z')
        return c - 'A' + 10;
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 36;
    return -1;
}

void
base62_encode(uint32_t value, char *ret)
{
    for (int i = BASE62_LENGTH - 1; i >= 0; i--) {
        ret[i] = digits[value % 62];
        value /= 62;
    }
}

enum az_status
base62_decode(const char *text, uint32_t *ret)
{
    uint64_t value = 0;

    for (int i = 0; i < BASE62_LENGTH; i++) {
        int digit = base62_digit_value(text[i]);
        if (digit < 0)
            return AZ_INVALID;
        value = value * 62 + (uint64_t) digit;
    }
    if (value > UINT32_MAX)
        return AZ_INVALID;
    *ret = (uint32_t) value;
    return AZ_OK;
}
