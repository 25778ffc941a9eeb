/* Packing of the policy documents that are stored with tokens and audit rows: LZ4 with preset
 * dictionaries. */
#ifndef AZ_BASE_PACK_H
#define AZ_BASE_PACK_H

#include <stddef.h>
#include <talloc.h>

#include "base/status.h"

/* Longest text that is packed or unpacked: an introspection's question holds a stored question
 * (64 KiB of form) and answer (128 KiB), and a bomb must not grow past that. */
#define PACK_TEXT_MAX (1 << 20)

/*
 * Packs text: one octet that names the dictionary, the text's length (seven bits an octet, lowest
 * first, the eighth set on all but the last), then one LZ4 block. A policy input is a few hundred
 * octets of mostly the same words, so a dictionary makes it four times smaller (performance.md
 * 3.2), in a tenth of deflate's time. Dictionaries are never changed, only added: rows packed with
 * an old one stay readable.
 */
enum az_status pack_text(TALLOC_CTX *mem, const char *text, size_t length, unsigned char **ret,
                         size_t *ret_length);

/* The text of packed octets, NUL-terminated. AZ_INVALID for an unknown dictionary, a length that is
 * not the text's, and damaged octets. */
enum az_status unpack_text(TALLOC_CTX *mem, const unsigned char *packed, size_t length, char **ret,
                           size_t *ret_length);

#endif
