/* Packed documents: octets unpack to a text within the limit or are refused, and any text comes
 * back from packing as it was. */
#include "config.h"

#include <string.h>

#include "base/pack.h"
#include "fuzz/fuzz.h"

static void
unpack(TALLOC_CTX *mem, const uint8_t *data, size_t size)
{
    char *text = NULL;
    size_t length = SIZE_MAX;

    if (unpack_text(mem, data, size, &text, &length) != AZ_OK) {
        MUST(text == NULL && length == SIZE_MAX);
        return;
    }
    MUST(text != NULL && length <= PACK_TEXT_MAX && text[length] == '\0');
}

static void
round_trip(TALLOC_CTX *mem, const uint8_t *data, size_t size)
{
    unsigned char *packed = NULL;
    char *text = NULL;
    size_t packed_length, length;

    if (pack_text(mem, (const char *) data, size, &packed, &packed_length) != AZ_OK) {
        MUST(size > PACK_TEXT_MAX);
        return;
    }
    MUST(unpack_text(mem, packed, packed_length, &text, &length) == AZ_OK);
    MUST(length == size && (size == 0 || memcmp(text, data, size) == 0));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TALLOC_CTX *mem = talloc_new(NULL);

    unpack(mem, data, size);
    round_trip(mem, data, size);
    talloc_free(mem);
    return 0;
}
