/* Values of expressions, and decisions (Cedar 4: operators, functions and authorization). */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "cedar/parse.h"
#include "cedar/read.h"
#include "cli/cedar/authorize.h"
#include "scarce.h"
#include "tap.h"

static const char entities_text[] =
    "[{\"uid\":{\"type\":\"User\",\"id\":\"alice\"},\"attrs\":{\"age\":20,\"n\":{\"m\":{\"k\":1}},"
    "\"ip\":{\"__extn\":{\"fn\":\"ip\",\"arg\":\"10.1.2.3\"}},"
    "\"boss\":{\"__entity\":{\"type\":\"User\",\"id\":\"bob\"}}},"
    "\"parents\":[{\"type\":\"Group\",\"id\":\"a\"}],\"tags\":{\"t\":\"v\"}},"
    "{\"uid\":{\"type\":\"Group\",\"id\":\"a\"},\"attrs\":{},\"parents\":[{\"type\":\"Group\","
    "\"id\":\"b\"}]},"
    "{\"uid\":{\"type\":\"Group\",\"id\":\"b\"},\"attrs\":{},\"parents\":[{\"type\":\"Group\","
    "\"id\":\"a\"},"
    "{\"type\":\"Group\",\"id\":\"unknown\"}]}]";
static const char request_text[] =
    "{\"principal\":{\"type\":\"User\",\"id\":\"alice\"},\"action\":\"Action::\\\"view\\\"\","
    "\"resource\":{\"type\":\"Doc\",\"id\":\"1\"},\"context\":{\"s\":\"a\\u0000b\",\"e\":[]}}";

