#include "config.h"

#include "policy/save/bundle/archive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <zlib.h>

#include "env.h"
#include "tap.h"

#define BLOCK 512

struct member {
    const char *path, *content;
};

static enum az_status
build(TALLOC_CTX *mem, const struct member *members, size_t count, unsigned char **ret,
      size_t *ret_length)
{
    struct archive *archive = archive_new(mem);
    for (size_t i = 0; i < count; i++) {
        enum az_status st =
            archive_add(archive, members[i].path, members[i].content, strlen(members[i].content));
        if (st != AZ_OK)
            return st;
    }
    return archive_finish(mem, archive, ret, ret_length);
}

/* Return the tar inside the gzip, or NULL. */
static unsigned char *
gunzip(TALLOC_CTX *mem, const unsigned char *octets, size_t length, size_t size, size_t *ret_length)
{
    z_stream stream = {.next_in = (unsigned char *) (uintptr_t) octets, .avail_in = (uInt) length};
    unsigned char *out = talloc_size(mem, size);
    stream.next_out = out;
    stream.avail_out = (uInt) size;
    bool good = inflateInit2(&stream, 15 + 16) == Z_OK && inflate(&stream, Z_FINISH) == Z_STREAM_END
                && stream.avail_in == 0;
    *ret_length = stream.total_out;
    inflateEnd(&stream);
    return good ? out : NULL;
}

static const struct member two[] = {
    {"data.json",           "{\"a\":1}"        },
    {"svc/decision/x.rego", "package svc.x\n\n"}
};

static void
test_deterministic(TALLOC_CTX *mem)
{
    unsigned char *a = NULL, *b = NULL, *c = NULL;
    size_t a_length = 0, b_length = 0, c_length = 0;
    is_int(build(mem, two, 2, &a, &a_length), AZ_OK, "an archive of two files");
    build(mem, two, 2, &b, &b_length);
    is_bin(b, b_length, a, a_length, "the same rows give the same octets (policy.md 2.3)");
    const struct member swapped[] = {two[1], two[0]};
    build(mem, swapped, 2, &c, &c_length);
    ok(c_length != a_length || memcmp(a, c, a_length) != 0, "... another order gives others");
    is_bin(a, 3, "\x1f\x8b\x08", 3, "it is gzip (RFC 1952 2.3.1)");
    is_bin(a + 3, 5, "\0\0\0\0\0", 5, "... without a name, and with no time");
}

/* POSIX.1-2017 pax, "ustar Interchange Format": fields that differ between machines are constant.
 */
static void
test_headers(TALLOC_CTX *mem)
{
    unsigned char *packed;
    size_t length, size = 0;
    build(mem, two, 2, &packed, &length);
    unsigned char *tar = gunzip(mem, packed, length, 16 * BLOCK, &size);
    if (!ok(tar != NULL, "the gzip is whole, and nothing follows it"))
        return;
    is_int((int64_t) size, 6 * BLOCK, "a header and one block each, and two blocks at the end");
    for (size_t i = 0; i < 2; i++) {
        const char *head = (const char *) tar + i * 2 * BLOCK;
        unsigned sum = 0;
        for (size_t at = 0; at < BLOCK; at++)
            sum += at >= 148 && at < 156 ? ' ' : (unsigned char) head[at];
        is_str(head, two[i].path, "%s: name", two[i].path);
        is_str(head + 100, "0000644", "... mode");
        is_str(head + 108, "0000000", "... user");
        is_str(head + 116, "0000000", "... group");
        is_int(strtol(head + 124, NULL, 8), (int64_t) strlen(two[i].content), "... size");
        is_str(head + 136, "00000000000", "... time");
        is_int(strtol(head + 148, NULL, 8), sum, "... checksum");
        is_int(head[156], '0', "... a regular file");
        is_bin(head + 257, 8, "ustar\00000", 8, "... magic and version");
        size_t zeros = 0;
        for (size_t at = 265; at < BLOCK; at++)
            zeros += head[at] == 0;
        is_int((int64_t) zeros, BLOCK - 265, "... no names, no device, no prefix");
        is_str(head + BLOCK, two[i].content, "... the content, padded with zeros");
    }
    unsigned char end[2 * BLOCK] = {0};
    ok(memcmp(tar + 4 * BLOCK, end, sizeof(end)) == 0, "two blocks of zeros end it");
}

