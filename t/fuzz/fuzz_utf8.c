/* UTF-8: our judgement is Jansson's. */
#include "config.h"

#include <jansson.h>

#include "base/utf8.h"
#include "fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *) data;
    bool valid = utf8_valid(text, size);
    json_t *value = json_stringn(text, size);

    MUST(valid == (value != NULL));
    MUST(utf8_length(text, size) <= size);
    if (valid && size > 0)
        MUST(utf8_length(text, size) * 4 >= size);
    json_decref(value);
    return 0;
}
