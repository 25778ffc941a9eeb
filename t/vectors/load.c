#include "config.h"

#include "vectors/load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/jsonx.h"

static _Noreturn void
give_up(const char *what, const char *name)
{
    printf("Bail out! %s: %s\n", what, name);
    exit(1);
}

/* srcdir is set by automake's test harness; without it the tests run at the top of the source. */
json_t *
vectors_load(TALLOC_CTX *mem, const char *name)
{
    const char *srcdir = getenv("srcdir");
    json_error_t error;
    char *path = talloc_asprintf(mem, "%s/t/vectors/%s", srcdir ? srcdir : ".", name);

    json_t *value = jsonx_own(mem, json_load_file(path, 0, &error));
    if (value == NULL)
        give_up("cannot read", path);
    return value;
}

const char *
vectors_text(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    if (text == NULL)
        give_up("vector lacks", name);
    return text;
}

unsigned char *
vectors_octets(TALLOC_CTX *mem, const json_t *object, const char *name, size_t *ret_len)
{
    const char *text = vectors_text(object, name);
    size_t len = strlen(text) / 2;
    unsigned char *octets = talloc_zero_size(mem, len + 1);

    for (size_t i = 0; i < len; i++) {
        unsigned octet;
        if (sscanf(text + 2 * i, "%2x", &octet) != 1)
            give_up("vector is not hex", name);
        octets[i] = (unsigned char) octet;
    }
    *ret_len = len;
    return octets;
}
