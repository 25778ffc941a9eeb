/* picture_type(): the type of a picture by its first octets; none for anything shorter, or for SVG
 * (decisions.md "Logos of providers"). */
#include "config.h"

#include "base/picture.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

/* clang-format off */
static const struct {
    const char *octets;
    size_t length;
    const char *type, *name;
} cases[] = {
    {"\x89PNG\r\n\x1a\nx",          9,  "image/png",  "PNG"},
    {"\x89PNG\r\n\x1a\n",           8,  NULL,         "... its mark alone"},
    {"\x89PNG\n\x1a\nxxx",          10, NULL,         "... with other line ends"},
    {"\xff\xd8\xff\xe0",            4,  "image/jpeg", "JPEG"},
    {"\xff\xd8\xff",                3,  NULL,         "... its mark alone"},
    {"\xff\xd8xx",                  4,  NULL,         "... half of it"},
    {"RIFFxxxxWEBPx",               13, "image/webp", "WebP"},
    {"RIFFxxxxWEBP",                12, NULL,         "... its mark alone"},
    {"RIFFxxxxWAVEx",               13, NULL,         "another RIFF file"},
    {"RIFF",                        4,  NULL,         "... cut off"},
    {"GIF89axxxxxxxxx",             15, NULL,         "GIF"},
    {"<svg xmlns=\"http://a\"/>",   21, NULL,         "SVG"},
    {" \x89PNG\r\n\x1a\nx",         10, NULL,         "a blank before it"},
    {"",                            0,  NULL,         "nothing"},
};
/* clang-format on */

int
main(void)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        /* As long as the octets, so that a sanitizer sees a read beyond them. */
        char *octets = malloc(cases[i].length + (cases[i].length == 0));
        if (octets == NULL)
            return 1;
        memcpy(octets, cases[i].octets, cases[i].length);
        is_str(picture_type(octets, cases[i].length), cases[i].type, "picture: %s", cases[i].name);
        free(octets);
    }
    return done();
}
