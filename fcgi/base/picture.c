#include "config.h"

#include "base/picture.h"

#include <string.h>

/* The octets with which a file of each type begins; a second mark follows the first one. */
static const struct {
    const char *type;
    const char *mark;
    size_t length; /* octets of mark */
    const char *second;
    size_t at; /* place of second, which has four octets */
} picture_types[] = {
    {"image/png",  "\x89PNG\r\n\x1a\n", 8, NULL,   0},
    {"image/jpeg", "\xff\xd8\xff",      3, NULL,   0},
    {"image/webp", "RIFF",              4, "WEBP", 8},
};

const char *
picture_type(const void *octets, size_t length)
{
    const char *text = octets;
    for (size_t i = 0; i < sizeof(picture_types) / sizeof(picture_types[0]); i++) {
        const char *second = picture_types[i].second;
        size_t at = second != NULL ? picture_types[i].at + 4 : picture_types[i].length;
        if (length > at && memcmp(text, picture_types[i].mark, picture_types[i].length) == 0
            && (second == NULL || memcmp(text + picture_types[i].at, second, 4) == 0))
            return picture_types[i].type;
    }
    return NULL;
}
