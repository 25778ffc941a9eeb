#include "config.h"

#include "policy/engine/archive_read.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>

#define BLOCK 512
/* Fields of a ustar header (POSIX.1-2017 pax, "ustar Interchange Format"). */
#define NAME_FIELD 100
#define SIZE_AT 124
#define SIZE_FIELD 12
#define TYPE_AT 156
/* windowBits of inflateInit2 for a gzip wrapper */
#define GZIP_WINDOW (15 + 16)
/* Octets that are unpacked before the room is doubled. */
#define FIRST_ROOM (256 << 10)

/* Give the stream more room. False: the limit is reached, or no memory. */
static bool
grow(TALLOC_CTX *mem, z_stream *stream, char **octets, size_t *room, size_t max)
{
    size_t used = *room - stream->avail_out, wanted = *room == 0 ? FIRST_ROOM : 2 * *room;
    if (wanted > max + 1)
        wanted = max + 1;
    char *more = wanted > *room ? talloc_realloc(mem, *octets, char, (unsigned) wanted + 1) : NULL;
    if (more == NULL)
        return false;
    *octets = more;
    *room = wanted;
    stream->next_out = (Bytef *) more + used;
    stream->avail_out = (uInt) (wanted - used);
    return true;
}

enum az_status
archive_unpack(TALLOC_CTX *mem, const unsigned char *packed, size_t length, size_t max, char **ret,
               size_t *ret_length)
{
    z_stream stream = {.next_in = (Bytef *) (uintptr_t) packed, .avail_in = (uInt) length};
    char *octets = NULL;
    size_t room = 0;
    int code = inflateInit2(&stream, GZIP_WINDOW);
    while (code == Z_OK && (stream.avail_out > 0 || grow(mem, &stream, &octets, &room, max)))
        code = inflate(&stream, Z_NO_FLUSH);
    size_t used = room - stream.avail_out;
    inflateEnd(&stream);
    if (code == Z_STREAM_END && used <= max) {
        octets[used] = '\0';
        *ret = octets;
        *ret_length = used;
        return AZ_OK;
    }
    talloc_free(octets);
    if (code == Z_STREAM_END || (code == Z_OK && room > max))
        return AZ_TOO_LARGE;
    return code == Z_MEM_ERROR || code == Z_OK ? AZ_SERVER_ERROR : AZ_INVALID;
}

/* Read an octal field. False: it is not octal, or beyond `max`. */
static bool
read_octal(const char *text, size_t length, size_t max, size_t *ret)
{
    size_t number = 0, i = 0;
    for (; i < length && text[i] >= '0' && text[i] <= '7'; i++) {
        number = number << 3 | (size_t) (text[i] - '0');
        if (number > max)
            return false;
    }
    *ret = number;
    return i > 0 && (i == length || text[i] == '\0' || text[i] == ' ');
}

static bool
is_name(const char *field, const char *name)
{
    size_t length = strlen(name);
    field += *field == '/';
    return strncmp(field, name, length) == 0 && length < NAME_FIELD - 1 && field[length] == '\0';
}

enum az_status
archive_member(const char *tar, size_t length, const char *name, const char **ret,
               size_t *ret_length)
{
    for (size_t at = 0; length - at >= BLOCK && tar[at] != '\0';) {
        const char *header = tar + at;
        size_t size, left = length - at - BLOCK;
        if (!read_octal(header + SIZE_AT, SIZE_FIELD, left, &size))
            return AZ_INVALID;
        if ((header[TYPE_AT] == '0' || header[TYPE_AT] == '\0') && is_name(header, name)) {
            *ret = header + BLOCK;
            *ret_length = size;
            return AZ_OK;
        }
        size_t padded = (size + BLOCK - 1) / BLOCK * BLOCK;
        at += BLOCK + (padded < left ? padded : left);
    }
    return AZ_NOT_FOUND;
}
