#include "config.h"

#include "crypto/base62.h"

#include <string.h>

#include "tap.h"

/* clang-format off */
static const struct {
    uint32_t value;
    const char *text;
} vectors[] = {
    {0, "000000"},         {9, "000009"},         {10, "00000A"},         {35, "00000Z"},
    {36, "00000a"},        {61, "00000z"},        {62, "000010"},         {3843, "0000zz"},
    {916132831, "0zzzzz"}, {916132832, "100000"}, {UINT32_MAX, "4gfFC3"},
};
/* clang-format on */

/* clang-format off */
static const struct {
    const char *text;
    const char *why;
} refused[] = {
    {"4gfFC4", "one past 32 bits"},
    {"zzzzzz", "the largest six characters"},
    {"50000 ", "a space"},
    {"0000-0", "a hyphen"},
    {"0000_0", "an underscore"},
    {"0000\xc3"
     "0",
     "an octet above 127"},
    {"0000/0", "the character before 0"},
    {"0000:0", "the character after 9"},
    {"0000@0", "the character before A"},
    {"0000[0", "the character after Z"},
    {"0000`0", "the character before a"},
    {"0000{0", "the character after z"},
    {"+00001", "a sign"},
};
/* clang-format on */

int
main(void)
{
    plan(0);
    for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
        char text[BASE62_LENGTH + 1] = "";
        uint32_t value = 1;
        base62_encode(vectors[i].value, text);
        is_str(text, vectors[i].text, "encode %u to six characters", vectors[i].value);
        is_int(base62_decode(vectors[i].text, &value), AZ_OK, "decode %s", vectors[i].text);
        is_int(value, vectors[i].value, "... to %u", vectors[i].value);
    }
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        uint32_t value = 4711;
        enum az_status status = base62_decode(refused[i].text, &value);
        ok(status == AZ_INVALID && value == 4711, "decode refuses %s", refused[i].why);
    }
    uint32_t value;
    is_int(base62_decode("000\0"
                         "00",
                         &value),
           AZ_INVALID, "decode refuses a NUL");
    return done();
}
