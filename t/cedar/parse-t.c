#include "config.h"

#include "cedar/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cedar/format.h"
#include "tap.h"

/* ---- refusals: line, column, and what was expected ---- */

/* clang-format off */
static const struct {
    const char *text;
    unsigned line, column;
    const char *why; /* beginning of the text */
    const char *name;
} refused[] = {
    {"permit", 1, 7, "expected `(`, found the end of the file", "a policy without scope"},
    {"allow (principal, action, resource);", 1, 1, "expected `permit`, `forbid` or an annotation, found `allow`", "another effect"},
    {"permit (principal, action);", 1, 26, "expected `==`, `in` or `,`, found `)`", "a scope without resource"},
    {"permit (action, principal, resource);", 1, 9, "expected `principal`", "a scope in another order"},
    {"permit (principal, action, resource)", 1, 37, "expected `when`, `unless` or `;`", "no semicolon"},
    {"permit (principal == ?principal, action, resource);", 1, 22, "templates are not supported", "a template, at its slot"},
    {"permit (principal, action, resource in ?resource);", 1, 40, "templates are not supported", "a slot of the resource"},
    {"permit (principal, action, resource)\nwhen { ?principal == 1 };", 2, 8, "templates are not supported", "a slot in a condition"},
    {"permit (principal, action is A, resource);", 1, 27, "expected `==`, `in` or `,`", "`is` for the action"},
    {"permit (principal, action == User::\"a\", resource);", 1, 30, "the type of an action is `Action`", "another type than Action for the action"},
    {"permit (principal, action in [Action::\"a\", Action::B::\"b\"], resource);", 1, 44, "the type of an action is `Action`", "the same in a list of actions"},
    {"permit (principal, action, resource);// a\rpermit", 1, 49, "expected `(`", "a carriage return ends a comment"},
    {"permit (principal, action, resource);\xe2\x80\x8b", 1, 38, "this character is allowed only in strings", "a space without width (U+200B) is no blank"},
    {"permit (principal in [A::\"a\"], action, resource);", 1, 22, "expected an entity", "a set for the principal"},
    {"permit (principal == User, action, resource);", 1, 26, "expected `::`, found `,`", "a type without id"},
    {"permit (principal, action, resource) when { };", 1, 45, "expected an expression, found `}`", "an empty condition"},
    {"permit (principal, action, resource)\n\twhen { 1 ++ 2 };", 2, 12, "expected an expression, found `+`", "a doubled operator"},
    {"permit (principal, action, resource) when { 1 < 2 < 3 };", 1, 51, "comparisons do not chain", "a chain of comparisons"},
    {"permit (principal, action, resource) when { a == 1 };", 1, 45, "there is no variable `a`", "an unknown variable"},
    {"permit (principal, action, resource) when { 1 = 1 };", 1, 47, "Cedar has no assignment", "`=`"},
    {"permit (principal, action, resource) when { 4 / 2 };", 1, 47, "Cedar has no division", "`/`"},
    {"permit (principal, action, resource) when { 4 % 2 };", 1, 47, "Cedar has no remainder", "`%`"},
    {"permit (principal, action, resource) when { [1].contain(1) };", 1, 49, "there is no method `contain`; did you mean 'contains'?", "an unknown method"},
    {"permit (principal, action, resource) when { IP(\"\") };", 1, 45, "there is no function `IP`", "an unknown function"},
    {"permit (principal, action, resource) when { contains(1) };", 1, 45, "`contains` is a method", "a method as function"},
    {"permit (principal, action, resource) when { \"\".ip() };", 1, 48, "`ip` is a function", "a function as method"},
    {"permit (principal, action, resource) when { [].contains() };", 1, 48, "`contains` takes 1 argument", "too few arguments"},
    {"permit (principal, action, resource) when { {a: 1, a: 2} };", 1, 55, "the record has this member twice", "a repeated member"},
    {"permit (principal, action, resource) when { context.if };", 1, 53, "expected the name of an attribute or method; `if` is a reserved word", "a reserved word"},
    {"permit (principal, action, resource) when { true && if true then true else true };", 1, 53, "an `if` inside an operator", "a bare `if` as operand"},
    {"permit (principal, action, resource) when { if true then 1 };", 1, 60, "expected `else`", "an `if` without else"},
    {"permit (principal, action, resource) when { !!!!!true };", 1, 49, "more than 4 signs", "five signs"},
    {"permit (principal, action, resource) when { 9223372036854775808 };", 1, 45, "the number is not in the range", "2^63"},
    {"permit (principal, action, resource) when { -9223372036854775809 };", 1, 46, "the number is not in the range", "-2^63 - 1"},
    {"permit (principal, action, resource) when { -(9223372036854775808) };", 1, 47, "the number is not in the range", "2^63 in parentheses"},
    {"permit (principal, action, resource) when { -9223372036854775808.a };", 1, 46, "the number is not in the range", "-2^63 before an attribute"},
    {"permit (principal, action, resource) when { -9223372036854775808[\"a\"] };", 1, 46, "the number is not in the range", "the same in brackets"},
    {"permit (principal, action, resource) when { \"\xf0\x9f\x98\" };", 1, 46, "the text is not UTF-8", "a character that ends early"},
    {"permit\n(principal, action, resource) when { \"\xc0\x80\" };", 2, 39, "the text is not UTF-8", "U+0000 in two octets"},
    {"permit (principal, action, resource) when { \"a };", 1, 45, "the string that begins here has no end", "an open string"},
    {"permit (principal, action, resource) when { \"ab\\q\" };", 1, 48, "unknown escape", "an unknown escape"},
    {"permit (principal, action, resource) when { \"a\\\n b\" };", 1, 47, "unknown escape", "a line that ends with a backslash, which Rust would join"},
    {"permit (principal, action, resource) when { \"\\x80\" };", 1, 46, "expected two hexadecimal digits", "an octet above 7F"},
    {"permit (principal, action, resource) when { \"\\u{D800}\" };", 1, 46, "expected a character", "half a pair"},
    {"permit (principal, action, resource) when { \"\\*\" };", 1, 46, "unknown escape", "an escaped star outside a pattern"},
    {"permit (principal, action, resource) when { true } when { # };", 1, 59, "`#` has no meaning here", "a strange sign"},
    {"@a(\"\") @a(\"\") permit (principal, action, resource);", 1, 1, "the policy has an annotation twice", "a repeated annotation"},
    {"@id(\"x\") permit (principal, action, resource);\n@id(\"x\") forbid (principal, action, resource);", 2, 1, "another policy has the same id", "a repeated @id"},
    {"permit (principal, action, resource) when { \"\xc3\xa4\" 1 };", 1, 49, "expected an operator or `}`, found `1`", "columns count characters"},
    {"// \xff", 1, 4, "the text is not UTF-8", "invalid UTF-8"},
};
/* clang-format on */

