/* Names of files and keys of objects. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "cli/instance/instance.h"

static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";

char *
instance_file_of(TALLOC_CTX *mem, const char *folder, const char *key)
{
    char *name = talloc_array(mem, char, (unsigned) (3 * strlen(key) + 1)), *to = name;
    if (name == NULL)
        return NULL;
    /* A name that begins with a dot is hidden, and a walk skips it. */
    for (const char *c = key; *c != '\0'; c++)
        to += strchr(plain, *c) != NULL && (c != key || *c != '.')
                  ? sprintf(to, "%c", *c)
                  : sprintf(to, "%%%02X", (unsigned char) *c);
    *to = '\0';
    return talloc_asprintf(mem, "%s/%s" INSTANCE_SUFFIX, folder, name);
}

static int
hex_digit(char c)
{
    static const char digits[] = "0123456789ABCDEF";
    const char *at = c != '\0' ? strchr(digits, c) : NULL;
    return at != NULL ? (int) (at - digits) : -1;
}

char *
instance_key_of(TALLOC_CTX *mem, const char *folder, const char *path)
{
    size_t begin = strlen(folder) + 1, end = strlen(path) - strlen(INSTANCE_SUFFIX);
    char *key = talloc_array(mem, char, (unsigned) (end - begin + 1)), *to = key;
    for (size_t i = begin; key != NULL && i < end; i++) {
        int high = path[i] == '%' ? hex_digit(path[i + 1]) : -1,
            low = high >= 0 ? hex_digit(path[i + 2]) : -1;
        *to++ = low >= 0 ? (char) (high * 16 + low) : path[i];
        i += low >= 0 ? 2 : 0;
    }
    if (key == NULL)
        return NULL;
    *to = '\0';
    /* A second name of the same object would let one file hide another. */
    const char *name =
        strlen(key) == (size_t) (to - key) ? instance_file_of(mem, folder, key) : NULL;
    return name != NULL && *key != '\0' && strcmp(name, path) == 0 ? key : NULL;
}
