/* The Origin of a page, and the headers that a preflight asks for. An input is either. */
#include "config.h"

#include <string.h>
#include <strings.h>
#include <talloc.h>

#include "fuzz/fuzz.h"
#include "http/origin.h"

#define ISSUER "https://as.example"
#define LISTED "https://a.example, https://b.example:8443"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    const char *text = talloc_strndup(mem, (const char *) data, size);
    bool known = strcasecmp(text, ISSUER) == 0 || strcmp(text, "https://a.example") == 0
                 || strcmp(text, "https://b.example:8443") == 0;
    MUST(origin_is_allowed(ISSUER, LISTED, text) == known);
    const char *none = origin_request_headers(mem, NULL),
               *allowed = origin_request_headers(mem, text);
    MUST(strncmp(allowed, none, strlen(none)) == 0);
    /* Nothing of the input leaves its line. */
    for (const char *c = allowed; *c != '\0'; c++)
        MUST((unsigned char) *c >= 0x20 && (unsigned char) *c < 0x7f);
    talloc_free(mem);
    return 0;
}
