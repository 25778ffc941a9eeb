/* Values of the fields that an upstream gets of /auth/check (gateway-admin.md 1.8). */
#include "config.h"

#include "gateway/check/identity.h"

#include <string.h>

#include "tap.h"

/* clang-format off */
static const struct {
    const char *text;
    bool spaces;
    const char *wanted, *name;
} values[] = {
    {"alice",           false, "alice",                 "a plain value"                                    },
    {NULL,              false, "-",                     "what is absent"                                   },
    {"",                false, "-",                     "... or empty"                                     },
    {"-",               false, "%2D",                   "a lone dash is none that stands for what is absent"},
    {"--",              false, "--",                    "... two are themselves"                           },
    {"a\nX-Authz-Idp: b", false, "a%0AX-Authz-Idp:%20b", "a line feed begins no field"                      },
    {"a\r\n\r\nb",      false, "a%0D%0A%0D%0Ab",        "... nor ends the head"                            },
    {"%41",             false, "%2541",                 "% is encoded"                                     },
    {"\xc3\xa9",        false, "%C3%A9",                "octets beyond ASCII"                              },
    {"a\x7f",           false, "a%7F",                  "DEL"                                              },
    {"a b",             false, "a%20b",                 "a space"                                          },
    {"a b",             true,  "a b",                   "... between scopes stays"                         },
    {"a\tb",            true,  "a%09b",                 "... and no other blank"                           },
};
/* clang-format on */

/* Return a value of n octets, as its length; 0: it has no room. */
static size_t
length_of(TALLOC_CTX *mem, size_t n, char octet, bool spaces, size_t max)
{
    char *text = talloc_array(mem, char, (unsigned) n + 1);
    memset(text, octet, n);
    text[n] = '\0';
    const char *value = identity_value(mem, text, spaces, max);
    return value != NULL ? strlen(value) : 0;
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
        is_str(identity_value(mem, values[i].text, values[i].spaces, IDENTITY_VALUE_MAX),
               values[i].wanted, "%s", values[i].name);
    is_int(length_of(mem, 1024, 'x', false, IDENTITY_VALUE_MAX), 1024, "the longest value");
    is_int(length_of(mem, 1025, 'x', false, IDENTITY_VALUE_MAX), 0, "... one octet more is none");
    is_int(length_of(mem, 341, '%', false, IDENTITY_VALUE_MAX), 1023, "... as it is encoded");
    is_int(length_of(mem, 342, '%', false, IDENTITY_VALUE_MAX), 0, "... it counts");
    is_int(length_of(mem, 4096, 's', true, IDENTITY_SCOPES_MAX), 4096, "the longest scopes");
    is_int(length_of(mem, 4097, 's', true, IDENTITY_SCOPES_MAX), 0, "... one octet more is none");
    talloc_free(mem);
    return done();
}
