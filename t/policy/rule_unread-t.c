/* Rules that nothing reads, by the words of the texts (policy.md 6.5). */
#include "config.h"

#include "policy/rows/rule_unread.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "env.h"
#include "policy/rows/rego_rules.h"
#include "tap.h"

/* ---- the rules of a text */

/* clang-format off */

/* Line and name of each rule. */
static const struct {
    const char *content, *rules, *name;
} texts[] = {
    {"package a\n\ndeny contains \"x\" if input.a\n", "3 deny", "one"},
    {"package a\nx := 1\ny := 2", "2 x, 3 y", "two"},
    {"package a\n    x := 1\n\ty if x", "2 x, 3 y", "indented ones"},
    {"package a\ndefault x := false\nx if input.a\n", "2 x, 3 x", "a default"},
    {"package a\nimport rego.v1\nimport data.b as c\nx := c\n", "4 x", "behind imports"},
    {"package a\nx if {\n  y == 1\n  some z in y\n}\n", "2 x", "a body in brackets"},
    {"package a\nx if\n  input.a\ny := 1", "2 x, 4 y", "a body in the next line"},
    {"package a\nx := 1 +\n  y\nz := 1", "2 x, 4 z", "an expression that goes on"},
    {"package a\nx := 1 if {\n true } else := 2 if {\n true }\nelse := 3\ny := 1", "2 x, 6 y", "else"},
    {"package a\nx if input.a\n  with input as {}\ny := 1", "2 x, 4 y", "with"},
    {"package a\n# deny := 1\nx := \"\ndeny := 2\"\n", "3 x", "no comment and no string"},
    {"package a\nx := `\ny := 1\n`\nz := 1", "2 x, 5 z", "no raw string"},
    {"package a\nf(x) := x\nf([\n y]) := 2\nclaims.tenant := 1\nclaims[\"a\"] := 2",
     "2 f, 3 f, 5 claims, 6 claims", "functions and members"},
    {"package a\nx contains y if\n  some y in\n  z\nlast := 1", "2 x, 5 last", "a word that needs another"},
    {"package a\nx := $\"{y}\"\n", NULL, "a template string: not known"},
    {"", "", "nothing"},
};
/* clang-format on */

static void
test_rules(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct rego_rule *rule = NULL;
        size_t count = 0;
        bool known = rego_rules_find(mem, texts[i].content, &rule, &count);
        char *found = talloc_strdup(mem, "");
        for (size_t j = 0; j < count; j++)
            found = talloc_asprintf_append(found, "%s%u %s", j > 0 ? ", " : "", rule[j].line,
                                           rule[j].name);
        is_str(known ? found : NULL, texts[i].rules, "rules of a text: %s", texts[i].name);
    }
}

/* ---- what nothing reads */

/* clang-format off */
#define HELP "custom/lib.rego", "package custom.lib\nlist := {1}\n"
#define PACKAGES                                                                                   \
    "custom.issue, custom.introspect, custom.register, custom.authzen, custom.gateway, custom.admin"

