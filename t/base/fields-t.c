#include "config.h"

#include "base/fields.h"

#include <stdlib.h>
#include <string.h>

#include "base/jsonx.h"
#include "tap.h"

static const char *
no_x(TALLOC_CTX *mem, const json_t *value)
{
    const char *text = json_is_string(value) ? json_string_value(value) : "";
    bool found = strchr(text, 'x') != NULL || json_object_get(value, "x") != NULL;
    return found ? talloc_strdup(mem, "has an x") : NULL;
}

/* clang-format off */
static const struct field table[] = {
    {"id",     FIELD_READ_ONLY,   0, false, NULL, NULL},
    {"mark",   FIELD_READ_ONLY,   3, false, NULL, NULL},
    {"name",   FIELD_TEXT,        3, true,  no_x, "name_column"},
    {"free",   FIELD_TEXT,        0, false, NULL, NULL},
    {"on",     FIELD_BOOLEAN,     0, false, NULL, "on_column"},
    {"list",   FIELD_TEXT_LIST,   3, false, no_x, "list_column"},
    {"object", FIELD_OBJECT,      0, false, no_x, "object_column"},
    {"later",  FIELD_UNSUPPORTED, 0, false, NULL, NULL},
};
/* clang-format on */

static const struct {
    const char *text;
    const char *result; /* columns as JSON, or each fault as "path: why;" */
    const char *name;
} cases[] = {
    {"{\"name\":\"a\"}",                                                                   "{\"name_column\":\"a\"}",                        "what is required alone"                            },
    {"{\"name\":\"a\",\"on\":false,\"list\":[\"b\"],\"object\":{\"k\":1},\"free\":\"f\"}",
     "{\"name_column\":\"a\",\"on_column\":false,\"list_column\":[\"b\"],\"object_column\":{\"k\":"
     "1}}",                                                                                                                                  "all kinds; only those with a column become columns"},
    {"{\"name\":\"a\",\"on\":null,\"list\":null,\"later\":null}",                          "{\"name_column\":\"a\"}",
     "null counts as absent"                                                                                                                                                                     },
    {"{\"name\":\"a\",\"id\":{\"any\":1}}",                                                "{\"name_column\":\"a\"}",
     "a read-only field is ignored"                                                                                                                                                              },
    {"{\"name\":\"a\",\"mark\":\"abc\"}",                                                  "{\"name_column\":\"a\"}",                        "one with a maximum, at it"                         },
    {"{\"name\":\"a\",\"mark\":\"abcd\"}",                                                 "mark: must have at most 3 characters;",          "and one past"                                      },
    {"{\"name\":\"a\",\"list\":[]}",                                                       "{\"name_column\":\"a\",\"list_column\":[]}",     "an empty list"                                     },
    {"{}",                                                                                 "name: is required;",                             "a required field is missing"                       },
    {"{\"name\":null}",                                                                    "name: is required;",                             "a required field is null"                          },
    {"{\"name\":1}",                                                                       "name: must be a string;",                        "a number for a text"                               },
    {"{\"name\":\"\"}",                                                                    "name: must not be empty;",                       "an empty text"                                     },
    {"{\"name\":\"\xc3\xa9\xc3\xa9\xc3\xa9\"}",                                            "{\"name_column\":\"\xc3\xa9\xc3\xa9\xc3\xa9\"}",
     "a text of the maximum in code points, twice that in octets"                                                                                                                                },
    {"{\"name\":\"abcd\"}",                                                                "name: must have at most 3 characters;",          "a text one longer"                                 },
    {"{\"name\":\"x\"}",                                                                   "name: has an x;",                                "a text that breaks its rule"                       },
    {"{\"name\":\"a\",\"on\":\"true\"}",                                                   "on: must be true or false;",                     "a text for a boolean"                              },
    {"{\"name\":\"a\",\"list\":\"b\"}",                                                    "list: must be an array of strings;",             "a text for a list"                                 },
    {"{\"name\":\"a\",\"list\":[\"b\",1,\"abcd\",\"x\",\"\"]}",
     "list[1]: must be a string;list[2]: must have at most 3 characters;list[3]: has an x;"
     "list[4]: must not be empty;",                                                                                                          "each bad item of a list"                           },
    {"{\"name\":\"a\",\"object\":[]}",                                                     "object: must be an object;",                     "an array for an object"                            },
    {"{\"name\":\"a\",\"object\":{\"x\":1}}",                                              "object: has an x;",
     "an object that breaks its rule"                                                                                                                                                            },
    {"{\"name\":\"a\",\"later\":\"b\"}",                                                   "later: is not supported yet;",                   "what is not there yet"                             },
    {"{\"name\":\"a\",\"nmae\":1}",                                                        "nmae: is not a field of this object;",           "a misspelt field"                                  },
    {"{\"on\":1,\"zz\":1}",
     "name: is required;on: must be true or false;zz: is not a field of this object;",                                                       "all faults are told at once"                       },
};

static void
collect(void *arg, const char *path, const char *why)
{
    char **text = arg;
    *text = talloc_asprintf_append(*text, "%s: %s;", path, why);
}

int
main(void)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        TALLOC_CTX *mem = talloc_new(NULL);
        json_t *object, *columns = NULL;
        char *faults = talloc_strdup(mem, "");
        if (jsonx_parse(mem, cases[i].text, strlen(cases[i].text), 8, &object, NULL) != AZ_OK)
            return 2;
        enum az_status status = fields_read(mem, table, sizeof(table) / sizeof(table[0]), object,
                                            collect, &faults, &columns);
        is_str(status == AZ_OK ? jsonx_dump(mem, columns) : faults, cases[i].result, "%s",
               cases[i].name);
        ok((status == AZ_OK) == (columns != NULL) && (status == AZ_OK) == (*faults == '\0'),
           "... with the outcome that says so");
        talloc_free(mem);
    }
    return done();
}
