/* Differences between the rows of two bundles (policy/save/bundle/bundle_diff.h;
 * gateway-admin.md 3.6).
 */
#include "config.h"

#include "policy/save/bundle/bundle_diff.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/text_diff.h"
#include "tap.h"

static TALLOC_CTX *mem;

/* Parse a content; single quotes stand for double ones. */
static json_t *
content(const char *text)
{
    char *json = talloc_strdup(mem, text);
    for (char *c = json; *c != '\0'; c++)
        if (*c == '\'')
            *c = '"';
    json_t *value = json_loads(json, 0, NULL);
    if (value == NULL)
        ok(false, "the test's own JSON: %s", json);
    return jsonx_own(mem, value);
}

static json_t *
rules(json_t *list)
{
    return jsonx_own(mem, json_pack("{s:o,s:[]}", "rules", list, "data"));
}

static json_t *
rule(const char *path, const char *text, const char *version)
{
    return json_pack("{s:s,s:s,s:s}", "path", path, "content", text, "version", version);
}

static json_t *
row(const char *key, const char *payload)
{
    return json_pack("{s:s,s:s,s:s}", "dataKey", key, "payload", payload, "version", "1");
}

static json_t *
data(json_t *list)
{
    return jsonx_own(mem, json_pack("{s:[],s:o}", "rules", "data", list));
}

#define NO_RULES "\"rules\":{\"added\":[],\"removed\":[],\"changed\":[]}"
#define NO_DATA "\"data\":{\"added\":[],\"removed\":[],\"changed\":[]}"

static void
is_diff(const json_t *from, const json_t *to, const char *wanted, const char *name)
{
    json_t *diff = bundle_diff(mem, from, to);
    is_str(diff != NULL ? jsonx_dump(mem, diff) : "NULL", wanted, "%s", name);
}

static json_t *
switched(const char *path, bool enabled)
{
    return json_pack("{s:s,s:s,s:b}", "path", path, "content", "package a\n", "enabled", enabled);
}

static void
test_switches(void)
{
    const json_t *on = rules(json_pack("[o]", switched("a.rego", true))),
                 *off = rules(json_pack("[o]", switched("a.rego", false))),
                 *unsaid =
                     content("{'rules':[{'path':'a.rego','content':'package a\\n'}],'data':[]}");
    is_diff(on, off,
            "{\"rules\":{\"added\":[],\"removed\":[],\"changed\":[{\"path\":\"a.rego\",\"diff\":"
            "\"\",\"enabled\":[true,false]}]}," NO_DATA "}",
            "a rule that is switched off has changed, though its text has not");
    is_diff(unsaid, off,
            "{\"rules\":{\"added\":[],\"removed\":[],\"changed\":[{\"path\":\"a.rego\",\"diff\":"
            "\"\",\"enabled\":[true,false]}]}," NO_DATA "}",
            "a rule that does not say it is enabled");
    is_diff(unsaid, on, "{" NO_RULES "," NO_DATA "}",
            "... and does not differ from one that says so");
}

static void
test_rules(void)
{
    const json_t *none = content("{'rules':[],'data':[]}"),
                 *two = rules(json_pack("[o,o]", rule("b.rego", "package b\n", "1"),
                                        rule("a.rego", "package a\n", "1")));
    is_diff(none, none, "{" NO_RULES "," NO_DATA "}", "two empty bundles: nothing");
    is_diff(two, two, "{" NO_RULES "," NO_DATA "}", "the same bundle: nothing");
    is_diff(none, two,
            "{\"rules\":{\"added\":[\"a.rego\",\"b.rego\"],\"removed\":[],\"changed\":[]}," NO_DATA
            "}",
            "rules that only the second has are added, by path");
    is_diff(two, none,
            "{\"rules\":{\"added\":[],\"removed\":[\"a.rego\",\"b.rego\"],\"changed\":[]}," NO_DATA
            "}",
            "rules that only the first has are removed");
    is_diff(two,
            rules(json_pack("[o,o]", rule("c.rego", "package c\n", "1"),
                            rule("b.rego", "package b\n\nx := 1\n", "1"))),
            "{\"rules\":{\"added\":[\"c.rego\"],\"removed\":[\"a.rego\"],\"changed\":[{\"path\":"
            "\"b.rego\",\"diff\":\"--- a/b.rego\\n+++ b/b.rego\\n@@ -1 +1,3 @@\\n package "
            "b\\n+\\n+x := 1\\n\"}]}," NO_DATA "}",
            "added, removed and changed at once; changed with a unified diff");
    is_diff(rules(json_pack("[o]", rule("a.rego", "package a\n", "1"))),
            rules(json_pack("[o]", rule("a.rego", "package a\n", "2"))),
            "{\"rules\":{\"added\":[],\"removed\":[],\"changed\":[{\"path\":\"a.rego\",\"diff\":"
            "\"\",\"versions\":[\"1\",\"2\"]}]}," NO_DATA "}",
            "another version of the same text is a change without a diff");
}

