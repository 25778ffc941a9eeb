/* Rego generated from Cedar. That it decides as Cedar does is tested by t/cli/cedar.t, with OPA. */
#include "config.h"

#include "cedar/rego.h"

#include <string.h>

#include "cedar/parse.h"
#include "cedar/rego_term.h"
#include "scarce.h"
#include "tap.h"

/* Compile policies; the text, or the refusal. */
static const char *
compile(TALLOC_CTX *mem, const char *text)
{
    struct cedar_fault fault;
    const struct cedar_file *file = cedar_parse(mem, text, strlen(text), &fault);
    const char *rego = file != NULL ? cedar_rego(mem, file, "p.q", &fault) : NULL;
    return rego != NULL ? rego
                        : talloc_asprintf(mem, "%u:%u: %s", fault.place.line, fault.place.column,
                                          fault.text);
}

/* clang-format off */
/* Rules of the condition of line 1, after its comment. */
static const struct {
    const char *condition, *rules, *name;
} compiled[] = {
    {"context.a && 1 < 2",
     "x3 := rt.bool(rt.attr(input.cedar.context,\"a\"))\nx2 := false if x3 == false\n"
     "x2 := x4 if x3 == true\nx4 := rt.before(1,2)\nx1 := x2\n",
     "&& goes on only after true, and an operand is a Bool"},
    {"!context.a || true",
     "x3 := rt.neg(rt.attr(input.cedar.context,\"a\"))\nx2 := true if x3 == true\n"
     "x2 := x4 if x3 == false\nx4 := true\nx1 := x2\n",
     "|| goes on only after false; negation is no `not`"},
    {"if context.a then 1 else context.b",
     "x2 := rt.attr(input.cedar.context,\"a\")\nx3 := 1 if rt.bool(x2) == true\n"
     "x3 := rt.attr(input.cedar.context,\"b\") if rt.bool(x2) == false\nx1 := rt.bool(x3)\n",
     "a branch is evaluated only if it is taken"},
    {"principal is A in B::\"\\\"\"",
     "x2 := input.cedar.principal\nx3 := rt.is(x2,\"A\")\nx4 := false if x3 == false\n"
     "x4 := rt.in_(x2,{\"__entity\":{\"id\":\"\\\"\",\"type\":\"B\"}}) if x3 == true\nx1 := x4\n",
     "`is ... in` looks upwards only for the type; a quote cannot end a string"},
    {"[] == [1, 1]", "x1 := rt.same([],sort({1,1}))\n", "sets are sorted arrays"},
    {"1 - 2 + 3 >= -4 * 5",
     "x1 := rt.not_after(rt.product_of(-4,5),rt.sum_of(rt.difference(1,2),3))\n",
     "arithmetic goes from the left; >= is <= exchanged"},
    {"context.a like \"\\0.*\\*\"",
     "x1 := rt.like(rt.attr(input.cedar.context,\"a\"),\"(?s)\\\\A\\u0000\\\\..*\\\\*\\\\z\")\n",
     "signs of a pattern mean themselves"},
    {"\"a\xef\xbb\xbf\" == \"\xef\xbb\xbe\"", "x1 := rt.same(\"a\\ufeff\",\"\xef\xbb\xbe\")\n",
     "a byte order mark, which OPA takes nowhere, is an escape"},
    {"ip(\"10.0.0.1/8\") != decimal(\"-0.1\")",
     "x1 := rt.neg(rt.same({\"__extn\":{\"fn\":\"ip\",\"v\":\"40a000001/008\",\"vhi\":\"40affffff\",\"vlo\":\"40a000000\"}},"
     "{\"__extn\":{\"fn\":\"decimal\",\"v\":-1000}}))\n",
     "constructors of literals become values"},
    {"ip(\"x\") == ip(\"x\", \"y\")", "x1 := rt.same(rt.error,rt.error)\n", "a constructor without value is an error"},
};

static const struct {
    const char *condition, *why, *name;
} uncompiled[] = {
    {"{__entity: 1} == 1", "1:56: a record with the member `__entity`", "a record that would look like an entity"},
    {"context == {a: {__extn: 1}}", "1:69: a record with the member `__extn`", "a record that would look like an extension value"},
};
/* clang-format on */