/* clang-format off */
/* Outcomes of conditions. */
static const struct {
    const char *condition;
    char wanted; /* t, f, or e for an error */
} rules[] = {
  /* lazy operators: every operand that is evaluated is a Bool */
    {"false && 1 == context.x",                                                             'f'},
    {"false && 1",                                                                          'f'},
    {"true && 1",                                                                           'e'},
    {"1 && true",                                                                           'e'},
    {"true || context.x",                                                                   't'},
    {"true || 1",                                                                           't'},
    {"false || 1",                                                                          'e'},
    {"context.x || true",                                                                   'e'},
    {"true && true && false && context.x",                                                  'f'},
    {"false || true || context.x",                                                          't'},
    {"if true then true else context.x",                                                    't'},
    {"if false then context.x else true",                                                   't'},
    {"if 1 then true else true",                                                            'e'},
    {"if true then 1 else true",                                                            'e'},
    {"1",                                                                                   'e'},
    {"!1",                                                                                  'e'},
    {"!!true",                                                                              't'},
 /* equality of any two values */
    {"1 == true",                                                                           'f'},
    {"1 != \"1\"",                                                                          't'},
    {"[1, 2, 2] == [2, 1]",                                                                 't'},
    {"[] == {}",                                                                            'f'},
    {"{a: 1, b: [2]} == {b: [2], a: 1}",                                                    't'},
    {"{a: 1} == {a: 1, b: 1}",                                                              'f'},
    {"User::\"alice\" == principal",                                                        't'},
    {"User::\"alice\" == Group::\"alice\"",                                                 'f'},
    {"context.s == \"a\\0b\"",                                                              't'},
    {"context.s == \"a\"",                                                                  'f'},
    {"{} == context.x",                                                                     'e'},
 /* order, and arithmetic of 64 bits */
    {"1 < 2",                                                                               't'},
    {"2 <= 1",                                                                              'f'},
    {"2 > 1 && 1 >= 1",                                                                     't'},
    {"1 < true",                                                                            'e'},
    {"\"a\" < \"b\"",                                                                       'e'},
    {"decimal(\"1.0\") < decimal(\"2.0\")",                                                 'e'},
    {"9223372036854775807 + 1 == 0",                                                        'e'},
    {"9223372036854775806 + 1 > 0",                                                         't'},
    {"-9223372036854775808 - 1 == 0",                                                       'e'},
    {"-(-9223372036854775808) == 0",                                                        'e'},
    {"4294967296 * 2147483648 == 0",                                                        'e'},
    {"4294967296 * -2147483648 < 0",                                                        't'},
    {"3037000500 * 3037000500 > 0",                                                         'e'},
    {"9223372036854775807 + 1 - 1 > 0",                                                     'e'},
    {"1 + true == 0",                                                                       'e'},
    {"10 - 2 - 3 == 5",                                                                     't'},
    {"2 + 3 * 4 == 14",                                                                     't'},
 /* in and is */
    {"principal in Group::\"b\"",                                                           't'},
    {"principal in Group::\"unknown\"",                                                     't'},
    {"principal in Group::\"c\"",                                                           'f'},
    {"Nobody::\"x\" in Nobody::\"x\"",                                                      't'},
    {"Nobody::\"x\" in Group::\"a\"",                                                       'f'},
    {"principal in [Group::\"c\", Group::\"b\"]",                                           't'},
    {"principal in []",                                                                     'f'},
    {"principal in [Group::\"a\", 1]",                                                      'e'},
    {"1 in Group::\"a\"",                                                                   'e'},
    {"principal in 1",                                                                      'e'},
    {"Group::\"a\" in principal",                                                           'f'},
    {"principal is User",                                                                   't'},
    {"principal is A::User",                                                                'f'},
    {"1 is User",                                                                           'e'},
    {"principal is User in Group::\"a\"",                                                   't'},
    {"principal is Doc in context.x",                                                       'f'},
    {"principal is User in 1",                                                              'e'},
 /* attributes and tags */
    {"principal.age == 20",                                                                 't'},
    {"principal.x == 1",                                                                    'e'},
    {"Nobody::\"x\".y == 1",                                                                'e'},
    {"principal.boss == User::\"bob\"",                                                     't'},
    {"principal.boss.age == 1",                                                             'e'},
    {"principal has age",                                                                   't'},
    {"principal has \"a b\"",                                                               'f'},
    {"Nobody::\"x\" has y",                                                                 'f'},
    {"1 has y",                                                                             'e'},
    {"principal has n.m.k",                                                                 't'},
    {"principal has n.x.k",                                                                 'f'},
    {"principal has age.x",                                                                 'e'},
    {"principal has x.y && true",                                                           'f'},
    {"\"s\".x == 1",                                                                        'e'},
    {"{\"a b\": 1}[\"a b\"] == 1",                                                          't'},
    {"principal.hasTag(\"t\")",                                                             't'},
    {"principal.getTag(\"t\") == \"v\"",                                                    't'},
    {"principal.hasTag(\"u\")",                                                             'f'},
    {"principal.getTag(\"u\") == 1",                                                        'e'},
    {"Nobody::\"x\".hasTag(\"t\")",                                                         'f'},
    {"Nobody::\"x\".getTag(\"t\") == 1",                                                    'e'},
    {"principal.hasTag(1)",                                                                 'e'},
    {"context.hasTag(\"t\")",                                                               'e'},
 /* sets */
    {"[1, \"a\"].contains(\"a\")",                                                          't'},
    {"[1].contains([1])",                                                                   'f'},
    {"1.contains(1)",                                                                       'e'},
    {"[1, 2].containsAll([2, 2])",                                                          't'},
    {"[1].containsAll([1, 2])",                                                             'f'},
    {"[1].containsAll(1)",                                                                  'e'},
    {"[].containsAll([])",                                                                  't'},
    {"[1, 2].containsAny([3, 2])",                                                          't'},
    {"[1].containsAny([])",                                                                 'f'},
    {"context.e.isEmpty()",                                                                 't'},
    {"[[]].isEmpty()",                                                                      'f'},
    {"context.isEmpty()",                                                                   'e'},
 /* like */
    {"\"abc\" like \"a*c\"",                                                                't'},
    {"\"abc\" like \"b*\"",                                                                 'f'},
    {"\"\" like \"*\"",                                                                     't'},
    {"\"a*c\" like \"a\\*c\"",                                                              't'},
    {"\"abc\" like \"a\\*c\"",                                                              'f'},
    {"\"aXbXc\" like \"a*b*c\"",                                                            't'},
    {"\"ab\" like \"ab*b\"",                                                                'f'},
    {"\"a\\nb\" like \"a*b\"",                                                              't'},
    {"1 like \"*\"",                                                                        'e'},
    {"\"aab\" like \"*ab\"",                                                                't'},
    {"\"abab\" like \"*aba*bab\"",                                                          'f'},
    {"\"x.y\" like \"x?y\"",                                                                'f'},
 /* ip */
    {"ip(\"10.0.0.1\") == ip(\"10.0.0.1/32\")",                                             't'},
    {"ip(\"10.0.0.1/8\") == ip(\"10.0.0.2/8\")",                                            'f'},
    {"ip(\"::1\") == ip(\"0:0::1\")",                                                       't'},
    {"principal.ip.isInRange(ip(\"10.0.0.0/8\"))",                                          't'},
    {"ip(\"10.0.0.0/8\").isInRange(ip(\"10.0.0.0/9\"))",                                    'f'},
    {"ip(\"::\").isInRange(ip(\"0.0.0.0/0\"))",                                             'f'},
    {"ip(\"127.1.2.3\").isLoopback()",                                                      't'},
    {"ip(\"::1\").isLoopback()",                                                            't'},
    {"ip(\"::2\").isLoopback()",                                                            'f'},
    {"ip(\"126.0.0.0/7\").isLoopback()",                                                    'f'},
    {"ip(\"224.0.0.1\").isMulticast()",                                                     't'},
    {"ip(\"ff02::1\").isMulticast()",                                                       't'},
    {"ip(\"1.2.3.4\").isIpv4()",                                                            't'},
    {"ip(\"::\").isIpv6()",                                                                 't'},
    {"ip(\"10.0.0.01\").isIpv4()",                                                          'e'},
    {"ip(\"10.0.0.0/33\").isIpv4()",                                                        'e'},
    {"ip(\"10.0.0.0/08\").isIpv4()",                                                        'e'},
    {"ip(\"::ffff:1.2.3.4\").isIpv6()",                                                     'e'},
    {"ip(\"\").isIpv6()",                                                                   'e'},
    {"ip(\"10.0.0.1\\0\").isIpv4()",                                                        'e'},
    {"ip(1).isIpv4()",                                                                      'e'},
    {"ip(\"::1\", \"::1\").isIpv6()",                                                       'e'},
    {"1.isIpv4()",                                                                          'e'},
    {"ip(\"1.2.3.4\").isInRange(ip(\"1.2.3.4\"), ip(\"1.2.3.4\"))",                         'e'},
 /* decimal */
    {"decimal(\"1.5\") == decimal(\"1.5000\")",                                             't'},
    {"decimal(\"-0.5\").lessThan(decimal(\"0.0\"))",                                        't'},
    {"decimal(\"922337203685477.5807\").greaterThan(decimal(\"-922337203685477.5808\"))",   't'},
    {"decimal(\"922337203685477.5808\") == 1",                                              'e'},
    {"decimal(\"1.23456\") == 1",                                                           'e'},
    {"decimal(\"1\") == 1",                                                                 'e'},
    {"decimal(\".5\") == 1",                                                                'e'},
    {"decimal(\"1.\") == 1",                                                                'e'},
    {"decimal(\"1.0\").lessThanOrEqual(1)",                                                 'e'},
    {"decimal(\"1.0\").greaterThanOrEqual(decimal(\"1.0\"))",                               't'},
 /* datetime and duration */
    {"datetime(\"1970-01-01\").durationSince(datetime(\"1970-01-02\")).toDays() == -1",     't'},
    {"datetime(\"2024-02-29T23:59:59.999Z\") < datetime(\"2024-03-01\")",                   't'},
    {"datetime(\"2024-10-15T11:35:00+0200\") == datetime(\"2024-10-15T09:35:00Z\")",        't'},
    {"datetime(\"0000-01-01\") < datetime(\"9999-12-31T23:59:59Z\")",                       't'},
    {"datetime(\"1969-12-31T01:00:00Z\").toDate() == datetime(\"1969-12-31\")",             't'},
    {"datetime(\"1969-12-31T01:00:00Z\").toTime() == duration(\"1h\")",                     't'},
    {"datetime(\"2023-02-29\") == 1",                                                       'e'},
    {"datetime(\"2024-1-1\") == 1",                                                         'e'},
    {"datetime(\"2024-01-01T24:00:00Z\") == 1",                                             'e'},
    {"datetime(\"2024-01-01T00:00:60Z\") == 1",                                             'e'},
    {"datetime(\"2024-01-01T00:00:00\") == 1",                                              'e'},
    {"datetime(\"2024-01-01T00:00:00.1Z\") == 1",                                           'e'},
    {"datetime(\"2024-01-01T00:00:00+2400\") == 1",                                         'e'},
    {"datetime(\"2024-01-01\").offset(duration(\"1d\")) == datetime(\"2024-01-02\")",       't'},
    {"datetime(\"2024-01-01\").offset(duration(\"9223372036854775807ms\")) == 1",           'e'},
    {"datetime(\"1970-01-01\").offset(duration(\"-9223372036854775808ms\")).toDate() == 1", 'e'},
    {"duration(\"1d2h3m4s5ms\").toMilliseconds() == 93784005",                              't'},
    {"duration(\"-90m\").toHours() == -1",                                                  't'},
    {"duration(\"1m1ms\").toSeconds() == 60",                                               't'},
    {"duration(\"61s\").toMinutes() == 1",                                                  't'},
    {"duration(\"1s\") < duration(\"1001ms\")",                                             't'},
    {"duration(\"1s\") < datetime(\"2024-01-01\")",                                         'e'},
    {"duration(\"\") == 1",                                                                 'e'},
    {"duration(\"-\") == 1",                                                                'e'},
    {"duration(\"1h1d\") == 1",                                                             'e'},
    {"duration(\"1\") == 1",                                                                'e'},
    {"duration(\"1s1s\") == 1",                                                             'e'},
    {"duration(\"106751991168d\") == 1",                                                    'e'},
    {"duration(\"9223372036854775808ms\") == 1",                                            'e'},
    {"duration(\"-9223372036854775808ms\") < duration(\"0s\")",                             't'},
    {"datetime(\"2024-01-01\") == duration(\"1704067200000ms\")",                           'f'},
};
/* clang-format on */

