#include "config.h"

#include "base/raw_uri.h"

#include <string.h>

#define RAW_IN_PATH "\"<>[]^`{|}"
#define RAW_IN_QUERY RAW_IN_PATH "\\"

const char *
raw_uri_encode(TALLOC_CTX *mem, const char *text, enum raw_uri_part part)
{
    const char *raw = part == RAW_URI_PATH ? RAW_IN_PATH : RAW_IN_QUERY;
    size_t length = strlen(text), plain = strcspn(text, raw), out = plain;
    if (plain == length)
        return text;
    char *encoded = talloc_size(mem, 3 * length + 1);
    if (encoded == NULL)
        return NULL;
    memcpy(encoded, text, plain);
    for (const char *c = text + plain; *c != '\0'; c++) {
        if (strchr(raw, *c) == NULL) {
            encoded[out++] = *c;
            continue;
        }
        encoded[out++] = '%';
        encoded[out++] = "0123456789ABCDEF"[(unsigned char) *c >> 4];
        encoded[out++] = "0123456789ABCDEF"[(unsigned char) *c & 15];
    }
    encoded[out] = '\0';
    return encoded;
}
