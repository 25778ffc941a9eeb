/* Cedar rules as modules of the bundle (policy/rows/cedar_rule.h,
 * policy/save/bundle/bundle_modules.h; decisions.md "Cedar rules"), and requests of Cedar as inputs
 * (policy/rows/cedar_trial.h). */
#include "config.h"

#include "policy/rows/cedar_rule.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "policy/rows/cedar_trial.h"
#include "policy/rows/rule.h"
#include "policy/save/bundle/bundle_conflicts.h"
#include "tap.h"

static TALLOC_CTX *mem;

static const char source[] = "permit (principal, action, resource)\nwhen { context.a && true };\n\n"
                             "forbid (principal, action, resource);\n";

/* Compile a rule that has an error in no case. */
static struct cedar_modules
modules_of(const char *path, const char *content)
{
    struct cedar_modules modules;
    struct cedar_fault fault;
    ok(cedar_rule_compile(mem, path, content, &modules, &fault) == AZ_OK, "%s compiles", path);
    return modules;
}

static const char *
module_of(const char *path, const char *content)
{
    return modules_of(path, content).module[0].text;
}

static const char *
package_of(const char *text)
{
    const char *package = NULL;
    return rule_package(mem, text, &package) == RULE_PACKAGE_NAMED ? package : "none";
}

static void
test_names(void)
{
    is_str(cedar_rule_digits(mem, "acme/a.cedar"), "7790d7bcda33ca84",
           "the first 16 hex digits of the SHA-256 of the path name a module");
    const struct cedar_modules modules = modules_of("acme/a.cedar", source);
    const char *module = modules.module[0].text;
    is_int((int64_t) modules.count, 1, "a short rule is one module");
    is_str(modules.module[0].file, "cedar/7790d7bcda33ca84.rego", "its file");
    ok(rule_path_fault(modules.module[0].file) == NULL, "... is a path of a bundle");
    is_str(package_of(module), "svc.cedar.policies.r7790d7bcda33ca84",
           "its package has the same digits");
    is_str(module_of("acme/a.cedar", source), module, "the same rule is the same module");
    ok(strcmp(module_of("acme/b.cedar", source), module) != 0, "that of another path is another");
    ok(strstr(module, "\npath := \"acme/a.cedar\"\n") != NULL, "the module names its rule");
    ok(strstr(module_of("a\"b := 1\xc3\xa4.cedar", source),
              "\npath := \"a\\\"b := 1\xc3\xa4.cedar\"\n")
           != NULL,
       "a path cannot end its string");
}

/* Return a text of so many policies, one to a line. */
static const char *
policies(size_t count)
{
    char *text = talloc_strdup(mem, "");
    for (size_t i = 0; i < count; i++)
        text = talloc_strdup_append_buffer(text, "permit (principal, action, resource);\n");
    return text;
}

/* Check that the first module unites each rule of a part but those of single policies (x1, d1) and
 * `result`: a set that is missing would be one without the policies of all parts. */
static void
check_united(const char *first, const char *package, const char *part)
{
    size_t seen = 0;
    for (const char *line = part; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        size_t length = strspn(line, "abcdefghijklmnopqrstuvwxyz");
        if (length < 2 || strncmp(line, "result", length) == 0
            || (strncmp(line + length, " :=", 3) != 0
                && strncmp(line + length, " contains", 9) != 0))
            continue;
        seen++;
        if (strstr(first, talloc_asprintf(mem, "\n%.*s contains id if some id in data.%s.%.*s\n",
                                          (int) length, line, package, (int) length, line))
            == NULL)
            ok(false, "%.*s of %s is not united", (int) length, line, package);
    }
    ok(seen >= 4, "... whose sets the first module unites, all of them");
}

static void
test_parts(void)
{
    is_int((int64_t) modules_of("a.cedar", "").count, 1, "a rule without policies is one module");
    is_int((int64_t) modules_of("a.cedar", policies(CEDAR_RULE_PART_MAX)).count, 1,
           "as many policies as a package takes are one module");
    const struct cedar_modules parts = modules_of("a.cedar", policies(2 * CEDAR_RULE_PART_MAX + 1));
    const char *digits = cedar_rule_digits(mem, "a.cedar"), *first = parts.module[0].text;
    is_int((int64_t) parts.count, 4, "more are three modules behind the first one");
    is_str(package_of(first), talloc_asprintf(mem, "svc.cedar.policies.r%s", digits),
           "the first one has the package of the rule");
    ok(strstr(first, "\npath := \"a.cedar\"\n") != NULL && strstr(first, "# line ") == NULL,
       "... and its path, and no policy");
    for (size_t i = 1; i < parts.count; i++) {
        const char *package = talloc_asprintf(mem, "svc.cedar.parts.r%s.p%zu", digits, i),
                   *text = parts.module[i].text;
        is_str(package_of(text), package, "part %zu has a package of its own", i);
        is_str(parts.module[i].file, talloc_asprintf(mem, "cedar/%s-%zu.rego", digits, i),
               "... and a file");
        check_united(first, package, text);
        ok(strstr(text, talloc_asprintf(mem, "\n# line %zu\n", (i - 1) * CEDAR_RULE_PART_MAX + 1))
                   != NULL
               && strstr(text, talloc_asprintf(mem, "\"policy%zu\"", (i - 1) * CEDAR_RULE_PART_MAX))
                      != NULL,
           "... lines and numbers of policies go on");
    }
    ok(strstr(first, ".p4.") == NULL, "there are no more parts");
}