/* The world of the tests. */
struct world {
    TALLOC_CTX *mem;
    struct cedar_entities entities;
    struct cedar_request request;
};

static bool
make_world(struct world *world)
{
    struct cedar_reader reader = {.mem = world->mem};
    struct cedar_json entities, request;
    struct cedar_fault fault;
    return cedar_json_parse(world->mem, entities_text, strlen(entities_text), &entities, &fault)
           && cedar_json_parse(world->mem, request_text, strlen(request_text), &request, &fault)
           && cedar_read_entities(&reader, &entities, &world->entities)
           && cedar_read_request(&reader, &request, &world->request);
}

/* Decide by these policies; "allow [policy0] []" on world->mem. */
static const char *
decide(const struct world *world, const char *text)
{
    struct cedar_fault fault;
    struct cedar_answer answer;
    const struct cedar_file *file = cedar_parse(world->mem, text, strlen(text), &fault);
    if (file == NULL)
        return talloc_asprintf(world->mem, "%u:%u: %s", fault.place.line, fault.place.column,
                               fault.text);
    if (!cedar_authorize(world->mem, file, &world->entities, &world->request, &answer))
        return "no memory";
    char *line = talloc_strdup(world->mem, answer.allow ? "allow" : "deny");
    const struct cedar_ids *lists[] = {&answer.reason, &answer.errors};
    for (int i = 0; i < 2; i++) {
        line = talloc_strdup_append(line, " [");
        for (size_t j = 0; j < lists[i]->count; j++)
            line = talloc_asprintf_append(line, "%s%.*s", j > 0 ? " " : "",
                                          (int) lists[i]->id[j].length, lists[i]->id[j].at);
        line = talloc_strdup_append(line, "]");
    }
    return line;
}

