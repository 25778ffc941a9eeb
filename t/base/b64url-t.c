#include "config.h"

#include "base/b64url.h"

#include <string.h>

#include "tap.h"

/* RFC 4648 section 10, without padding. */
/* clang-format off */
static const struct {
    const char *plain;
    const char *text;
} vectors[] = {
    {"", ""},           {"f", "Zg"},          {"fo", "Zm8"},          {"foo", "Zm9v"},
    {"foob", "Zm9vYg"}, {"fooba", "Zm9vYmE"}, {"foobar", "Zm9vYmFy"},
};
/* clang-format on */

/* clang-format off */
static const struct {
    const char *text;
    const char *why;
} refused[] = {
    {"Z", "length 4n+1"},
    {"Zm9vY", "length 4n+1 after a full group"},
    {"Zg==", "padding"},
    {"Zm8=", "one padding character"},
    {"Zm9v=", "padding after a full group"},
    {"Zh", "non-zero trailing bits of two characters"},
    {"Zm9", "non-zero trailing bits of three characters"},
    {"Zm 9", "a space"},
    {"Zm8\n", "a newline"},
    {"Zm+v", "'+' of the standard alphabet"},
    {"Zm/v", "'/' of the standard alphabet"},
    {"Zm.v", "a full stop"},
    {"Zm\xc3v", "an octet above 127"},
    {"\xffm9v", "octet 255"},
    {"Zm@v", "the character before A"},
    {"Zm[v", "the character after Z"},
    {"Zm`v", "the character before a"},
    {"Zm{v", "the character after z"},
    {"Zm:v", "the character after 9"},
};
/* clang-format on */

static void
test_vectors(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
        const char *plain = vectors[i].plain;
        unsigned char *seen = NULL;
        size_t len = 99;
        is_str(b64url_encode(mem, plain, strlen(plain)), vectors[i].text,
               "encode '%s' (RFC 4648 10)", plain);
        const char *padded = talloc_asprintf(mem, "%s%s", vectors[i].text,
                                             strlen(plain) % 3 == 0   ? ""
                                             : strlen(plain) % 3 == 1 ? "=="
                                                                      : "=");
        is_str(b64_encode(mem, plain, strlen(plain)), padded,
               "encode '%s' with padding (RFC 4648 4)", plain);
        is_int(b64url_decode(mem, vectors[i].text, strlen(vectors[i].text), &seen, &len), AZ_OK,
               "decode '%s' (RFC 4648 10)", vectors[i].text);
        is_bin(seen, len, plain, strlen(plain), "... to '%s'", plain);
    }
}

/* RFC 4648 section 4: 62 and 63 are + and /. */
static void
test_standard_encode(TALLOC_CTX *mem)
{
    is_str(b64_encode(mem, "\xfb\xef\xff", 3), "++//", "standard base64 has + and / (RFC 4648 4)");
    is_str(b64url_encode(mem, "\xfb\xef\xff", 3), "--__", "... and base64url - and _ (RFC 4648 5)");
}

static void
test_refused(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        unsigned char *seen = (unsigned char *) mem;
        size_t len = 77;
        enum az_status status =
            b64url_decode(mem, refused[i].text, strlen(refused[i].text), &seen, &len);
        ok(status == AZ_INVALID && seen == (unsigned char *) mem && len == 77,
           "decode refuses %s and leaves the outputs alone (RFC 7515 2)", refused[i].why);
    }
    unsigned char *seen;
    size_t len;
    is_int(b64url_decode(mem, "Zm\0v", 4, &seen, &len), AZ_INVALID, "decode refuses a NUL");
}

static void
test_all_octets(TALLOC_CTX *mem)
{
    unsigned char all[256];
    unsigned char *seen = NULL;
    size_t len = 0;
    unsigned wrong = 0;

    for (int i = 0; i < 256; i++)
        all[i] = (unsigned char) i;
    for (size_t n = 0; n <= sizeof(all); n++) {
        char *text = b64url_encode(mem, all + sizeof(all) - n, n);
        wrong += strlen(text) != B64URL_LENGTH(n);
        wrong += b64url_decode(mem, text, strlen(text), &seen, &len) != AZ_OK;
        wrong += len != n || memcmp(seen, all + sizeof(all) - n, n) != 0 || seen[len] != '\0';
    }
    is_int(wrong, 0, "every length from 0 to 256 comes back, NUL-terminated");
}