static void
test_data(void)
{
    is_diff(data(json_pack("[o]", row("acme.x", "{\"b\":1,\"a\":[1,2]}"))),
            data(json_pack("[o]", row("acme.x", "{ \"a\": [1, 2], \"b\": 1 }"))),
            "{" NO_RULES "," NO_DATA "}", "data: blanks and the order of members say nothing");
    is_diff(data(json_pack("[o]", row("acme.x", "{\"b\":1,\"a\":[1,2]}"))),
            data(json_pack("[o,o]", row("acme.x", "{\"b\":2,\"a\":[1,2]}"), row("acme.y", "1"))),
            "{" NO_RULES ",\"data\":{\"added\":[\"acme.y\"],\"removed\":[],\"changed\":[{"
            "\"dataKey\":\"acme.x\",\"diff\":\"--- a/acme.x\\n+++ b/acme.x\\n@@ -3,5 +3,5 @@\\n    "
            " 1,\\n     2\\n   ],\\n-  \\\"b\\\": 1\\n+  \\\"b\\\": 2\\n }\\n\"}]}}",
            "data: one member to a line");
    is_diff(data(json_pack("[o]", row("k", "true"))), data(json_pack("[o]", row("k", "null"))),
            "{" NO_RULES ",\"data\":{\"added\":[],\"removed\":[],\"changed\":[{\"dataKey\":\"k\","
            "\"diff\":\"--- a/k\\n+++ b/k\\n@@ -1 +1 @@\\n-true\\n+null\\n\"}]}}",
            "data: a payload that is no object");
    is_diff(data(json_pack("[o]", row("k", "not json\n"))),
            data(json_pack("[o]", row("k", "nor this\n"))),
            "{" NO_RULES ",\"data\":{\"added\":[],\"removed\":[],\"changed\":[{\"dataKey\":\"k\","
            "\"diff\":\"--- a/k\\n+++ b/k\\n@@ -1 +1 @@\\n-not json\\n+nor this\\n\"}]}}",
            "data: a text that is no JSON is compared as it stands");
}

/* Return a text of one line with so many octets. */
static char *
long_line(char letter, size_t octets)
{
    char *text = talloc_size(mem, octets + 1);
    memset(text, letter, octets);
    text[octets - 1] = '\n';
    text[octets] = '\0';
    return text;
}

/* Room for the header and hunk lines of a one-line change of "x". */
#define FRAME (sizeof("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-+") - 1)

static void
test_octets(void)
{
    const size_t half = (BUNDLE_DIFF_OCTETS_MAX - FRAME) / 2;
    const json_t *from =
        rules(json_pack("[o,o]", rule("x", long_line('a', half), "1"), rule("y", "1\n", "1")));
    for (size_t more = 0; more < 2; more++) {
        const size_t last = BUNDLE_DIFF_OCTETS_MAX - FRAME - half + more;
        const json_t *to =
            rules(json_pack("[o,o]", rule("x", long_line('b', last), "1"), rule("y", "2\n", "1")));
        const json_t *changed =
            json_object_get(json_object_get(bundle_diff(mem, from, to), "rules"), "changed");
        const json_t *x = json_object_get(json_array_get(changed, 0), "diff"),
                     *y = json_object_get(json_array_get(changed, 1), "diff");
        is_int((int64_t) json_array_size(changed), 2, "all changed rows are named");
        ok(more == 0 ? json_string_length(x) == BUNDLE_DIFF_OCTETS_MAX : json_is_null(x),
           more == 0 ? "as many octets of diffs as one answer holds"
                     : "one more: null in its place");
        ok(more == 0 ? json_is_null(y) : json_string_length(y) > 0,
           more == 0 ? "... and the next has none" : "... and the next its own");
    }
}

int
main(void)
{
    mem = talloc_new(NULL);
    test_rules();
    test_switches();
    test_data();
    test_octets();
    talloc_free(mem);
    return done();
}
