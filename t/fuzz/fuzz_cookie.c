/* The Cookie header. An input is its value. */
#include "config.h"

#include <stdbool.h>
#include <string.h>
#include <talloc.h>

#include "fuzz/fuzz.h"
#include "http/cookie.h"

#define NAME "svc_sid"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    const char *header = talloc_strndup(mem, (const char *) data, size), *value = NULL;
    size_t all = strlen(header), length = 0;
    bool found = cookie_find(header, NAME, &value, &length);
    if (found) {
        MUST(value >= header && value + length <= header + all);
        MUST(memchr(value, ';', length) == NULL);
        MUST(strstr(header, NAME) != NULL);
        /* A second one, in front or behind, takes it away. */
        const char *other;
        MUST(!cookie_find(talloc_asprintf(mem, NAME "=x; %s", header), NAME, &other, &length));
        MUST(!cookie_find(talloc_asprintf(mem, "%s;" NAME "=x", header), NAME, &other, &length));
    } else {
        MUST(value == NULL && length == 0);
    }
    if (strstr(header, NAME) == NULL && all < 64) {
        MUST(
            cookie_find(talloc_asprintf(mem, "%s; " NAME "=value", header), NAME, &value, &length));
        MUST(length == 5 && memcmp(value, "value", 5) == 0);
    }
    talloc_free(mem);
    return 0;
}
