/* Texts of upstreams as clients see them (gateway-admin.md 1.5, 1.6). */
#include "config.h"

#include "gateway/mcp/message/shown_text.h"

#include <string.h>

#include "base/json/jsonx.h"
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

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
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
