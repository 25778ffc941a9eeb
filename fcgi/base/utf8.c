#include "config.h"

#include "base/utf8.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/*
 * RFC 3629 section 4:
 *   UTF8-1 = %x00-7F
 *   UTF8-2 = %xC2-DF UTF8-tail
 *   UTF8-3 = %xE0 %xA0-BF UTF8-tail / %xE1-EC 2( UTF8-tail ) /
 *            %xED %x80-9F UTF8-tail / %xEE-EF 2( UTF8-tail )
 *   UTF8-4 = %xF0 %x90-BF 2( UTF8-tail ) / %xF1-F3 3( UTF8-tail ) / %xF4 %x80-8F 2( UTF8-tail )
 * One row per lead range; the second octet has its own range, all others are %x80-BF.
 */
static const struct lead {
    unsigned char first, last;            /* range of the lead octet */
    unsigned char second_min, second_max; /* range of the octet after it */
    unsigned char octets;                 /* length of the whole sequence */
} leads[] = {
    {0xc2, 0xdf, 0x80, 0xbf, 2},
    {0xe0, 0xe0, 0xa0, 0xbf, 3},
    {0xe1, 0xec, 0x80, 0xbf, 3},
    {0xed, 0xed, 0x80, 0x9f, 3},
    {0xee, 0xef, 0x80, 0xbf, 3},
    {0xf0, 0xf0, 0x90, 0xbf, 4},
    {0xf1, 0xf3, 0x80, 0xbf, 4},
    {0xf4, 0xf4, 0x80, 0x8f, 4},
};

/* Return the length of the sequence at text, of which left octets exist; 0 if it is malformed. */
static size_t
sequence_length(const unsigned char *text, size_t left)
{
    if (text[0] < 0x80)
        return 1;
    for (size_t i = 0; i < sizeof(leads) / sizeof(leads[0]); i++) {
        const struct lead *lead = &leads[i];
        if (text[0] < lead->first || text[0] > lead->last)
            continue;
        if (left < lead->octets || text[1] < lead->second_min || text[1] > lead->second_max)
            return 0;
        for (size_t tail = 2; tail < lead->octets; tail++)
            if ((text[tail] & 0xc0) != 0x80)
                return 0;
        return lead->octets;
    }
    return 0;
}

/* Return the number of octets before the first word that is not all ASCII. */
static size_t
ascii_words(const unsigned char *text, size_t len)
{
    size_t at = 0;
    uint64_t word;
    for (; len - at >= sizeof(word); at += sizeof(word)) {
        memcpy(&word, text + at, sizeof(word));
        if ((word & UINT64_C(0x8080808080808080)) != 0)
            break;
    }
    return at;
}

bool
utf8_valid(const char *text, size_t len)
{
    const unsigned char *at = (const unsigned char *) text;

    while (len > 0) {
        size_t octets = ascii_words(at, len);
        if (octets == 0)
            octets = sequence_length(at, len);
        if (octets == 0)
            return false;
        at += octets;
        len -= octets;
    }
    return true;
}

bool
text_has_nul(const char *text, size_t len)
{
    return len > 0 && memchr(text, '\0', len) != NULL;
}

size_t
utf8_length(const char *text, size_t len)
{
    size_t count = 0;

    for (size_t i = 0; i < len; i++)
        if (((unsigned char) text[i] & 0xc0) != 0x80)
            count++;
    return count;
}

/* ---- texts that end with a NUL */

size_t
utf8_step(const char *text, unsigned *ret_point)
{
    const unsigned char *octet = (const unsigned char *) text;
    /* A NUL is no second octet and no tail, so the sequence ends before it. */
    size_t octets = sequence_length(octet, SIZE_MAX);
    *ret_point = octets == 0   ? UTF8_MALFORMED
                 : octets == 1 ? octet[0]
                               : octet[0] & (0x7fU >> octets);
    for (size_t i = 1; i < octets; i++)
        *ret_point = *ret_point << 6 | (octet[i] & 0x3fU);
    return octet[0] == '\0' ? 0 : octets == 0 ? 1 : octets;
}

/* Return the length of the sequences that an octet begins; 1 if it begins none. */
static size_t
length_of_lead(unsigned char octet)
{
    for (size_t i = 0; i < sizeof(leads) / sizeof(leads[0]); i++)
        if (octet >= leads[i].first && octet <= leads[i].last)
            return leads[i].octets;
    return 1;
}

size_t
utf8_start(const char *text, size_t max)
{
    size_t length = strnlen(text, max);
    for (size_t back = 1; back < 4 && back <= length; back++) {
        unsigned char octet = (unsigned char) text[length - back];
        if ((octet & 0xc0) != 0x80)
            return length_of_lead(octet) > back ? length - back : length;
    }
    return length;
}

char *
utf8_strndup(TALLOC_CTX *mem, const char *text, size_t max)
{
    return talloc_strndup(mem, text, utf8_start(text, max));
}

void
utf8_print(char *room, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    utf8_vprint(room, size, format, args);
    va_end(args);
}

void
utf8_vprint(char *room, size_t size, const char *format, va_list args)
{
    vsnprintf(room, size, format, args);
    room[utf8_start(room, size)] = '\0';
}