static void
test_rules(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(compiled) / sizeof(compiled[0]); i++) {
        const char *text =
            compile(mem, talloc_asprintf(mem, "permit (principal, action, resource) when { %s };",
                                         compiled[i].condition));
        const char *rules = strstr(text, "\n# line 1\n");
        char *wanted =
            talloc_asprintf(mem,
                            "%spermits contains \"policy0\" if x1 == true\nd1 if is_boolean(x1)\n"
                            "errors contains \"policy0\" if not d1\n",
                            compiled[i].rules);
        is_str(rules != NULL ? rules + strlen("\n# line 1\n") : text, wanted, "%s",
               compiled[i].name);
    }
    for (size_t i = 0; i < sizeof(uncompiled) / sizeof(uncompiled[0]); i++) {
        const char *text =
            compile(mem, talloc_asprintf(mem, "permit (principal, action, resource) when { %s };",
                                         uncompiled[i].condition));
        ok(strncmp(text, uncompiled[i].why, strlen(uncompiled[i].why)) == 0,
           "refused with line and column: %s (%s)", uncompiled[i].name, text);
    }
}

static void
test_module(TALLOC_CTX *mem)
{
    static const char text[] = "permit (principal, action, resource);\n\n@id(\"a\")\nforbid "
                               "(principal, action, resource);";
    static const char wanted[] =
        "# Generated from Cedar.\npackage p.q\n\nimport data.svc.cedar.rt\n\n"
        "result := {\"permits\": permits, \"forbids\": forbids, \"errors\": errors}\n"
        "permits contains id if some id in []\nforbids contains id if some id in []\n"
        "errors contains id if some id in []\nforbidding := {\"a\"}\n"
        "\n# line 1\nx1 := true\npermits contains \"policy0\" if x1 == true\nd1 if is_boolean(x1)\n"
        "errors contains \"policy0\" if not d1\n"
        "\n# line 3\nx2 := true\nforbids contains \"a\" if x2 == true\nd2 if is_boolean(x2)\n"
        "errors contains \"a\" if not d2\n";
    is_str(compile(mem, text), wanted, "a module has the line of each policy in a comment");
    is_str(compile(mem, text), compile(mem, text), "the same policies give the same module");
}

/* Compile one policy with an id of this many octets, which stands in its Rego twice. */
static const char *
compile_long(TALLOC_CTX *mem, size_t octets, size_t *ret_length)
{
    static const char text[] = "permit (principal, action, resource);";
    struct cedar_fault fault;
    struct cedar_file *file = cedar_parse(mem, text, strlen(text), &fault);
    char *id = talloc_array(mem, char, octets + 1);
    if (file == NULL || id == NULL)
        return "no policy";
    memset(id, 'a', octets);
    id[octets] = '\0';
    file->policy[0].id = (struct cedar_text){id, octets};
    const char *rego = cedar_rego(mem, file, "p.q", &fault);
    *ret_length = rego != NULL ? strlen(rego) : 0;
    return rego != NULL ? "" : talloc_strdup(mem, fault.text);
}

static void
test_limit(void)
{
    size_t base = 0, length = 0;
    TALLOC_CTX *mem = talloc_new(NULL);
    compile_long(mem, 0, &base);
    size_t most = (CEDAR_REGO_MAX - base) / 2;
    is_str(compile_long(mem, most, &length), "", "limit: as much Rego as is made");
    ok(CEDAR_REGO_MAX - length < 2, "... to the octet");
    talloc_free(mem);
    mem = talloc_new(NULL);
    is_str(compile_long(mem, most + 1, &length), "the policies become too much Rego",
           "... and more is refused, which is said");
    talloc_free(mem);
}

struct module {
    const struct cedar_file *file;
    const char *text; /* its Rego */
};

/* The whole module, or the fault that says why there is none. */
static enum scarce_outcome
compile_once(TALLOC_CTX *mem, void *arg)
{
    const struct module *module = arg;
    struct cedar_fault fault;
    const char *rego = cedar_rego(mem, module->file, "p.q", &fault);
    if (rego != NULL)
        return strcmp(rego, module->text) == 0 ? SCARCE_WHOLE : SCARCE_WRONG;
    return strcmp(fault.text, "out of memory") == 0 ? SCARCE_FAILED : SCARCE_WRONG;
}

static void
test_memory(TALLOC_CTX *mem)
{
    static const char text[] = "permit (principal, action, resource) when { context.a && 1 < 2 };\n"
                               "forbid (principal, action, resource);";
    struct cedar_fault fault;
    struct module module = {cedar_parse(mem, text, strlen(text), &fault), compile(mem, text)};
    struct scarce_count count = scarce_talloc(compile_once, &module, 16384, 32);
    scarce_is_seen(&count, "a module without memory is refused for that reason");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    test_module(mem);
    test_rules(mem);
    test_memory(mem);
    test_limit();
    talloc_free(mem);
    return done();
}