static const struct {
    const char *rules[5]; /* path and text, twice */
    const char *fault, *note, *name;
} cases[] = {
    {{"custom/a.rego", "package custom.issue\ndeny contains \"x\" if ok\nok if input.a\n"}, NULL, NULL, "a hook with its helper"},
    {{"custom/a.rego", "package custom.isue\n\ndeny contains \"x\" if input.a\n"},
     "custom/a.rego: nothing reads the package custom.isue; did you mean 'custom.issue'?", NULL, "a package with a slip"},
    {{"custom/a.rego", "package custom.issue\n\ndany contains \"x\" if input.a\n"},
     "custom/a.rego:3: nothing reads custom.issue.dany; did you mean 'deny'?", NULL, "a hook with a slip"},
    {{"custom/a.rego", "package custom.issue\nforbid contains \"x\" if input.a\n"},
     "custom/a.rego:2: nothing reads custom.issue.forbid; the service reads deny, block_scopes, obligations, extensions, claims, opaque in this package",
     NULL, "a hook with another name"},
    {{"custom/a.rego", "package custom.register\nallow if input.a\n"},
     "custom/a.rego:2: nothing reads custom.register.allow; the service reads deny in this package", NULL, "a hook of another package"},
    {{"custom/a.rego", "package custom.register\nallow if input.a\nallow if input.b\n"},
     "custom/a.rego:2: nothing reads custom.register.allow; the service reads deny in this package", NULL, "two of them: named once"},
    {{"custom/a.rego", "package custom.issue\ndeny contains \"x\" if data.custom.lib.list[1]\n", HELP}, NULL, NULL, "a package that another reads"},
    {{"custom/a.rego", "package custom.issue\nimport data.custom.lib as l\ndeny contains \"x\" if l.list[1]\n", HELP}, NULL, NULL, "... by an import"},
    {{"custom/a.rego", "package custom.issue\ndeny contains \"x\" if data[\"custom\"][\"lib\"].list\n", HELP}, NULL, NULL, "... in brackets"},
    {{"custom/a.rego", "package custom.issue\ndeny contains \"x\" if data.custom[input.a].list\n", HELP}, NULL, NULL, "... by a name of the input"},
    {{"custom/a.rego", "package custom.issue\ndeny contains \"x\" if data.custom.lip.list[1]\n", HELP},
     "custom/lib.rego: nothing reads the package custom.lib; rules that decide are in the packages " PACKAGES, NULL, "a package that another misses"},
    {{"custom/a.rego", "package custom.issue\n# data.custom.lib\ndeny contains \"data.custom.lib\"\n", HELP},
     "custom/lib.rego: nothing reads the package custom.lib; rules that decide are in the packages " PACKAGES, NULL, "comments and strings are no use"},
    {{"custom/lib.rego", "package custom.lib\nx := data.custom.lib.y\ny := 1\n"},
     "custom/lib.rego: nothing reads the package custom.lib; rules that decide are in the packages " PACKAGES, NULL, "a package that reads itself"},
    {{"acme/a.rego", "package acme.rules\ndeny contains \"x\" if input.a\n"},
     NULL, "acme/a.rego: nothing in the service reads the package acme.rules; rules that decide are in the packages " PACKAGES,
     "a package elsewhere: others may ask the engine for it"},
    {{"acme/a.rego", "package costum.issue\ndeny contains \"x\" if input.a\n"},
     "acme/a.rego: nothing reads the package costum.issue; did you mean 'custom.issue'?", NULL, "a package elsewhere with a slip"},
    {{"custom/a.rego", "package custom.issue\nnone(x) := none(x)\n"},
     "custom/a.rego:2: nothing reads custom.issue.none; the service reads deny, block_scopes, obligations, extensions, claims, opaque in this package",
     NULL, "a rule that only itself uses"},
    {{"custom/a.rego", "package custom.issue\nok if input.a\n", "custom/b.rego", "package custom.issue\ndeny contains \"x\" if not ok\n"},
     NULL, NULL, "a helper in another file of the package"},
    {{"custom/a.rego", "package custom.issue\ndeny contains $\"{ok}\" if input.a\nok if input.a\n"}, NULL, NULL, "a text that is not read: nothing is said"},
    {{"custom/a.rego", "deny := 1\n"}, NULL, NULL, "without a package: the engine refuses it"},
};
/* clang-format on */

static void
test_unread(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct rule_text rules[2];
        size_t count = 0;
        for (size_t j = 0; cases[i].rules[2 * j] != NULL; j++)
            rules[count++] = (struct rule_text){cases[i].rules[2 * j], cases[i].rules[2 * j + 1]};
        json_t *faults = jsonx_own(mem, json_array()), *notes = jsonx_own(mem, json_array());
        ok(rule_unread_find(mem, rules, count, faults, notes), "unread: %s", cases[i].name);
        is_str(json_string_value(json_array_get(faults, 0)), cases[i].fault, "... the fault");
        is_str(json_string_value(json_array_get(notes, 0)), cases[i].note, "... the note");
        ok(json_array_size(faults) <= 1 && json_array_size(notes) <= 1, "... once");
    }
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    plan(0);
    test_rules(mem);
    test_unread(mem);
    talloc_free(mem);
    return done();
}
