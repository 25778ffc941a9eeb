#include "config.h"

#include "crypto/token.h"

#include <string.h>
#include <talloc.h>

#include "tap.h"
#include "vectors/load.h"

#define NOW_MS 1800000000123LL

/* clang-format off */
static const struct {
    enum token_kind kind;
    const char *name;
} kinds[] = {
    {TOKEN_ACCESS, "at"},        {TOKEN_REFRESH, "rt"}, {TOKEN_CODE, "ac"},
    {TOKEN_AUTH_REQ, "ar"},      {TOKEN_TICKET, "pt"},  {TOKEN_ADMIN_KEY, "ak"},
    {TOKEN_CLIENT_SECRET, "cs"},
};
/* clang-format on */

#define KIND_COUNT (sizeof(kinds) / sizeof(kinds[0]))

static void
test_vectors(TALLOC_CTX *mem)
{
    const json_t *vectors = vectors_load(mem, "token.json");
    const json_t *accepted = json_object_get(vectors, "accepted");
    const char *name;
    json_t *value;
    size_t id_len, hash_len;
    unsigned char *id = vectors_octets(mem, vectors, "id", &id_len);
    unsigned char *hash = vectors_octets(mem, vectors, "secret_hash", &hash_len);

    for (size_t i = 0; i < KIND_COUNT; i++) {
        struct token_parts parts = {0};
        enum token_kind kind = TOKEN_CLIENT_SECRET;
        const char *text = vectors_text(accepted, kinds[i].name);
        is_int(token_parse(text, strlen(text), &kind, &parts), AZ_OK,
               "parse a token of another implementation: %s", kinds[i].name);
        is_int(kind, kinds[i].kind, "... of its kind");
        is_int(parts.bucket, json_integer_value(json_object_get(vectors, "bucket")),
               "... its bucket, big-endian");
        is_bin(parts.id, sizeof(parts.id), id, id_len, "... its id");
        is_bin(parts.secret_hash, sizeof(parts.secret_hash), hash, hash_len,
               "... SHA-256 of its secret");
    }
    json_object_foreach (json_object_get(vectors, "refused"), name, value) {
        struct token_parts parts = {.bucket = 4711};
        enum token_kind kind = TOKEN_TICKET;
        const char *text = json_string_value(value);
        enum az_status status = token_parse(text, strlen(text), &kind, &parts);
        ok(status == AZ_INVALID && parts.bucket == 4711 && kind == TOKEN_TICKET, "parse refuses %s",
           name);
    }
}

static void
test_make(void)
{
    for (size_t i = 0; i < KIND_COUNT; i++) {
        struct token_text text;
        struct token_parts made;
        struct token_parts parsed;
        enum token_kind kind = TOKEN_ACCESS;
        is_int(token_make(kinds[i].kind, TOKEN_EPOCH + 7200, NOW_MS, &text, &made), AZ_OK,
               "make %s", kinds[i].name);
        is_int((int64_t) strlen(text.text), TOKEN_TEXT_LENGTH, "... of the stated length");
        ok(memcmp(text.text, kinds[i].name, 2) == 0 && text.text[2] == '_', "... with its prefix");
        is_int(token_parse(text.text, TOKEN_TEXT_LENGTH, &kind, &parsed), AZ_OK, "... parses");
        is_int(kind, kinds[i].kind, "... to its kind");
        ok(made.bucket == 2 && parsed.bucket == 2
               && memcmp(made.id, parsed.id, sizeof(made.id)) == 0
               && memcmp(made.secret_hash, parsed.secret_hash, sizeof(made.secret_hash)) == 0,
           "... with the parts it was made of");
        is_int((int64_t) uuid7_ms(parsed.id), NOW_MS, "... and an id of this time");
        token_text_done(&text);
        is_int(text.text[0], 0, "... and is wiped when done");
    }
}

static void
test_fresh(void)
{
    struct token_text one, two;
    struct token_parts first, second;

    token_make(TOKEN_ACCESS, TOKEN_EPOCH, NOW_MS, &one, &first);
    token_make(TOKEN_ACCESS, TOKEN_EPOCH, NOW_MS, &two, &second);
    ok(memcmp(first.id, second.id, sizeof(first.id)) != 0, "two tokens of one time differ in id");
    ok(memcmp(first.secret_hash, second.secret_hash, SHA256_OCTETS) != 0, "... and in secret");
}

