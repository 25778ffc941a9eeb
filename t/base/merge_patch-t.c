#include "config.h"

#include "base/json/merge_patch.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

/* RFC 7396 appendix A, in its order. */
static const struct {
    const char *target, *patch, *result;
} cases[] = {
    {"{\"a\":\"b\"}",             "{\"a\":\"c\"}",                    "{\"a\":\"c\"}"            },
    {"{\"a\":\"b\"}",             "{\"b\":\"c\"}",                    "{\"a\":\"b\",\"b\":\"c\"}"},
    {"{\"a\":\"b\"}",             "{\"a\":null}",                     "{}"                       },
    {"{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}",                     "{\"b\":\"c\"}"            },
    {"{\"a\":[\"b\"]}",           "{\"a\":\"c\"}",                    "{\"a\":\"c\"}"            },
    {"{\"a\":\"c\"}",             "{\"a\":[\"b\"]}",                  "{\"a\":[\"b\"]}"          },
    {"{\"a\":{\"b\":\"c\"}}",     "{\"a\":{\"b\":\"d\",\"c\":null}}", "{\"a\":{\"b\":\"d\"}}"    },
    {"{\"a\":[{\"b\":\"c\"}]}",   "{\"a\":[1]}",                      "{\"a\":[1]}"              },
    {"[\"a\",\"b\"]",             "[\"c\",\"d\"]",                    "[\"c\",\"d\"]"            },
    {"{\"a\":\"b\"}",             "[\"c\"]",                          "[\"c\"]"                  },
    {"{\"a\":\"foo\"}",           "null",                             "null"                     },
    {"{\"a\":\"foo\"}",           "\"bar\"",                          "\"bar\""                  },
    {"{\"e\":null}",              "{\"a\":1}",                        "{\"e\":null,\"a\":1}"     },
    {"[1,2]",                     "{\"a\":\"b\",\"c\":null}",         "{\"a\":\"b\"}"            },
    {"{}",                        "{\"a\":{\"bb\":{\"ccc\":null}}}",  "{\"a\":{\"bb\":{}}}"      },
};

static char *
merge(const char *target_text, const char *patch_text, bool *ret_kept)
{
    json_t *target = target_text ? json_loads(target_text, JSON_DECODE_ANY, NULL) : NULL;
    json_t *patch = json_loads(patch_text, JSON_DECODE_ANY, NULL);
    json_t *merged = merge_patch(target, patch);
    char *text = json_dumps(merged, JSON_COMPACT | JSON_ENCODE_ANY);
    char *before = target ? json_dumps(target, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    *ret_kept = before == NULL || strcmp(before, target_text) == 0;
    json_decref(target);
    json_decref(patch);
    json_decref(merged);
    free(before);
    return text;
}

int
main(void)
{
    bool kept;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *text = merge(cases[i].target, cases[i].patch, &kept);
        is_str(text, cases[i].result, "RFC 7396 appendix A, case %zu", i + 1);
        ok(kept, "... and the target is left as it was");
        free(text);
    }
    char *text = merge("{\"z\":1,\"a\":{\"y\":1,\"b\":2},\"m\":3}",
                       "{\"n\":4,\"a\":{\"b\":9,\"c\":5},\"z\":0}", &kept);
    is_str(text, "{\"z\":0,\"a\":{\"y\":1,\"b\":9,\"c\":5},\"m\":3,\"n\":4}",
           "members keep their order, new ones come last");
    ok(kept, "... and the target's inner objects are left as they were");
    free(text);
    text = merge(NULL, "{\"a\":{\"b\":null,\"c\":1}}", &kept);
    is_str(text, "{\"a\":{\"c\":1}}", "no target counts as an empty object");
    free(text);
    return done();
}
