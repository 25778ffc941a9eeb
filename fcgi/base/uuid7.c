#include "config.h"

#include "base/uuid7.h"

#include <string.h>

void
uuid7_make(uint64_t now_ms, const unsigned char random[UUID7_RANDOM_OCTETS],
           unsigned char ret[UUID7_OCTETS])
{
    for (int i = 0; i < 6; i++)
        ret[i] = (unsigned char) (now_ms >> (40 - 8 * i));
    memcpy(ret + 6, random, UUID7_RANDOM_OCTETS);
    ret[6] = (unsigned char) (0x70 | (ret[6] & 0x0f)); /* version 7 */
    ret[8] = (unsigned char) (0x80 | (ret[8] & 0x3f)); /* variant 10 */
}

static const char digits[] = "0123456789abcdef";

static int
is_hyphen_place(size_t place)
{
    return place == 8 || place == 13 || place == 18 || place == 23;
}

void
uuid7_format(const unsigned char id[UUID7_OCTETS], char ret[UUID7_TEXT_LENGTH + 1])
{
    size_t nibble = 0;

    for (size_t i = 0; i < UUID7_TEXT_LENGTH; i++) {
        if (is_hyphen_place(i)) {
            ret[i] = '-';
            continue;
        }
        ret[i] = digits[nibble % 2 ? id[nibble / 2] & 0x0f : id[nibble / 2] >> 4];
        nibble++;
    }
    ret[UUID7_TEXT_LENGTH] = '\0';
}

enum az_status
uuid7_parse(const char *text, unsigned char ret[UUID7_OCTETS])
{
    unsigned char id[UUID7_OCTETS] = {0};
    char again[UUID7_TEXT_LENGTH + 1];
    size_t nibble = 0;

    if (strlen(text) != UUID7_TEXT_LENGTH)
        return AZ_INVALID;
    for (size_t i = 0; i < UUID7_TEXT_LENGTH; i++) {
        if (is_hyphen_place(i))
            continue;
        const char *digit = text[i] != '\0' ? strchr(digits, text[i]) : NULL;
        if (digit == NULL)
            return AZ_INVALID;
        id[nibble / 2] = (unsigned char) (id[nibble / 2] << 4 | (digit - digits));
        nibble++;
    }
    /* With the hyphens the whole text is checked: there is only one form. */
    uuid7_format(id, again);
    if (memcmp(again, text, UUID7_TEXT_LENGTH) != 0 || uuid7_check(id) != AZ_OK)
        return AZ_INVALID;
    memcpy(ret, id, UUID7_OCTETS);
    return AZ_OK;
}

enum az_status
uuid7_check(const unsigned char id[UUID7_OCTETS])
{
    return id[6] >> 4 == 7 && id[8] >> 6 == 2 ? AZ_OK : AZ_INVALID;
}

uint64_t
uuid7_ms(const unsigned char id[UUID7_OCTETS])
{
    uint64_t ms = 0;

    for (int i = 0; i < 6; i++)
        ms = ms << 8 | id[i];
    return ms;
}