static void
test_rules(const struct world *world)
{
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        const char *wanted = rules[i].wanted == 't'   ? "allow [policy0] []"
                             : rules[i].wanted == 'f' ? "deny [] []"
                                                      : "deny [] [policy0]";
        const char *text = talloc_asprintf(
            world->mem, "permit (principal, action, resource) when { %s };", rules[i].condition);
        is_str(decide(world, text), wanted, "%s: %s", rules[i].condition,
               rules[i].wanted == 't'   ? "true"
               : rules[i].wanted == 'f' ? "false"
                                        : "an error");
    }
}

static void
test_policies(const struct world *world)
{
    is_str(decide(world, ""), "deny [] []", "no policy: deny");
    is_str(
        decide(world, "permit (principal, action, resource);forbid (principal, action, resource);"),
        "deny [policy1] []", "a satisfied forbid overrides permits");
    is_str(decide(world, "permit (principal, action, resource);@id(\"f\")forbid (principal, "
                         "action, resource) when { 1 };"),
           "allow [policy0] [f]", "a forbid whose evaluation errors has no effect, and is listed");
    is_str(
        decide(world, "permit (principal == User::\"bob\", action, resource) when { context.x };"),
        "deny [] []", "a condition is not evaluated if the scope does not match");
    is_str(
        decide(
            world,
            "permit (principal in Group::\"b\", action in [Action::\"view\"], resource is Doc);"),
        "allow [policy0] []", "scope by group, list and type");
    is_str(decide(world,
                  "permit (principal, action, resource) when { true } unless { true } when { 1 };"),
           "deny [] []", "conditions are evaluated in order, up to the first that fails");
    is_str(decide(world, "permit (principal, action, resource) unless { 1 };"), "deny [] [policy0]",
           "unless needs a Bool, too");
}

