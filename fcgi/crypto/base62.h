/* A 32-bit number as six characters of 0-9A-Za-z: the checksum of a token. */
#ifndef AZ_CRYPTO_BASE62_H
#define AZ_CRYPTO_BASE62_H

#include <stdint.h>

#include "base/status.h"

/* 62^6 > 2^32 > 62^5, so six characters represent every value; shorter ones are padded with '0'. */
#define BASE62_LENGTH 6

/* Write exactly BASE62_LENGTH characters, most significant first, and no NUL. */
void base62_encode(uint32_t value, char *ret);

/* Read exactly BASE62_LENGTH characters. AZ_INVALID: another character, or more than 32 bits. */
enum az_status base62_decode(const char *text, uint32_t *ret);

#endif