static void
test_refusals(void)
{
    struct cedar_fault fault;
    struct cedar_modules modules;
    ok(cedar_rule_compile(mem, "a.cedar", "permit (\n  user", &modules, &fault) == AZ_INVALID
           && modules.count == 0,
       "a text with an error has no module");
    is_str(cedar_rule_fault_text(mem, "a.cedar", &fault),
           "a.cedar:2:3: expected `principal`, found `user`", "the fault has line and column");
    const char *mimic =
        talloc_asprintf(mem, "%s\npermit (principal, action, resource) when { {__extn: 1} == 1 };",
                        policies(CEDAR_RULE_PART_MAX));
    ok(cedar_rule_compile(mem, "a.cedar", mimic, &modules, &fault) == AZ_INVALID
           && fault.place.line == CEDAR_RULE_PART_MAX + 2,
       "what cannot be compiled exactly is refused, in the last part too");
    char *large = talloc_zero_size(mem, CEDAR_FILE_MAX + 2);
    memset(large, ' ', CEDAR_FILE_MAX);
    ok(cedar_rule_compile(mem, "a.cedar", large, &modules, &fault) == AZ_OK, "512 KiB are taken");
    large[CEDAR_FILE_MAX] = ' ';
    ok(cedar_rule_compile(mem, "a.cedar", large, &modules, &fault) == AZ_INVALID,
       "one octet more is refused");
}

/* Return the number of the line of a module that begins with a text. */
static size_t
line_with(const char *module, const char *text)
{
    const char *at = strstr(module, text);
    size_t line = 1;
    for (const char *c = module; c < at; c++)
        line += *c == '\n';
    return line;
}

static void
test_lines(void)
{
    const char *module = module_of("acme/a.cedar", source);
    is_int(cedar_rule_line(module, 0), 0, "line 0 is none");
    is_int(cedar_rule_line(module, 1), 0, "the head of a module belongs to no policy");
    is_int(cedar_rule_line(module, line_with(module, "# line 1\n") - 1), 0, "nor what is above");
    is_int(cedar_rule_line(module, line_with(module, "# line 1\n")), 1, "the comment itself");
    is_int(cedar_rule_line(module, line_with(module, "permits contains \"")), 1,
           "the last rule of the first policy");
    is_int(cedar_rule_line(module, line_with(module, "forbids contains \"")), 4, "the second one");
    is_int(cedar_rule_line(module, 100000), 4, "a line behind the end is the last policy's");
    is_int(
        cedar_rule_line(module_of("a.cedar", "@id(\"\\n# line 7\\n\")\npermit (principal, action, "
                                             "resource);"),
                        100000),
        1, "an id with a line break is no comment");
}

static void
test_blame(void)
{
    const char *file = modules_of("acme/a.cedar", source).module[0].file,
               *text = module_of("acme/a.cedar", source);
    struct bundle_module module[] = {
        {"a.rego", "package a\n", "a.rego",       false},
        {file,     text,          "acme/a.cedar", true },
    };
    const struct bundle_modules modules = {module, 2};
    size_t row = line_with(text, "forbids contains \"");
    is_str(bundle_modules_blame(
               mem, &modules,
               talloc_asprintf(mem, "%s:%zu: rego_type_error: undefined function", file, row)),
           "acme/a.cedar:4: rego_type_error: undefined function",
           "an error in a module is one at the line of the policy");
    is_str(bundle_modules_blame(mem, &modules, talloc_asprintf(mem, "%s:1: x", file)),
           "acme/a.cedar:1: x", "... at the first line if it is in the head");
    static const char *const others[] = {"a.rego:3: x",
                                         "cedar/7790d7bcda33ca84.rego",
                                         "cedar/7790d7bcda33ca84.rego.rego:3: x",
                                         "x cedar/7790d7bcda33ca84.rego:3: x",
                                         "cedar/0000000000000000.rego:3: x",
                                         ""};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        is_str(bundle_modules_blame(mem, &modules, others[i]), others[i],
               "another message stays: %s", others[i]);
}

/* Check a Rego rule of a path and two Cedar rules, the second with this file and package. */
static enum az_status
conflicts(const char *path, const char *file, const char *package, struct op *op)
{
    const char *names[] = {"a/a.cedar", "a/b.cedar", path};
    struct bundle_module module[] = {
        {"cedar/1.rego", "package svc.cedar.policies.r1\n", names[0], true },
        {file,           package,                           names[1], true },
        {path,           "package a\n",                     path,     false},
    };
    const struct bundle_rows rows = {.rules = 3, .rule_path = names};
    const struct bundle_modules modules = {module, 3};
    *op = (struct op){.mem = mem};
    return bundle_check_conflicts(op, &rows, &modules);
}

