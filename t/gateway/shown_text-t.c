/* Texts of upstreams as clients see them (gateway-admin.md 1.5, 1.6). */
#include "config.h"

#include "gateway/mcp/message/shown_text.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/utf8.h"
#include "base/visible.h"
#include "env.h"
#include "tap.h"

/* Values of results; wanted NULL: refused. */
/* clang-format off */
static const struct {
    const char *given, *wanted, *name;
} values[] = {
    {"'plain'", "\"plain\"", "a plain text"},
    {"'\\u05e9\\u200f, \\u0639\\u061c \\u00e9\\t\\n\\u0007'", "\"\u05e9\u200f, \u0639\u061c \u00e9\\t\\n\\u0007\"", "letters of any script, their marks and controls stay"},
    {"'a\\u202ab\\u202ec\\u2066d\\u2069e'", "\"abcde\"", "what reorders text is taken out"},
    {"'a\\u2029b\\u202fc\\u2065d\\u206ae'", "\"a\u2029b\u202fc\u2065d\u206ae\"", "... and its neighbours stay"},
    {"'a\\udb40\\udc01b\\udb40\\udc41c\\udb40\\udd00d'", "\"abcd\"", "tags and selectors of plane 14 are taken out"},
    {"'\\udb3f\\udffd\\udb44\\udc00'", "\"\U000dfffd\U000e1000\"", "... and its neighbours stay"},
    {"{'a':['x\\u202e',{'b':'\\u2067'}],'c':7,'d':null,'e':true}", "{\"a\":[\"x\",{\"b\":\"\"}],\"c\":7,\"d\":null,\"e\":true}", "at any depth"},
    {"{'a\\u202eb':1}", NULL, "a name of a member with one is refused"},
    {"[{'a':{'\\udb40\\udc41':1}}]", NULL, "... at any depth"},
    {"{'\\u200f':1}", "{\"\u200f\":1}", "a name with a mark stays"},
};

static const struct {
    const char *given, *wanted, *name;
} lines[] = {
    {"a\nb\r\tc", "a\nbc", "line feeds stay"},
    {"a\u202eb\u200fc\U000e0041d\u2028e", "abcde", "what reorders, marks, tags and other ends of lines do not"},
};
/* clang-format on */

/* Return a text of letters and of a character, cut to length octets, in a block of that size. */
static char *
cut_text(TALLOC_CTX *mem, const char *character, size_t length)
{
    char *text = talloc_zero_size(mem, length + 1);
    size_t octets = strlen(character), letters = length < 40 ? 0 : length - 40;
    memset(text, 'a', letters);
    for (size_t i = letters; i < length; i++)
        text[i] = character[(i - letters) % octets];
    return text;
}

/* True if each reader of characters ends with a cut text, and shows no part of a character. */
static bool
ends_with_text(TALLOC_CTX *mem, const char *text)
{
    const char *all = shown_lines(mem, text), *start = shown_instructions(mem, text);
    json_t *name = jsonx_own(mem, shown_text(mem, text));
    size_t length = strlen(text);
    bool plain = shown_is_plain(text);
    return all != NULL && start != NULL && name != NULL && plain == utf8_valid(text, length)
           && (visible_fault(text) == NULL) == plain && strncmp(text, all, strlen(all)) == 0
           && length - strlen(all) < 4 && utf8_valid(all, strlen(all))
           && utf8_valid(start, strlen(start));
}

static void
test_cut_texts(void)
{
    static const char *const characters[] = {"b", "\u00e9", "\u20ac", "\U0001f600"};
    for (size_t i = 0; i < sizeof(characters) / sizeof(characters[0]); i++) {
        size_t wrong = 0;
        for (size_t length = 1; length <= 4100; length++) {
            TALLOC_CTX *mem = talloc_new(NULL);
            wrong += !ends_with_text(mem, cut_text(mem, characters[i], length));
            talloc_free(mem);
        }
        is_int((int64_t) wrong, 0,
               "texts cut within a character of %zu octets are read to their end and no further",
               i + 1);
    }
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    test_cut_texts();
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        json_t *shown = jsonx_own(mem, shown_value(mem, env_json(mem, values[i].given)));
        is_str(shown != NULL ? jsonx_dump(mem, shown) : NULL, values[i].wanted, "%s",
               values[i].name);
    }
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        is_str(shown_lines(mem, lines[i].given), lines[i].wanted, "%s", lines[i].name);
    json_t *same = env_json(mem, "{'a':['b']}"), *shown = shown_value(mem, same);
    ok(shown == same, "a plain value is not copied");
    json_decref(shown);
    is_str(json_string_value(jsonx_own(mem, shown_text(mem, "a\nb\u202e"))), "ab",
           "a text of one line has no line feed");
    ok(shown_is_plain("plain") && !shown_is_plain("a\u202eb") && !shown_is_plain("a\nb"),
       "... and is plain without all of these");
    talloc_free(mem);
    return done();
}
