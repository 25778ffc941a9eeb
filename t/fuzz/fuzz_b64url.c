/* base64url and base64: what is read has exactly one text. */
#include "config.h"

#include <string.h>

#include "base/b64url.h"
#include "fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    const char *text = (const char *) data;
    unsigned char *octets = NULL;
    size_t len = 0;
    char fixed[32];

    if (b64url_decode(mem, text, size, &octets, &len) == AZ_OK) {
        const char *again = b64url_encode(mem, octets, len);
        MUST(strlen(again) == size && memcmp(again, text, size) == 0);
        MUST(octets[len] == '\0');
    }
    if (b64url_decode_into(text, size, fixed, sizeof(fixed)) == AZ_OK)
        MUST(len == sizeof(fixed) && memcmp(fixed, octets, len) == 0);
    if (b64_decode(mem, text, size, &octets, &len) == AZ_OK) {
        const char *again = b64_encode(mem, octets, len);
        MUST(strlen(again) == size && memcmp(again, text, size) == 0);
    }
    if (b64_decode_lenient(mem, text, size, &octets, &len) == AZ_OK)
        MUST(B64URL_LENGTH(len) <= size && size <= (len + 2) / 3 * 4);
    talloc_free(mem);
    return 0;
}