/* ---- memory ---- */

/* Octets of the largest limit that is tried. */
#define MEMORY_TRIED 8192

struct scarce_world {
    const struct world *world;
    const struct cedar_file *file;
};

/* A policy without memory must not count as a policy that errors: a forbid would be skipped. */
static enum scarce_outcome
authorize_once(TALLOC_CTX *mem, void *arg)
{
    const struct scarce_world *scarce = arg;
    struct cedar_answer answer;
    if (!cedar_authorize(mem, scarce->file, &scarce->world->entities, &scarce->world->request,
                         &answer))
        return SCARCE_FAILED;
    return answer.allow || answer.errors.count > 0 ? SCARCE_WRONG : SCARCE_WHOLE;
}

static void
test_memory(const struct world *world)
{
    static const char text[] =
        "permit (principal, action, resource);\n"
        "forbid (principal, action, resource) when { [1, {a: [2 + 1]}].contains({a: [3]}) };";
    struct cedar_fault fault;
    struct scarce_world scarce = {world, cedar_parse(world->mem, text, strlen(text), &fault)};
    struct scarce_count count = scarce_talloc(authorize_once, &scarce, MEMORY_TRIED, 16);
    scarce_is_seen(&count, "a decision without memory");
}

/* ---- JSON ---- */

/* clang-format off */
static const struct {
    const char *text, *why;
} bad_entities[] = {
    {"{}",                                                                              "entities are a list"                                                        },
    {"[{}]",                                                                            "an entity is an object with the strings `type` and `id`"                    },
    {"[{\"uid\":{\"type\":\"A\\\"\",\"id\":\"\"}}]",                                    "the type of an entity is a name as A::B"                                    },
    {"[{\"uid\":{\"type\":\"A\",\"id\":\"\"},\"attrs\":{\"a\":null}}]",                 "Cedar has no null"                                                          },
    {"[{\"uid\":{\"type\":\"A\",\"id\":\"\"},\"attrs\":{\"a\":1.5}}]",
     "a number is a Long, a whole number of 64 bits"                                                                                                                 },
    {"[{\"uid\":{\"type\":\"A\",\"id\":\"\"},\"attrs\":{\"a\":9223372036854775808}}]",
     "a number is a Long, a whole number of 64 bits"                                                                                                                 },
    {"[{\"uid\":{\"type\":\"A\",\"id\":\"\"},\"attrs\":{\"a\":1,\"a\":1}}]",
     "a record has a member twice"                                                                                                                                   },
    {"[{\"uid\":{\"type\":\"A\",\"id\":\"\"}},{\"uid\":{\"type\":\"A\",\"id\":\"\"}}]",
     "an entity is there twice"                                                                                                                                      },
    {"[{\"uid\":{\"type\":\"A\",\"id\":\"\"},\"attrs\":{\"a\":{\"__extn\":{\"fn\":\"ip\",\"arg\":"
     "\"x\"}}}}]",                                                                                  "`ip` has no value for its argument x"                                                                                                                                                    },
    {"[{\"uid\":{\"type\":\"A\",\"id\":\"\"},\"attrs\":{\"a\":{\"__extn\":{\"fn\":\"x\",\"arg\":"
     "\"x\"}}}}]",                                                                                 "`__extn` is an object with `fn`, the name of a function of Cedar, and `arg`"          },
    {"[{\"uid\":{\"type\":\"A\",\"id\":\"\"},\"attrs\":{\"a\":{\"__expr\":\"1\"}}}]",
     "`__expr` is no longer a part of Cedar"},
    {"[{\"uid\":{\"type\":\"A\",\"id\":\"\"},\"parents\":{}}]",                                           "`parents` is a list"                                                                                                                                 },
};
/* clang-format on */

