/* Refusals of rules that exclude each other (policy.md 6.5): the rules of the save are named. */
#include "config.h"

#include "policy/rows/rule_conflict.h"

#include <string.h>

#include "tap.h"

#define DENY "custom/a.rego:3: rego_type_error: conflicting rules data.custom.issue.deny found"
#define WHY "custom.issue.deny must be a set, not another type: write deny contains VALUE"
#define SET "package custom.issue\n\ndeny contains \"x\" if input.a\n"
#define LIST "package custom.issue\n\n\ndeny := [\"x\"]\n"

/* clang-format off */
static const struct {
    struct rule_side rules[3];
    const char *message, *text, *name;
} refusals[] = {
    {{{"custom/a.rego", SET, false}, {"custom/z.rego", LIST, true}}, DENY,
     "custom/z.rego:4: " WHY "; rules of the same name: custom/a.rego:3",
     "the file of the save comes first, not the stored one that the engine names"},
    {{{"custom/a.rego", SET, true}, {"custom/z.rego", LIST, true}}, DENY,
     "custom/a.rego:3, custom/z.rego:4: " WHY, "both are new"},
    {{{"custom/a.rego", SET, false}, {"custom/b.rego", "package custom.issues\ndeny := 1\n", true},
      {"custom/z.rego", LIST, true}}, DENY,
     "custom/z.rego:4: " WHY "; rules of the same name: custom/a.rego:3",
     "a package whose name goes on is another"},
    {{{"custom/a.rego", "package custom.lib\nx := 1\n", false},
      {"custom/b.rego", "package custom.lib\nx contains 1\n", true}},
     "custom/a.rego:2: rego_type_error: conflicting rules data.custom.lib.x found",
     "custom/b.rego:2: all rules custom.lib.x must have one form; rules of the same name: custom/a.rego:2",
     "a rule that is no hook"},
    {{{"custom/a.rego", SET, false}, {"custom/z.rego", LIST, false}}, DENY, NULL,
     "no file of the save: the message of the engine stays"},
    {{{"custom/a.rego", SET, false}, {"custom/z.rego", "package custom.issue\nx := $\"{y}\"\n", true}}, DENY, NULL,
     "a text that cannot be read: the message of the engine stays"},
};
/* clang-format on */

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    plan(0);
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        size_t count = 0;
        while (count < 3 && refusals[i].rules[count].path != NULL)
            count++;
        is_str(rule_conflict_text(mem, refusals[i].rules, count, refusals[i].message),
               refusals[i].text, "conflict: %s", refusals[i].name);
    }
    ok(rule_conflict_is(DENY), "the engine's message of a conflict is known");
    ok(!rule_conflict_is("custom/a.rego:3: rego_parse_error: unexpected } token"),
       "... and another one is not");
    talloc_free(mem);
    return done();
}
