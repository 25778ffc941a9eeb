/* Our own tokens: what parses has one kind, one length and printable characters only. */
#include "config.h"

#include <string.h>

#include "crypto/token.h"
#include "fuzz/fuzz.h"

/* Prefixes by kind. */
static const char *const prefixes[] = {
    [TOKEN_ACCESS] = "at_",        [TOKEN_REFRESH] = "rt_", [TOKEN_CODE] = "ac_",
    [TOKEN_AUTH_REQ] = "ar_",      [TOKEN_TICKET] = "pt_",  [TOKEN_ADMIN_KEY] = "ak_",
    [TOKEN_CLIENT_SECRET] = "cs_",
};

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct token_parts parts;
    enum token_kind kind;

    memset(&parts, 0xaa, sizeof(parts));
    if (token_parse((const char *) data, size, &kind, &parts) != AZ_OK) {
        MUST(parts.bucket == 0xaaaaaaaa);
        return 0;
    }
    MUST(size == TOKEN_TEXT_LENGTH && memcmp(data, prefixes[kind], 3) == 0);
    MUST(parts.bucket <= TOKEN_BUCKET_NO_EXPIRY && uuid7_check(parts.id) == AZ_OK);
    for (size_t i = 0; i < size; i++)
        MUST(data[i] > ' ' && data[i] < 0x7f);
    return 0;
}
