/* Reading of bundle archives: limits and damage. */
#include "config.h"

#include <string.h>

#include "policy/engine/archive_read.h"
#include "policy/save/bundle/archive.h"
#include "tap.h"

#define TAR_MAX 65536

/* Unpack and find a file. */
static enum az_status
find(TALLOC_CTX *mem, const unsigned char *packed, size_t length, const char *name,
     const char **ret, size_t *ret_length)
{
    char *tar;
    size_t size;
    enum az_status st = archive_unpack(mem, packed, length, TAR_MAX, &tar, &size);
    return st == AZ_OK ? archive_member(tar, size, name, ret, ret_length) : st;
}

static void
test_found(TALLOC_CTX *mem)
{
    struct archive *archive = archive_new(mem);
    unsigned char *packed;
    size_t length, size;
    const char *text;
    char name[201];
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    archive_add(archive, "empty", "", 0);
    archive_add(archive, name, "long name", 9);
    archive_add(archive, "a/data.json", "other", 5);
    archive_add(archive, "data.json", "{\"a\":1}", 7);
    archive_add(archive, "after", "x", 1);
    archive_finish(mem, archive, &packed, &length);
    ok(find(mem, packed, length, "data.json", &text, &size) == AZ_OK && size == 7
           && memcmp(text, "{\"a\":1}", 7) == 0,
       "a file is found by its whole name");
    ok(find(mem, packed, length, "empty", &text, &size) == AZ_OK && size == 0, "... an empty one");
    ok(find(mem, packed, length, "after", &text, &size) == AZ_OK && size == 1, "... the last one");
    ok(find(mem, packed, length, "data", &text, &size) == AZ_NOT_FOUND, "... not by its beginning");
    ok(find(mem, packed, length, "json", &text, &size) == AZ_NOT_FOUND, "... nor by its end");
    for (size_t cut = 0; cut < length; cut += 7)
        if (find(mem, packed, cut, "data.json", &text, &size) != AZ_INVALID) {
            ok(false, "an archive that ends after %zu octets is damaged", cut);
            return;
        }
    ok(true, "an archive that ends early is damaged, wherever it ends");
}

static void
test_limits(TALLOC_CTX *mem)
{
    unsigned char *packed;
    char *octets = talloc_zero_size(mem, TAR_MAX + 1), *out;
    size_t length, size;
    archive_pack(mem, octets, TAR_MAX, &packed, &length);
    ok(archive_unpack(mem, packed, length, TAR_MAX, &out, &size) == AZ_OK && size == TAR_MAX,
       "octets up to the limit are unpacked");
    archive_pack(mem, octets, TAR_MAX + 1, &packed, &length);
    ok(archive_unpack(mem, packed, length, TAR_MAX, &out, &size) == AZ_TOO_LARGE,
       "... and one more is too large");
    ok(archive_unpack(mem, (const unsigned char *) "no gzip", 7, TAR_MAX, &out, &size)
           == AZ_INVALID,
       "other octets are no archive");
}

static void
test_damaged(TALLOC_CTX *mem)
{
    char *tar = talloc_zero_size(mem, 1536);
    const char *text;
    size_t size;
    memcpy(tar, "/plan.json", 10);
    memcpy(tar + 124, "00000000002", 11);
    tar[156] = '0';
    memcpy(tar + 512, "{}", 2);
    ok(archive_member(tar, 1536, "plan.json", &text, &size) == AZ_OK && size == 2,
       "a slash before the name does not count: opa build writes one");
    memcpy(tar + 124, "00000002001", 11);
    ok(archive_member(tar, 1536, "plan.json", &text, &size) == AZ_INVALID,
       "a file that is longer than the archive is refused");
    memcpy(tar + 124, "77777777777", 11);
    ok(archive_member(tar, 1536, "plan.json", &text, &size) == AZ_INVALID, "... however long");
    memcpy(tar + 124, "0000000000x", 11);
    ok(archive_member(tar, 1536, "plan.json", &text, &size) == AZ_INVALID,
       "a length that is no octal number is refused");
    memcpy(tar + 124, "00000000002", 11);
    tar[156] = '5';
    ok(archive_member(tar, 1536, "plan.json", &text, &size) == AZ_NOT_FOUND,
       "a directory of that name is no file");
    ok(archive_member(tar, 511, "plan.json", &text, &size) == AZ_NOT_FOUND,
       "less than a block holds nothing");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    test_found(mem);
    test_limits(mem);
    test_damaged(mem);
    talloc_free(mem);
    return done();
}