static void
test_refused(void)
{
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        struct cedar_fault fault;
        const struct cedar_file *file =
            cedar_parse(NULL, refused[i].text, strlen(refused[i].text), &fault);
        bool right = file == NULL && fault.place.line == refused[i].line
                     && fault.place.column == refused[i].column
                     && strncmp(fault.text, refused[i].why, strlen(refused[i].why)) == 0;
        ok(right, "refused with line and column: %s", refused[i].name);
        if (!right)
            printf("# %u:%u: %s\n", fault.place.line, fault.place.column, fault.text);
    }
    struct cedar_fault fault;
    ok(cedar_parse(NULL, "permit\0", 7, &fault) == NULL && fault.place.column == 7,
       "refused with line and column: a NUL octet");
}

/* ---- limits ---- */

/* Parse a condition that is `open` n times, `middle`, and `close` n times. False: it is refused for
 * its nesting or its operands, with the place. */
static bool
parses_nested(const char *open, const char *middle, const char *close, size_t n)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    char *text = talloc_strdup(mem, "permit (principal, action, resource) when { ");
    struct cedar_fault fault;
    for (size_t i = 0; i < n; i++)
        text = talloc_strdup_append_buffer(text, open);
    text = talloc_strdup_append_buffer(text, middle);
    for (size_t i = 0; i < n; i++)
        text = talloc_strdup_append_buffer(text, close);
    text = talloc_strdup_append_buffer(text, " };");
    bool fine = cedar_parse(mem, text, strlen(text), &fault) != NULL;
    if (!fine
        && (fault.place.column < 45
            || (strstr(fault.text, "200 levels") == NULL
                && strstr(fault.text, "5000 operands") == NULL))) {
        printf("# refused for another reason: %u: %s\n", fault.place.column, fault.text);
        fine = true;
    }
    talloc_free(mem);
    return fine;
}