static void
test_bucket(void)
{
    /* clang-format off */
    static const struct {
        int64_t expires_at;
        int64_t bucket; /* -1: refused */
        const char *name;
    } rows[] = {
        {TOKEN_EPOCH, 0, "the first second"},
        {TOKEN_EPOCH + 3599, 0, "the last second of the first hour"},
        {TOKEN_EPOCH + 3600, 1, "the first second of the second hour"},
        {TOKEN_EPOCH + 0xfffffeLL * 3600 + 3599, 0xfffffe, "the last second that has a bucket"},
        {TOKEN_EPOCH + 0xffffffLL * 3600, -1, "one past it"},
        {TOKEN_NO_EXPIRY, TOKEN_BUCKET_NO_EXPIRY, "no expiry"},
        {TOKEN_NO_EXPIRY - 1, -1, "the largest number that is an expiry"},
        {TOKEN_EPOCH - 1, -1, "one second before 2026"},
        {0, -1, "1970"},
        {-1, -1, "before 1970"},
        {INT64_MIN, -1, "the smallest number"},
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint32_t bucket = 4711;
        struct token_text text;
        struct token_parts parts;
        enum az_status status = token_bucket(rows[i].expires_at, &bucket);
        if (rows[i].bucket >= 0)
            is_int(bucket, rows[i].bucket, "bucket: %s", rows[i].name);
        else
            ok(status == AZ_INVALID && bucket == 4711, "bucket refuses %s", rows[i].name);
        is_int(token_make(TOKEN_ACCESS, rows[i].expires_at, NOW_MS, &text, &parts), status,
               "... and so does make");
    }
}

static void
test_now(void)
{
    struct token_text text;
    struct token_parts parts;

    is_int(token_make(TOKEN_ACCESS, TOKEN_EPOCH, 0, &text, &parts), AZ_OK, "make at 1970");
    is_int(token_make(TOKEN_ACCESS, TOKEN_EPOCH, -1, &text, &parts), AZ_INVALID,
           "make refuses a time before 1970");
    is_int(token_make(TOKEN_ACCESS, TOKEN_EPOCH, (int64_t) UUID7_MS_MAX, &text, &parts), AZ_OK,
           "make at the last time of a UUIDv7");
    is_int(token_make(TOKEN_ACCESS, TOKEN_EPOCH, (int64_t) UUID7_MS_MAX + 1, &text, &parts),
           AZ_INVALID, "make refuses one past it");
}

/* The checksum sees every single changed character; nothing but the whole text parses. */
static void
test_changed(void)
{
    struct token_text text;
    struct token_parts parts;
    enum token_kind kind;
    unsigned parsed = 0;

    token_make(TOKEN_REFRESH, TOKEN_EPOCH, NOW_MS, &text, &parts);
    for (size_t i = 0; i < TOKEN_TEXT_LENGTH; i++) {
        char kept = text.text[i];
        for (int c = 0; c < 256; c++) {
            text.text[i] = (char) c;
            parsed += text.text[i] != kept
                      && token_parse(text.text, TOKEN_TEXT_LENGTH, &kind, &parts) != AZ_INVALID;
        }
        text.text[i] = kept;
    }
    is_int(parsed, 0, "parse refuses each token with one character changed");
    for (size_t len = 0; len < TOKEN_TEXT_LENGTH; len++)
        parsed += token_parse(text.text, len, &kind, &parts) != AZ_INVALID;
    is_int(parsed, 0, "parse refuses each token cut short");
    is_int(token_parse(text.text, TOKEN_TEXT_LENGTH + 1, &kind, &parts), AZ_INVALID,
           "parse refuses the NUL as part of the text");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);

    plan(0);
    test_vectors(mem);
    test_make();
    test_fresh();
    test_bucket();
    test_now();
    test_changed();
    talloc_free(mem);
    return done();
}
