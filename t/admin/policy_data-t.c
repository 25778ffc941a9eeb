#include "config.h"

#include "admin/policy/policy_data.h"

#include <string.h>

#include "tap.h"

static const struct {
    const char *key;
    bool good;
    const char *name;
} keys[] = {
    {"a",                           true,  "one letter"              },
    {"svc.operator.controls.trust", true,  "words with dots"         },
    {"A-b_9.0",                     true,  "all characters of a word"},
    {NULL,                          false, "none"                    },
    {"",                            false, "empty"                   },
    {".",                           false, "a dot"                   },
    {".a",                          false, "a dot before it"         },
    {"a.",                          false, "a dot after it"          },
    {"a..b",                        false, "an empty word"           },
    {"a b",                         false, "a space"                 },
    {"a/b",                         false, "a slash"                 },
    {"a\"b",                        false, "a quote"                 },
    {"a[0]",                        false, "brackets"                },
    {"a\nb",                        false, "a line break"            },
    {"\xc3\xa9",                    false, "a letter beyond ASCII"   },
};

int
main(void)
{
    char longest[POLICY_DATA_KEY_MAX + 2];
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        ok((policy_data_key_fault(keys[i].key) == NULL) == keys[i].good, "a data key is %s: %s",
           keys[i].good ? "taken" : "refused", keys[i].name);
    memset(longest, 'a', sizeof(longest));
    longest[POLICY_DATA_KEY_MAX] = '\0';
    ok(policy_data_key_fault(longest) == NULL, "a data key of 256 characters is taken");
    memset(longest, 'a', sizeof(longest));
    longest[POLICY_DATA_KEY_MAX + 1] = '\0';
    ok(policy_data_key_fault(longest) != NULL, "one of 257 is refused (specification 2.5)");
    return done();
}
