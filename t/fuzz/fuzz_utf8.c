/* UTF-8: our judgement is Jansson's; a text is walked to its NUL and no further, and cut between
 * two characters. */
#include "config.h"

#include <jansson.h>
#include <string.h>
#include <talloc.h>

#include "base/utf8.h"
#include "base/visible.h"
#include "fuzz/fuzz.h"

/* Walk a text that ends with a NUL, and cut it at each place. */
static void
check_text(const char *text)
{
    size_t length = strlen(text);
    const char *at = text;
    bool valid = utf8_valid(text, length);
    for (const char *next = at; *at != '\0'; at = next) {
        bool malformed = visible_next(&next) == VISIBLE_MALFORMED;
        MUST(next > at && next <= text + length);
        MUST(malformed ? !valid && next == at + 1 : utf8_valid(at, (size_t) (next - at)));
    }
    MUST(at == text + length);
    MUST(valid || visible_fault(text) != NULL);
    for (size_t max = 0; max <= length; max++) {
        size_t cut = utf8_start(text, max);
        MUST(cut <= max && max - cut < 4);
        MUST(!valid || ((unsigned char) text[cut] & 0xc0) != 0x80);
    }
}

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
    char *copy = talloc_strndup(NULL, text, size);
    check_text(copy);
    talloc_free(copy);
    return 0;
}
