#include "config.h"

#include "crypto/token.h"

#include <stdbool.h>
#include <string.h>
#include <zlib.h>

#include "base/b64url.h"
#include "crypto/base62.h"
#include "crypto/random.h"

#define TOKEN_VERSION 1
#define TOKEN_SHARD 0

#define KIND_LENGTH 2
#define PREFIX_LENGTH (KIND_LENGTH + 1)

/* Offsets in the body. */
#define BUCKET_AT 2
#define ID_AT 5
#define SECRET_AT (ID_AT + UUID7_OCTETS)
#define BODY_OCTETS (SECRET_AT + TOKEN_SECRET_OCTETS)
#define BODY_LENGTH B64URL_LENGTH(BODY_OCTETS)

#define CHECKED_LENGTH (PREFIX_LENGTH + BODY_LENGTH)

_Static_assert(CHECKED_LENGTH + BASE62_LENGTH == TOKEN_TEXT_LENGTH, "token length");

static const char kind_names[][KIND_LENGTH + 1] = {
    [TOKEN_ACCESS] = "at",        [TOKEN_REFRESH] = "rt", [TOKEN_CODE] = "ac",
    [TOKEN_AUTH_REQ] = "ar",      [TOKEN_TICKET] = "pt",  [TOKEN_ADMIN_KEY] = "ak",
    [TOKEN_CLIENT_SECRET] = "cs",
};

#define KIND_COUNT (sizeof(kind_names) / sizeof(kind_names[0]))

static bool
kind_find(const char *text, enum token_kind *ret)
{
    if (text[KIND_LENGTH] != '_')
        return false;
    for (size_t i = 0; i < KIND_COUNT; i++) {
        if (memcmp(text, kind_names[i], KIND_LENGTH) == 0) {
            *ret = (enum token_kind) i;
            return true;
        }
    }
    return false;
}

static uint32_t
checksum(const char *text)
{
    return (uint32_t) crc32_z(crc32_z(0, NULL, 0), (const unsigned char *) text, CHECKED_LENGTH);
}

enum az_status
token_bucket(int64_t expires_at, uint32_t *ret)
{
    if (expires_at == TOKEN_NO_EXPIRY) {
        *ret = TOKEN_BUCKET_NO_EXPIRY;
        return AZ_OK;
    }
    if (expires_at < TOKEN_EPOCH)
        return AZ_INVALID;
    int64_t hours = (expires_at - TOKEN_EPOCH) / 3600;
    if (hours >= TOKEN_BUCKET_NO_EXPIRY)
        return AZ_INVALID;
    *ret = (uint32_t) hours;
    return AZ_OK;
}

/* Fill the octets of the body, except for the secret, which random_octets() writes in place. */
static enum az_status
make_body(uint32_t bucket, uint64_t now_ms, unsigned char body[BODY_OCTETS])
{
    unsigned char random[UUID7_RANDOM_OCTETS];

    enum az_status status = random_octets(random, sizeof(random));
    if (status == AZ_OK)
        status = random_octets(body + SECRET_AT, TOKEN_SECRET_OCTETS);
    body[0] = TOKEN_VERSION;
    body[1] = TOKEN_SHARD;
    body[BUCKET_AT] = (unsigned char) (bucket >> 16);
    body[BUCKET_AT + 1] = (unsigned char) (bucket >> 8);
    body[BUCKET_AT + 2] = (unsigned char) bucket;
    uuid7_make(now_ms, random, body + ID_AT);
    return status;
}

/* Read the parts of a body. */
static enum az_status
body_parts(const unsigned char body[BODY_OCTETS], struct token_parts *ret)
{
    struct token_parts parts;

    parts.bucket = (uint32_t) body[BUCKET_AT] << 16 | (uint32_t) body[BUCKET_AT + 1] << 8
                   | (uint32_t) body[BUCKET_AT + 2];
    memcpy(parts.id, body + ID_AT, UUID7_OCTETS);
    enum az_status status = sha256(body + SECRET_AT, TOKEN_SECRET_OCTETS, parts.secret_hash);
    if (status == AZ_OK)
        *ret = parts;
    return status;
}

static void
write_text(enum token_kind kind, const unsigned char body[BODY_OCTETS], struct token_text *ret)
{
    memcpy(ret->text, kind_names[kind], KIND_LENGTH);
    ret->text[KIND_LENGTH] = '_';
    b64url_encode_into(body, BODY_OCTETS, ret->text + PREFIX_LENGTH);
    base62_encode(checksum(ret->text), ret->text + CHECKED_LENGTH);
    ret->text[TOKEN_TEXT_LENGTH] = '\0';
}

enum az_status
token_make(enum token_kind kind, int64_t expires_at, int64_t now_ms, struct token_text *ret,
           struct token_parts *ret_parts)
{
    unsigned char body[BODY_OCTETS];
    uint32_t bucket;

    enum az_status status = token_bucket(expires_at, &bucket);
    if (status != AZ_OK)
        return status;
    if (now_ms < 0 || (uint64_t) now_ms > UUID7_MS_MAX)
        return AZ_INVALID;
    status = make_body(bucket, (uint64_t) now_ms, body);
    if (status == AZ_OK)
        status = body_parts(body, ret_parts);
    if (status == AZ_OK)
        write_text(kind, body, ret);
    secret_wipe(body, sizeof(body));
    return status;
}

static enum az_status
parse_body(const char *text, struct token_parts *ret)
{
    unsigned char body[BODY_OCTETS];

    enum az_status status = b64url_decode_into(text, BODY_LENGTH, body, sizeof(body));
    if (status != AZ_OK)
        return status;
    if (body[0] != TOKEN_VERSION || body[1] != TOKEN_SHARD || uuid7_check(body + ID_AT) != AZ_OK)
        status = AZ_INVALID;
    else
        status = body_parts(body, ret);
    secret_wipe(body, sizeof(body));
    return status;
}

enum az_status
token_parse(const char *text, size_t len, enum token_kind *ret_kind, struct token_parts *ret)
{
    enum token_kind kind;
    uint32_t check;

    if (len != TOKEN_TEXT_LENGTH || !kind_find(text, &kind))
        return AZ_INVALID;
    if (base62_decode(text + CHECKED_LENGTH, &check) != AZ_OK || check != checksum(text))
        return AZ_INVALID;
    enum az_status status = parse_body(text + PREFIX_LENGTH, ret);
    if (status == AZ_OK)
        *ret_kind = kind;
    return status;
}

void
token_text_done(struct token_text *text)
{
    secret_wipe(text, sizeof(*text));
}
