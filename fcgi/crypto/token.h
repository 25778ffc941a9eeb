/*
 * The text of the tokens and keys that this service gives out; opaque to clients.
 *
 *   token   = kind "_" body check
 *   kind    = "at" / "rt" / "ac" / "ar" / "pt" / "ak" / "cs"
 *   body    = base64url(version shard bucket id secret)   ; 53 octets, 71 characters
 *   version = 1 octet, = 1
 *   shard   = 1 octet, = 0
 *   bucket  = 3 octets, big-endian: hours since 2026-01-01T00:00:00Z of the expiry
 *   id      = 16 octets, a UUIDv7
 *   secret  = 32 random octets
 *   check   = CRC-32 (as in zlib) of all characters before it, as 6 base62 characters
 *
 * The bucket names the partition that holds the row, the id the row in it; the row holds SHA-256 of
 * the secret alone. The checksum is no protection (anyone can compute it): it spares the database
 * the reading of texts that were never tokens, and lets scanners of leaked files recognise ours.
 */
#ifndef AZ_CRYPTO_TOKEN_H
#define AZ_CRYPTO_TOKEN_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/uuid7.h"
#include "crypto/digest.h"

enum token_kind {
    TOKEN_ACCESS,        /* at: access token */
    TOKEN_REFRESH,       /* rt: refresh token */
    TOKEN_CODE,          /* ac: authorization code */
    TOKEN_AUTH_REQ,      /* ar: auth_req_id of CIBA */
    TOKEN_TICKET,        /* pt: UMA permission ticket */
    TOKEN_ADMIN_KEY,     /* ak: admin API key */
    TOKEN_CLIENT_SECRET, /* cs: client secret */
};

#define TOKEN_SECRET_OCTETS 32
#define TOKEN_TEXT_LENGTH 80

/* 2026-01-01T00:00:00Z in seconds since 1970. */
#define TOKEN_EPOCH 1767225600LL

/* Expiry of values that do not expire (admin keys, client secrets), and the bucket for it. */
#define TOKEN_NO_EXPIRY INT64_MAX
#define TOKEN_BUCKET_NO_EXPIRY 0xffffffU

/* Text of a token: a secret. Wipe it with token_text_done(). */
struct token_text {
    char text[TOKEN_TEXT_LENGTH + 1];
};

/* Parts of a token that the database needs; no secret. */
struct token_parts {
    uint32_t bucket;                          /* hour of expiry, counted from TOKEN_EPOCH */
    unsigned char id[UUID7_OCTETS];           /* key of the row */
    unsigned char secret_hash[SHA256_OCTETS]; /* SHA-256 of the secret octets */
};

/*
 * Compute the bucket of an expiry. Bucket b contains the tokens that expire in [b, b + 1) hours
 * after TOKEN_EPOCH, so a partition may be dropped after its last second. expires_at: seconds since
 * 1970. AZ_INVALID: before TOKEN_EPOCH, or so late that the bucket would not fit below
 * TOKEN_BUCKET_NO_EXPIRY (the year 3939).
 */
enum az_status token_bucket(int64_t expires_at, uint32_t *ret);

/*
 * Make a new token. expires_at: seconds since 1970, or TOKEN_NO_EXPIRY; now_ms: milliseconds since
 * 1970, which the id contains. AZ_INVALID: expires_at as for token_bucket(), or now_ms is negative
 * or beyond UUID7_MS_MAX. AZ_SERVER_ERROR: no randomness.
 */
enum az_status token_make(enum token_kind kind, int64_t expires_at, int64_t now_ms,
                          struct token_text *ret, struct token_parts *ret_parts);

/*
 * Read a token. The secret does not leave this function. AZ_INVALID: wrong length, kind, alphabet,
 * checksum, version or shard, or an id that is not a UUIDv7. Only the database knows if the token
 * was ever issued.
 */
enum az_status token_parse(const char *text, size_t len, enum token_kind *ret_kind,
                           struct token_parts *ret);

/* Wipe the text of a token. */
void token_text_done(struct token_text *text);

#endif
