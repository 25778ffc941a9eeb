#include "config.h"

#include "policy/rows/rego_annotations.h"

#include <string.h>

#include "policy/rows/rego_rules.h"

char *
rego_without_annotations(TALLOC_CTX *mem, const char *text)
{
    static const char mark[] = "METADATA", plain[] = "metadata";
    const size_t length = sizeof(mark) - 1;
    char *copy = talloc_strdup(mem, text);
    for (const char *c = copy, *next; c != NULL && *c != '\0'; c = next) {
        struct rego_token token = rego_token_at(c, &next);
        for (char *at = copy + (c - copy); at + length <= token.text; at++)
            if (memcmp(at, mark, length) == 0)
                memcpy(at, plain, length);
    }
    return copy;
}
