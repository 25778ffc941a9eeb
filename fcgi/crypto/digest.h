/* SHA-256 and functions built on it. Each is one call, so there is no handle that could be left
 * open. */
#ifndef AZ_CRYPTO_DIGEST_H
#define AZ_CRYPTO_DIGEST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "crypto/secret.h"

#define SHA256_OCTETS 32
#define SHA256_HEX_SIZE 65 /* with the NUL */

/* RFC 5869 section 2.3: no more than 255 blocks of output. */
#define HKDF_SHA256_MAX (255 * SHA256_OCTETS)

/* Compute SHA-256 (FIPS 180-4). AZ_SERVER_ERROR: the library failed, and ret is wiped; this
 * holds for all functions below. */
enum az_status sha256(const void *data, size_t len, unsigned char ret[SHA256_OCTETS]);

/* Write a digest as lower-case hex and a NUL. */
void digest_hex(const unsigned char digest[SHA256_OCTETS], char ret[SHA256_HEX_SIZE]);

/* Compute SHA-256 and write it so. */
enum az_status sha256_hex(const void *data, size_t len, char ret[SHA256_HEX_SIZE]);

/* Compare two texts by their digests, so that the time reveals neither the length nor the content
 * of the secret one. On AZ_SERVER_ERROR *ret is false. */
enum az_status sha256_texts_equal(const char *a, const char *b, bool *ret);

/* Compute HMAC-SHA-256 (RFC 2104, RFC 4231). */
enum az_status hmac_sha256(const void *key, size_t key_len, const void *data, size_t len,
                           unsigned char ret[SHA256_OCTETS]);

/*
 * Derive a key (RFC 5869). info names the purpose, so that keys for two purposes have nothing in
 * common; it and the salt may be empty. AZ_INVALID: ret_len is 0 or more than HKDF_SHA256_MAX.
 */
enum az_status hkdf_sha256(const void *secret, size_t secret_len, const void *salt, size_t salt_len,
                           const void *info, size_t info_len, void *ret, size_t ret_len);

#endif
