/* Packing of the policy documents that are stored with tokens and audit rows: LZ4 with preset
 * dictionaries. */
#ifndef AZ_BASE_PACK_H
#define AZ_BASE_PACK_H

#include <stddef.h>
#include <talloc.h>

#include "base/status.h"

/* Longest text that is packed or unpacked: the question of an introspection holds a stored question
 * (64 KiB of form) and a stored answer (128 KiB). A decompression bomb cannot grow past it. */
#define PACK_TEXT_MAX (1 << 20)

/*
 * Pack a text: one octet that names the dictionary, the text's length (seven bits an octet, lowest
 * first, the eighth set on all but the last), then one LZ4 block. A policy input is a few hundred
 * octets, most of them the same in every input, so a dictionary makes it four times smaller
 * (performance.md 3.2), in a tenth of the time that deflate takes. AZ_SERVER_ERROR: no memory, or a
 * text over PACK_TEXT_MAX.
 */
enum az_status pack_text(TALLOC_CTX *mem, const char *text, size_t length, unsigned char **ret,
                         size_t *ret_length);

/* Unpack a text; the result is NUL-terminated and owned by mem. AZ_INVALID: an unknown dictionary,
 * a length that is not the text's, or damaged octets. */
enum az_status unpack_text(TALLOC_CTX *mem, const unsigned char *packed, size_t length, char **ret,
                           size_t *ret_length);

#endif