/* clang-format off */
static const struct { const char *path; bool good; const char *name; } paths[] = {
    {"a", true, "one character"},
    {"svc/decision/issue.rego", true, "segments"},
    {".manifest", true, "a leading full stop"},
    {"...", true, "three full stops are a name"},
    {"a/..b/c", true, "a name that begins with two"},
    {"a b", true, "a blank"},
    {"gr\xc3\xbc\xc3\x9f" "e.rego", true, "UTF-8"},
    {"", false, "nothing"},
    {"/", false, "the root"},
    {"/etc/passwd", false, "an absolute path"},
    {"a/", false, "a final slash"},
    {"a//b", false, "an empty segment"},
    {".", false, "the folder itself"},
    {"..", false, "the folder above"},
    {"./a", false, "a leading ."},
    {"../a", false, "a leading .."},
    {"a/./b", false, "a . inside"},
    {"a/../b", false, "a .. inside"},
    {"a/..", false, "a .. at the end"},
    {"a\\b", false, "a backslash"},
    {"a\nb", false, "a line end: it would end the PAX record"},
    {"a\tb", false, "a tab"},
    {"\x01", false, "a control character"},
    {"a\x7f", false, "DEL"},
};
/* clang-format on */

static char *
long_path(TALLOC_CTX *mem, size_t length)
{
    char *path = talloc_zero_size(mem, length + 1);
    for (size_t i = 0; i < length; i++)
        path[i] = i % 50 == 49 && i + 1 < length ? '/' : (char) ('a' + i % 26);
    return path;
}

/* Return the blocks of a tar with one file of one octet. */
static int64_t
blocks_of(TALLOC_CTX *mem, const char *path)
{
    const struct member member = {path, "x"};
    unsigned char *packed;
    size_t length, size = 0;
    build(mem, &member, 1, &packed, &length);
    gunzip(mem, packed, length, 16 * BLOCK, &size);
    return (int64_t) (size / BLOCK);
}

static void
test_paths(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        is_int(archive_add(archive_new(mem), paths[i].path, "x", 1),
               paths[i].good ? AZ_OK : AZ_INVALID, "path %s: %s",
               paths[i].good ? "taken" : "refused", paths[i].name);
    is_int(blocks_of(mem, long_path(mem, 100)), 4, "a path of 100 octets fits the header");
    is_int(blocks_of(mem, long_path(mem, 101)), 6, "... one of 101 has a PAX record before it");
    is_int(archive_add(archive_new(mem), long_path(mem, ARCHIVE_PATH_MAX), "x", 1), AZ_OK,
           "a path of %d octets (specification 2.4)", ARCHIVE_PATH_MAX);
    is_int(archive_add(archive_new(mem), long_path(mem, ARCHIVE_PATH_MAX + 1), "x", 1), AZ_INVALID,
           "... one more is refused");
    unsigned char *before, *after;
    size_t before_length, after_length;
    struct archive *archive = archive_new(mem);
    archive_add(archive, two[0].path, two[0].content, strlen(two[0].content));
    archive_add(archive, "../x", "x", 1);
    archive_add(archive, two[1].path, two[1].content, strlen(two[1].content));
    archive_finish(mem, archive, &after, &after_length);
    build(mem, two, 2, &before, &before_length);
    is_bin(after, after_length, before, before_length, "a refused path leaves nothing behind");
}

static void
write_file(const char *path, const void *octets, size_t length)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(octets, 1, length, file) != length || fclose(file) != 0) {
        perror(path);
        exit(99);
    }
}

/* Return the output of a command; exit if it cannot be started. */
static char *
output_of(TALLOC_CTX *mem, const char *command, int *ret_status)
{
    char *text = talloc_strdup(mem, ""), piece[4096];
    FILE *pipe = popen(command, "r");
    if (pipe == NULL)
        exit(99);
    while (fgets(piece, sizeof(piece), pipe) != NULL)
        text = talloc_asprintf_append_buffer(text, "%s", piece);
    *ret_status = pclose(pipe);
    return text;
}

