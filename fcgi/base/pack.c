#include "config.h"

#include "base/pack.h"

#include <limits.h>
#include <lz4.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/pack_dictionaries.h"

/* Octets of the longest length: three times seven bits hold PACK_TEXT_MAX. */
#define LENGTH_OCTETS 3

/* No octet of an LZ4 block stands for more octets of text. A length that lies gets no memory. */
#define GROWTH_MAX 255

/* The index of the dictionary that fits text. */
static size_t
choose_dictionary(const char *text, size_t length)
{
    size_t i = 0;

    for (; i < PACK_DICTIONARIES - 1; i++) {
        size_t start = strlen(pack_dictionaries[i].start);
        if (length >= start && memcmp(text, pack_dictionaries[i].start, start) == 0)
            break;
    }
    return i;
}

/*
 * A stream that has read the dictionary. Reading costs more than the packing itself, so each
 * process keeps one per dictionary and packs with a copy (they hold no request's data).
 */
static const LZ4_stream_t *
primed_stream(size_t index)
{
    static LZ4_stream_t streams[PACK_DICTIONARIES];
    static bool ready[PACK_DICTIONARIES];
    const struct pack_dictionary *dictionary = &pack_dictionaries[index];

    if (!ready[index]) {
        LZ4_initStream(&streams[index], sizeof(streams[index]));
        LZ4_loadDict(&streams[index], dictionary->text, (int) dictionary->length);
        ready[index] = true;
    }
    return &streams[index];
}

static size_t
put_length(unsigned char *out, size_t length)
{
    size_t octets = 0;

    for (; length > 0x7f; length >>= 7)
        out[octets++] = (unsigned char) (0x80 | (length & 0x7f));
    out[octets++] = (unsigned char) length;
    return octets;
}

/* Reads what put_length() wrote and nothing else: no length has two forms. Returns its octets, or 0
 * for a length that is cut short, too large or not the shortest form. */
static size_t
get_length(const unsigned char *packed, size_t left, size_t *ret)
{
    size_t value = 0;

    for (size_t i = 0; i < LENGTH_OCTETS && i < left; i++) {
        value |= (size_t) (packed[i] & 0x7f) << 7 * i;
        if (packed[i] & 0x80)
            continue;
        if (value > PACK_TEXT_MAX || (i > 0 && packed[i] == 0))
            return 0;
        *ret = value;
        return i + 1;
    }
    return 0;
}

enum az_status
pack_text(TALLOC_CTX *mem, const char *text, size_t length, unsigned char **ret, size_t *ret_length)
{
    if (length > PACK_TEXT_MAX)
        return AZ_SERVER_ERROR;
    size_t index = choose_dictionary(text, length);
    int bound = LZ4_compressBound((int) length);
    unsigned char *packed = talloc_size(mem, 1 + LENGTH_OCTETS + (size_t) bound);
    if (packed == NULL)
        return AZ_SERVER_ERROR;
    packed[0] = (unsigned char) (index + 1);
    size_t head = 1 + put_length(packed + 1, length);
    LZ4_stream_t stream = *primed_stream(index);
    int octets =
        LZ4_compress_fast_continue(&stream, text, (char *) packed + head, (int) length, bound, 1);
    if (octets <= 0) {
        talloc_free(packed);
        return AZ_SERVER_ERROR;
    }
    *ret_length = head + (size_t) octets;
    *ret = packed;
    return AZ_OK;
}

enum az_status
unpack_text(TALLOC_CTX *mem, const unsigned char *packed, size_t length, char **ret,
            size_t *ret_length)
{
    size_t text_length;

    if (length < 2 || packed[0] == 0 || packed[0] > PACK_DICTIONARIES)
        return AZ_INVALID;
    size_t head = get_length(packed + 1, length - 1, &text_length);
    if (head++ == 0 || length > INT_MAX || text_length / GROWTH_MAX > length - head)
        return AZ_INVALID;
    const struct pack_dictionary *dictionary = &pack_dictionaries[packed[0] - 1];
    /* LZ4 takes a match of distance zero, which gives what the memory held before. */
    char *text = talloc_zero_size(mem, text_length + 1);
    if (text == NULL)
        return AZ_SERVER_ERROR;
    int octets = LZ4_decompress_safe_usingDict((const char *) packed + head, text,
                                               (int) (length - head), (int) text_length,
                                               dictionary->text, (int) dictionary->length);
    if (octets < 0 || (size_t) octets != text_length) {
        talloc_free(text);
        return AZ_INVALID;
    }
    *ret = text;
    *ret_length = text_length;
    return AZ_OK;
}
