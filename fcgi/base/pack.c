#include "config.h"

#include "base/pack.h"

#include <limits.h>
#include <lz4.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/pack_dictionaries.h"

/* Longest length, in octets: three times seven bits hold PACK_TEXT_MAX. */
#define LENGTH_OCTETS 3

/* Most octets of text that one octet of an LZ4 block can stand for. A length beyond that is false,
 * and no memory is allocated for it. */
#define GROWTH_MAX 255

/* Return the dictionary for a text. */
static const struct pack_dictionary *
choose_dictionary(const char *text, size_t length)
{
    const struct pack_dictionary *last = &pack_dictionaries[PACK_DICTIONARIES - 1], *row;

    for (row = pack_dictionaries; row < last; row++) {
        size_t start = strlen(row->start);
        if (length >= start && memcmp(text, row->start, start) == 0)
            break;
    }
    return row;
}

/* Return the dictionary that a packed text names, or NULL. */
static const struct pack_dictionary *
find_dictionary(unsigned char number)
{
    for (size_t i = 0; i < PACK_DICTIONARIES; i++)
        if (pack_dictionaries[i].number == number)
            return &pack_dictionaries[i];
    return NULL;
}

/*
 * Return a stream that has read the dictionary. Reading costs more than packing does, so each
 * process keeps one stream per dictionary and packs with a copy. The streams hold no data of a
 * request.
 */
static const LZ4_stream_t *
primed_stream(const struct pack_dictionary *dictionary)
{
    static LZ4_stream_t streams[PACK_DICTIONARIES];
    static bool ready[PACK_DICTIONARIES];
    size_t index = (size_t) (dictionary - pack_dictionaries);

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

/* Read a length as put_length() writes it. Return its octets, or 0 for a length that is cut short,
 * too large or not in the shortest form (no length has two forms). */
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
    const struct pack_dictionary *dictionary = choose_dictionary(text, length);
    int bound = LZ4_compressBound((int) length);
    unsigned char *packed = talloc_size(mem, 1 + LENGTH_OCTETS + (size_t) bound);
    if (packed == NULL)
        return AZ_SERVER_ERROR;
    packed[0] = dictionary->number;
    size_t head = 1 + put_length(packed + 1, length);
    LZ4_stream_t stream = *primed_stream(dictionary);
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

    const struct pack_dictionary *dictionary = length >= 2 ? find_dictionary(packed[0]) : NULL;
    if (dictionary == NULL)
        return AZ_INVALID;
    size_t head = get_length(packed + 1, length - 1, &text_length);
    if (head++ == 0 || length > INT_MAX || text_length / GROWTH_MAX > length - head)
        return AZ_INVALID;
    /* LZ4 accepts a match of distance zero, which copies what the memory held before: zero it. */
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
