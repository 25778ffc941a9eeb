#include "config.h"

#include "policy/save/bundle/archive.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "base/buf.h"

#define BLOCK 512
/* ustar's name field (POSIX.1-2017 pax, "ustar Interchange Format"). */
#define NAME_FIELD 100
/* windowBits of deflateInit2 for a gzip wrapper */
#define GZIP_WINDOW (15 + 16)

struct archive {
    struct buf tar; /* the tar so far */
};

struct archive *
archive_new(TALLOC_CTX *mem)
{
    struct archive *archive = talloc_zero(mem, struct archive);
    if (archive != NULL)
        buf_init(&archive->tar, archive, ARCHIVE_MAX);
    return archive;
}

static bool
path_ok(const char *path)
{
    size_t length = strlen(path);
    if (length == 0 || length > ARCHIVE_PATH_MAX || path[length - 1] == '/')
        return false;
    for (const char *segment = path; segment != NULL;) {
        size_t size = strcspn(segment, "/");
        if (size == 0 || (size == 1 && segment[0] == '.')
            || (size == 2 && segment[0] == '.' && segment[1] == '.'))
            return false;
        for (size_t i = 0; i < size; i++)
            if ((unsigned char) segment[i] < 0x20 || segment[i] == 0x7f || segment[i] == '\\')
                return false;
        segment = segment[size] == '/' ? segment + size + 1 : NULL;
    }
    return true;
}

/* Write one ustar header. Everything that could differ between two builds is a constant. */
static enum az_status
put_header(struct archive *archive, const char *name, size_t name_length, char type, size_t length)
{
    unsigned char block[BLOCK] = {0};
    char *text = (char *) block;
    unsigned sum = 0;
    memcpy(text, name, name_length < NAME_FIELD ? name_length : NAME_FIELD);
    snprintf(text + 100, 8, "%07o", 0644);
    snprintf(text + 108, 8, "%07o", 0);
    snprintf(text + 116, 8, "%07o", 0);
    snprintf(text + 124, 12, "%011lo", (unsigned long) length);
    snprintf(text + 136, 12, "%011o", 0);
    text[156] = type;
    memcpy(text + 257, "ustar\00000", 8);
    memset(text + 148, ' ', 8);
    for (size_t i = 0; i < BLOCK; i++)
        sum += block[i];
    snprintf(text + 148, 8, "%06o", sum & 0777777);
    return buf_append(&archive->tar, block, BLOCK);
}

static enum az_status
put_content(struct archive *archive, const void *content, size_t length)
{
    static const char zeros[BLOCK];
    enum az_status st = buf_append(&archive->tar, content, length);
    if (st == AZ_OK && length % BLOCK != 0)
        st = buf_append(&archive->tar, zeros, BLOCK - length % BLOCK);
    return st;
}

/* Write a PAX extended header: "LENGTH path=VALUE\n", where LENGTH counts itself. */
static enum az_status
put_long_path(struct archive *archive, const char *path)
{
    char record[ARCHIVE_PATH_MAX + 32];
    size_t rest = strlen(" path=\n") + strlen(path), length = rest + 1;
    while (length != rest + (size_t) snprintf(NULL, 0, "%zu", length))
        length = rest + (size_t) snprintf(NULL, 0, "%zu", length);
    snprintf(record, sizeof(record), "%zu path=%s\n", length, path);
    enum az_status st = put_header(archive, "pax", 3, 'x', length);
    return st == AZ_OK ? put_content(archive, record, length) : st;
}

enum az_status
archive_add(struct archive *archive, const char *path, const void *content, size_t length)
{
    size_t path_length = strlen(path);
    if (!path_ok(path))
        return AZ_INVALID;
    enum az_status st = path_length > NAME_FIELD ? put_long_path(archive, path) : AZ_OK;
    if (st == AZ_OK)
        st = put_header(archive, path, path_length, '0', length);
    return st == AZ_OK ? put_content(archive, content, length) : st;
}

enum az_status
archive_pack(TALLOC_CTX *mem, const void *content, size_t content_length, unsigned char **ret,
             size_t *ret_length)
{
    z_stream stream = {.next_in = NULL};
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY)
        != Z_OK)
        return AZ_SERVER_ERROR;
    size_t bound = deflateBound(&stream, content_length);
    unsigned char *octets = talloc_array(mem, unsigned char, (unsigned) bound);
    stream.next_in = (unsigned char *) (uintptr_t) content;
    stream.avail_in = (uInt) content_length;
    stream.next_out = octets;
    stream.avail_out = (uInt) bound;
    bool done = octets != NULL && deflate(&stream, Z_FINISH) == Z_STREAM_END;
    size_t length = bound - stream.avail_out;
    deflateEnd(&stream);
    if (!done) {
        talloc_free(octets);
        return AZ_SERVER_ERROR;
    }
    *ret = octets;
    *ret_length = length;
    return AZ_OK;
}

enum az_status
archive_finish(TALLOC_CTX *mem, struct archive *archive, unsigned char **ret, size_t *ret_length)
{
    static const char end[2 * BLOCK];
    if (buf_append(&archive->tar, end, sizeof(end)) != AZ_OK)
        return AZ_SERVER_ERROR;
    return archive_pack(mem, archive->tar.data, archive->tar.len, ret, ret_length);
}