static void
test_limits(void)
{
    static const struct {
        const char *open, *middle, *close, *name;
        size_t most;
    } nested[] = {
        {"(",             "true",    ")",       "parentheses", CEDAR_NESTING_MAX    },
        {"[",             "",        "]",       "sets",        CEDAR_NESTING_MAX - 1},
        {"{a: ",          "1",       "}",       "records",     CEDAR_NESTING_MAX - 1},
        {"if true then ", "1",       " else 1", "ifs",         CEDAR_NESTING_MAX - 1},
        {"",              "context", ".a",      "attributes",  CEDAR_NESTING_MAX - 1},
        {"[1].contains(", "1",       ")",       "calls",       CEDAR_NESTING_MAX - 2},
        {"!(",            "true",    ")",       "negations",   CEDAR_NESTING_MAX - 1},
    };
    for (size_t i = 0; i < sizeof(nested) / sizeof(nested[0]); i++) {
        const char *open = nested[i].open, *middle = nested[i].middle, *close = nested[i].close;
        bool set = strcmp(nested[i].name, "sets") == 0;
        ok(parses_nested(open, middle, close, nested[i].most + set),
           "nesting of %s: taken up to the limit", nested[i].name);
        ok(!parses_nested(open, middle, close, nested[i].most + set + 1),
           "nesting of %s: refused beyond it", nested[i].name);
        ok(!parses_nested(open, middle, close, 20000), "nesting of %s: refused, however deep",
           nested[i].name);
    }
    static const char *const chains[] = {"true && ", "true || ", "1 + ", "1 - ", "1 * "};
    for (size_t i = 0; i < sizeof(chains) / sizeof(chains[0]); i++) {
        ok(parses_nested(chains[i], "1", "", CEDAR_OPERANDS_MAX - 1),
           "%s: a chain of 5,000 operands is taken, and is no nesting", chains[i]);
        ok(!parses_nested(chains[i], "1", "", CEDAR_OPERANDS_MAX),
           "%s: one operand more is refused", chains[i]);
    }
    ok(parses_nested("[1 + 1].contains(1) || ", "1", "", CEDAR_OPERANDS_MAX / 3),
       "operands of all chains of a file count: 4,999 are taken");
    ok(!parses_nested("[1 + 1].contains(1) || ", "1", "", CEDAR_OPERANDS_MAX / 3 + 1),
       "... and more are refused");

    char *longest = malloc(CEDAR_FILE_MAX + 1);
    struct cedar_fault fault;
    memset(longest, ' ', CEDAR_FILE_MAX + 1);
    TALLOC_CTX *mem = talloc_new(NULL);
    ok(cedar_parse(mem, longest, CEDAR_FILE_MAX, &fault) != NULL, "512 KiB: taken");
    ok(cedar_parse(mem, longest, CEDAR_FILE_MAX + 1, &fault) == NULL && fault.place.line == 1
           && strstr(fault.text, "octets") != NULL,
       "one octet more: refused, and why");
    talloc_free(mem);
    free(longest);
}

/* ---- ids, and canonical text ---- */

/* clang-format off */
static const struct {
    const char *text, *canonical, *name;
} printed[] = {
    {"permit(principal,action,resource);", "permit (principal, action, resource);\n", "a policy"},
    {"\xe3\x80\x80permit(principal,action\xc2\xa0==\xe2\x80\x89\x41::Action::\"b\",resource\v)\xc2\x85;// c\r//",
     "permit (principal, action == A::Action::\"b\", resource);\n", "blanks of Unicode, and an action in a namespace"},
    {"@id(\"x\")@b forbid(principal is A::B in C::\"d\",action in[Action::\"b\",],resource==R::\"\",);",
     "@id(\"x\")\n@b(\"\")\nforbid (principal is A::B in C::\"d\", action in [Action::\"b\"], resource == R::\"\");\n",
     "scope and annotations"},
    {"permit(principal,action,resource)when{1+2*3-(4-5)==-6 - -7};",
     "permit (principal, action, resource)\nwhen { 1 + 2 * 3 - (4 - 5) == -6 - -7 };\n", "arithmetic"},
    {"permit(principal,action,resource)unless{(true||false)&&!(1 in[2])};",
     "permit (principal, action, resource)\nunless { (true || false) && !(1 in [2]) };\n", "precedence"},
    {"permit(principal,action,resource)when{context has a.b&&context[\"a b\"].c like\"\\*x*\\u{1}\"};",
     "permit (principal, action, resource)\nwhen { context has a.b && context[\"a b\"].c like \"\\*x*\\u{1}\" };\n",
     "attributes and patterns"},
    {"permit(principal,action,resource)when{(if true then{a:1,\"b c\":[]}else -1).x.contains(ip(\"\\0\"))};",
     "permit (principal, action, resource)\nwhen { (if true then {a: 1, \"b c\": []} else -1).x.contains(ip(\"\\0\")) };\n",
     "records, sets and calls"},
    {"permit(principal,action,resource)when{- -9223372036854775808 + -(1) == --2};",
     "permit (principal, action, resource)\nwhen { -(-9223372036854775808) + -(1) == -(-2) };\n", "signs"},
};
/* clang-format on */

static void
test_printed(void)
{
    for (size_t i = 0; i < sizeof(printed) / sizeof(printed[0]); i++) {
        TALLOC_CTX *mem = talloc_new(NULL);
        struct cedar_fault fault;
        struct cedar_file *file =
            cedar_parse(mem, printed[i].text, strlen(printed[i].text), &fault);
        const char *text = file != NULL ? cedar_format(mem, file) : fault.text;
        is_str(text, printed[i].canonical, "canonical text: %s", printed[i].name);
        file = cedar_parse(mem, text, strlen(text), &fault);
        is_str(file != NULL ? cedar_format(mem, file) : fault.text, text,
               "canonical text is its own canonical text: %s", printed[i].name);
        talloc_free(mem);
    }
    static const char ids[] = "permit (principal, action, resource);"
                              "@id(\"own\") permit (principal, action, resource);"
                              "permit (principal, action, resource);";
    struct cedar_fault fault;
    struct cedar_file *file = cedar_parse(NULL, ids, strlen(ids), &fault);
    ok(file != NULL && cedar_text_is(file->policy[0].id, "policy0")
           && cedar_text_is(file->policy[1].id, "own")
           && cedar_text_is(file->policy[2].id, "policy2"),
       "the id is @id, or policy and the position");
    talloc_free(file);
}

int
main(void)
{
    test_refused();
    test_limits();
    test_printed();
    return done();
}