/* Check each length around the limits of the fields with the machine's own tar. */
static void
test_read_by_tar(TALLOC_CTX *mem)
{
    static const size_t lengths[] = {1,   50,  99,  100, 101, 102, 150, 255,
                                     256, 257, 300, 500, 501, 510, 511, ARCHIVE_PATH_MAX};
    enum { COUNT = sizeof(lengths) / sizeof(lengths[0]) };
    const char *dir = env_directory(mem);
    struct member members[COUNT];
    char *listing = talloc_strdup(mem, ""), *contents = talloc_strdup(mem, "");
    unsigned char *octets;
    size_t length;
    int status;
    for (size_t i = 0; i < COUNT; i++) {
        members[i].path = long_path(mem, lengths[i]);
        members[i].content = talloc_asprintf(mem, "file %zu\n", lengths[i]);
        listing = talloc_asprintf_append_buffer(listing, "%s\n", members[i].path);
        contents = talloc_asprintf_append_buffer(contents, "%s", members[i].content);
    }
    is_int(build(mem, members, COUNT, &octets, &length), AZ_OK, "an archive of %d paths", COUNT);
    char *file = talloc_asprintf(mem, "%s/bundle.tar.gz", dir);
    write_file(file, octets, length);
    is_str(output_of(mem, talloc_asprintf(mem, "tar -tzf %s 2>&1", file), &status), listing,
           "tar lists each path as it was given, up to %d octets", ARCHIVE_PATH_MAX);
    is_int(status, 0, "... without complaint");
    is_str(output_of(mem, talloc_asprintf(mem, "tar -xOzf %s 2>&1", file), &status), contents,
           "... and extracts each content");
    output_of(mem,
              talloc_asprintf(mem,
                              "tar -tvzf %s --utc --full-time | grep -vE '^-rw-r--r-- 0/0 +[0-9]+ "
                              "1970-01-01 00:00:00 '",
                              file),
              &status);
    ok(WIFEXITED(status) && WEXITSTATUS(status) == 1,
       "... all are root's, readable, and of one time");
}

static void
test_sizes(TALLOC_CTX *mem)
{
    static const size_t sizes[] = {0, 1, 511, 512, 513, 1023, 1024, 1025};
    char *octets = talloc_zero_size(mem, 2048);
    memset(octets, 'x', 2047);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct archive *archive = archive_new(mem);
        unsigned char *packed;
        size_t length, size = 0;
        archive_add(archive, "a", octets, sizes[i]);
        archive_finish(mem, archive, &packed, &length);
        unsigned char *tar = gunzip(mem, packed, length, 16 * BLOCK, &size);
        size_t blocks = 3 + (sizes[i] + BLOCK - 1) / BLOCK;
        is_int((int64_t) size, (int64_t) (blocks * BLOCK), "%zu octets of content fill %zu blocks",
               sizes[i], blocks - 3);
        ok(tar != NULL && memcmp(tar + BLOCK, octets, sizes[i]) == 0
               && (blocks * BLOCK == BLOCK + sizes[i] || tar[BLOCK + sizes[i]] == 0),
           "... and no more");
    }
}

/* The whole tar, headers and end included, is at most ARCHIVE_MAX. */
static void
test_limit(TALLOC_CTX *mem)
{
    const size_t room = ARCHIVE_MAX - 3 * BLOCK;
    char *octets = talloc_zero_size(mem, room + 1);
    unsigned char *packed = NULL;
    size_t length = 77;
    struct archive *archive = archive_new(mem);
    is_int(archive_add(archive, "a", octets, room), AZ_OK, "content that fills the archive");
    is_int(archive_finish(mem, archive, &packed, &length), AZ_OK, "... is packed");
    talloc_free(archive);
    talloc_free(packed);
    packed = NULL, length = 77;
    archive = archive_new(mem);
    enum az_status st = archive_add(archive, "a", octets, room + 1);
    enum az_status end = archive_finish(mem, archive, &packed, &length);
    ok(st != AZ_OK || end != AZ_OK, "one octet more is refused, and not cut");
    ok(end != AZ_OK && packed == NULL && length == 77, "... and nothing is handed out");
    talloc_free(archive);
    archive = archive_new(mem);
    enum az_status added = archive_add(archive, "a", octets, ARCHIVE_MAX / 2);
    for (int i = 0; i < 2 && added == AZ_OK; i++)
        added = archive_add(archive, "b", octets, ARCHIVE_MAX / 2);
    ok(added != AZ_OK, "files that only together are too large are refused");
    ok(archive_finish(mem, archive, &packed, &length) != AZ_OK && packed == NULL,
       "... and the archive stays refused");
    talloc_free(archive);
    talloc_free(octets);
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    plan(0);
    test_deterministic(mem);
    test_headers(mem);
    test_paths(mem);
    test_read_by_tar(mem);
    test_sizes(mem);
    test_limit(mem);
    talloc_free(mem);
    return done();
}