static const char *const bad_json[] = {
    "",         "[",   "[1,]", "{\"a\"}", "{\"a\":1,}",  "01",        "-",
    "1.",       "1e",  "\"",   "\"\\x\"", "\"\\ud800\"", "\"\\u12\"", "\"\x01\"",
    "\"\xff\"", "nul", "1 2",  "[1}",     "'a'",
};

static void
test_json(TALLOC_CTX *mem)
{
    struct cedar_json json;
    struct cedar_fault fault;
    for (size_t i = 0; i < sizeof(bad_entities) / sizeof(bad_entities[0]); i++) {
        struct cedar_reader reader = {.mem = mem};
        struct cedar_entities entities;
        bool fine =
            cedar_json_parse(mem, bad_entities[i].text, strlen(bad_entities[i].text), &json, &fault)
            && cedar_read_entities(&reader, &json, &entities);
        is_str(fine ? "taken" : reader.why, bad_entities[i].why, "entities refused: %s",
               bad_entities[i].why);
    }
    for (size_t i = 0; i < sizeof(bad_json) / sizeof(bad_json[0]); i++)
        ok(!cedar_json_parse(mem, bad_json[i], strlen(bad_json[i]), &json, &fault),
           "refused as JSON: number %zu of the list", i);
    char deep[2 * CEDAR_NESTING_MAX + 3];
    for (size_t more = 0; more < 2; more++) {
        size_t n = CEDAR_NESTING_MAX + more;
        memset(deep, '[', n);
        memset(deep + n, ']', n);
        ok(cedar_json_parse(mem, deep, 2 * n, &json, &fault) == (more == 0), "JSON of %zu levels",
           n);
    }
}

int
main(void)
{
    struct world world = {.mem = talloc_new(NULL)};
    ok(make_world(&world), "entities and request are read");
    test_rules(&world);
    test_policies(&world);
    test_memory(&world);
    test_json(world.mem);
    talloc_free(world.mem);
    return done();
}
