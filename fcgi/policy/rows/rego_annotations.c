#include "config.h"

#include "policy/rows/rego_annotations.h"

#include <string.h>

#include "policy/rows/rego_rules.h"

void
rego_hide_annotations(char *text)
{
    static const char mark[] = "METADATA", plain[] = "metadata";
    const size_t length = sizeof(mark) - 1;
    for (const char *c = text, *next; *c != '\0'; c = next) {
        struct rego_token token = rego_token_at(c, &next);
        for (char *at = text + (c - text); at + length <= token.text; at++)
            if (memcmp(at, mark, length) == 0)
                memcpy(at, plain, length);
    }
}
