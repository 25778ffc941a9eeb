/* Packing of the policy documents that are stored with tokens and audit rows: deflate with a preset
 * dictionary. */
#ifndef AZ_BASE_PACK_H
#define AZ_BASE_PACK_H

#include <stddef.h>
#include <talloc.h>

#include "base/status.h"

/* Longest text that is packed or unpacked: a policy answer is at most 1 MiB, and a bomb must not
 * grow past that. */
#define PACK_TEXT_MAX (1 << 20)

/*
 * Packs text: one octet that names the dictionary, then raw deflate. A policy input is a few
 * hundred octets of mostly the same words, so the dictionary makes it ten times smaller
 * (performance.md 3.2). Dictionaries are never changed, only added: rows packed with an old one
 * stay readable.
 */
enum az_status pack_text(TALLOC_CTX *mem, const char *text, size_t length, unsigned char **ret,
                         size_t *ret_length);

/* The text of packed octets, NUL-terminated. AZ_INVALID for an unknown dictionary or damaged
 * octets. */
enum az_status unpack_text(TALLOC_CTX *mem, const unsigned char *packed, size_t length, char **ret,
                           size_t *ret_length);

#endif