/* For each single character exactly the 64 of the alphabet are read. */
static void
test_alphabet(TALLOC_CTX *mem)
{
    unsigned char *seen;
    size_t len;
    int url = 0;
    int standard = 0;

    for (int c = 0; c < 256; c++) {
        char text[4] = {(char) c, 'A', 'A', 'A'};
        url += b64url_decode(mem, text, 4, &seen, &len) == AZ_OK;
        standard += b64_decode(mem, text, 4, &seen, &len) == AZ_OK;
    }
    is_int(url, 64, "base64url has 64 characters (RFC 4648 5)");
    is_int(standard, 64, "base64 has 64 characters (RFC 4648 4)");
}

static void
test_into(void)
{
    unsigned char out[4] = {1, 1, 1, 1};

    is_int(b64url_decode_into("Zm9v", 4, out, 3), AZ_OK, "decode_into: exact size");
    is_bin(out, 4, "foo\1", 4, "... writes that many octets and no more");
    is_int(b64url_decode_into("Zm9v", 4, out, 2), AZ_INVALID, "decode_into: one octet too many");
    is_int(b64url_decode_into("Zm9v", 4, out, 4), AZ_INVALID, "decode_into: one octet too few");
    is_int(b64url_decode_into("Zm8?", 4, out, 3), AZ_INVALID, "decode_into: bad character");
    is_bin(out, 3, "\0\0\0", 3, "... and what was decoded is wiped");
}

static void
test_standard(TALLOC_CTX *mem)
{
    /* clang-format off */
    static const struct {
        const char *text;
        const char *plain; /* NULL: refused */
        const char *name;
    } rows[] = {
        {"QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "Aladdin:open sesame", "padded (RFC 7617 2)"},
        {"QWxhZGRpbjpvcGVuIHNlc2FtZQ", "Aladdin:open sesame", "padding left out"},
        {"Zm8=", "fo", "one padding character"},
        {"", "", "nothing"},
        {"+/+/", "\xfb\xff\xbf", "'+' and '/'"},
        {"-_-_", NULL, "characters of base64url"},
        {"Zg=", NULL, "half of the padding"},
        {"Zg===", NULL, "too much padding"},
        {"Zm8==", NULL, "two padding characters where one belongs"},
        {"Zm9v=", NULL, "padding after a full group"},
        {"Zm9v====", NULL, "a group of padding"},
        {"====", NULL, "padding alone"},
        {"=", NULL, "one padding character alone"},
        {"Zg==Zg==", NULL, "text after padding"},
        {"Zh==", NULL, "non-zero trailing bits"},
        {"Zm 9", NULL, "a space"},
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        unsigned char *seen = NULL;
        size_t len = 0;
        size_t given = strlen(rows[i].text);
        enum az_status status = b64_decode_lenient(mem, rows[i].text, given, &seen, &len);
        if (rows[i].plain != NULL)
            is_bin(seen, len, rows[i].plain, strlen(rows[i].plain), "base64 reads %s",
                   rows[i].name);
        else
            is_int(status, AZ_INVALID, "base64 refuses %s", rows[i].name);
        bool strict = rows[i].plain != NULL && given % 4 == 0;
        is_int(b64_decode(mem, rows[i].text, given, &seen, &len), strict ? AZ_OK : AZ_INVALID,
               "... which is %s where the text is signed", strict ? "read" : "refused");
    }
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);

    plan(0);
    test_vectors(mem);
    test_standard_encode(mem);
    test_refused(mem);
    test_all_octets(mem);
    test_alphabet(mem);
    test_into();
    test_standard(mem);
    talloc_free(mem);
    return done();
}