static void
test_conflicts(void)
{
    static const char other[] = "package svc.cedar.policies.r2\n";
    struct op op;
    ok(conflicts("c.rego", "cedar/2.rego", other, &op) == AZ_OK, "two modules beside a rule");
    ok(conflicts("c.rego", "cedar/2.rego", "package svc.cedar.policies.r1\n", &op) == AZ_CONFLICT,
       "two paths with one package are refused");
    is_str(op.fault.public_text, "The path a/b.cedar overlaps the package of a/a.cedar",
           "... by their names");
    ok(conflicts("cedar/2.rego", "cedar/2.rego", other, &op) == AZ_CONFLICT,
       "a rule at the file of a module is refused");
    ok(conflicts("cedar/2.rego/c.rego", "cedar/2.rego", other, &op) == AZ_CONFLICT,
       "... and one below it");
}

/* clang-format off */
static const struct {
    const char *request, *input, *name;
} trials[] = {
    {"{\"principal\":\"A::\\\"1\\\"\",\"action\":{\"type\":\"B\",\"id\":\"2\"},\"resource\":{\"__entity\":{\"type\":\"C\",\"id\":\"3\"}}}",
     "{\"cedar\":{\"principal\":{\"__entity\":{\"id\":\"1\",\"type\":\"A\"}},\"action\":{\"__entity\":{\"id\":\"2\",\"type\":\"B\"}},"
     "\"resource\":{\"__entity\":{\"id\":\"3\",\"type\":\"C\"}},\"context\":{},\"entities\":{}}}",
     "entities in their three forms"},
    {"{\"principal\":\"A::\\\"1\\\"\",\"action\":\"A::\\\"1\\\"\",\"resource\":\"A::\\\"1\\\"\",\"context\":{\"s\":[2,1,2]},"
     "\"entities\":[{\"uid\":{\"type\":\"A\",\"id\":\"1\"},\"attrs\":{\"x\":true},\"parents\":[{\"type\":\"G\",\"id\":\"g\"}]}]}",
     "{\"cedar\":{\"principal\":{\"__entity\":{\"id\":\"1\",\"type\":\"A\"}},\"action\":{\"__entity\":{\"id\":\"1\",\"type\":\"A\"}},"
     "\"resource\":{\"__entity\":{\"id\":\"1\",\"type\":\"A\"}},\"context\":{\"s\":[1,2]},"
     "\"entities\":{\"A::\\\"1\":{\"attrs\":{\"x\":true},\"tags\":{},\"anc\":{\"G::\\\"g\":true}}}}}",
     "sets are sorted, entities have their ancestors"},
    {"{}", NULL, "an empty object"},
    {"{\"principal\":1,\"action\":\"A::\\\"1\\\"\",\"resource\":\"A::\\\"1\\\"\"}", NULL, "a principal that is a number"},
    {"{\"principal\":\"A\",\"action\":\"A::\\\"1\\\"\",\"resource\":\"A::\\\"1\\\"\"}", NULL, "a type alone"},
    {"{\"principal\":\"A::\\\"1\\\"\",\"action\":\"A::\\\"1\\\"\",\"resource\":\"A::\\\"1\\\"\",\"context\":null}", NULL, "a context of null"},
    {"{\"principal\":\"A::\\\"1\\\"\",\"action\":\"A::\\\"1\\\"\",\"resource\":\"A::\\\"1\\\"\",\"contexts\":{}}", NULL, "a misspelt member"},
    {"{\"principal\":\"A::\\\"1\\\"\",\"action\":\"A::\\\"1\\\"\",\"resource\":\"A::\\\"1\\\"\",\"context\":{\"a\":1.5}}", NULL, "a fraction"},
    {"{\"principal\":\"A::\\\"1\\\"\",\"action\":\"A::\\\"1\\\"\",\"resource\":\"A::\\\"\\\\0\\\"\"}", NULL, "a NUL in a name"},
};
/* clang-format on */

static void
test_trials(void)
{
    for (size_t i = 0; i < sizeof(trials) / sizeof(trials[0]); i++) {
        const char *why = NULL;
        json_t *input = NULL, *request = jsonx_own(mem, json_loads(trials[i].request, 0, NULL));
        enum az_status st = cedar_trial_input(mem, request, &input, &why);
        if (trials[i].input != NULL)
            is_str(st == AZ_OK ? jsonx_dump(mem, input) : why, trials[i].input, "request: %s",
                   trials[i].name);
        else
            ok(st == AZ_INVALID && strncmp(why, "is no request of Cedar: ", 24) == 0
                   && why[24] != 0,
               "request refused: %s", trials[i].name);
    }
}

int
main(void)
{
    mem = talloc_new(NULL);
    test_names();
    test_parts();
    test_refusals();
    test_lines();
    test_blame();
    test_conflicts();
    test_trials();
    talloc_free(mem);
    return done();
}
