/* The machine: bounds, conflicts, and plans that nobody should have written. conformance.t has what
 * plans mean. */
#include "config.h"

#include "rego/machine.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "rego/builtin/builtin.h"
#include "tap.h"

#define OCTETS_MAX (4 << 20)

static TALLOC_CTX *mem;

/* The frame of a plan with one function and one entrypoint; the statements of the function's only
 * block, and those of the entrypoint's, stand between. */
#define PLAN_BEGIN                                                                                 \
    "{\"static\":{\"strings\":[{\"value\":\"result\"},{\"value\":\"x\"},{\"value\":\"1.5\"},"      \
    "{\"value\":\"g0\"}],"                                                                         \
    "\"files\":[{\"value\":\"rule.rego\"}]},\"funcs\":{\"funcs\":[{\"name\":\"f\",\"params\":[0,"  \
    "1],\"return\":2,\"blocks\":[{\"stmts\":["
#define PLAN_MIDDLE "]}]}]},\"plans\":{\"plans\":[{\"name\":\"p\",\"blocks\":[{\"stmts\":["
#define PLAN_END "]}]}]}}"
#define STATEMENT(TYPE, REST) "{\"type\":\"" TYPE "\",\"stmt\":{\"file\":0,\"row\":7" REST "}}"
#define LOCAL(N) "{\"type\":\"local\",\"value\":" #N "}"
#define TEXT(N) "{\"type\":\"string_index\",\"value\":" #N "}"
#define CALL_F                                                                                     \
    STATEMENT("CallStmt", ",\"func\":\"f\",\"args\":[" LOCAL(0) "," LOCAL(1) "],\"result\":2")
#define MAKE(TYPE, N) STATEMENT(TYPE, ",\"target\":" #N)
#define INTEGER(VALUE, N) STATEMENT("MakeNumberIntStmt", ",\"value\":" #VALUE ",\"target\":" #N)
#define RETURN(N) STATEMENT("ReturnLocalStmt", ",\"source\":" #N)
/* Give the value of local 2 as the result. */
#define GIVE                                                                                       \
    MAKE("MakeObjectStmt", 3)                                                                      \
    "," STATEMENT("ObjectInsertStmt", ",\"key\":" TEXT(0) ",\"value\":" LOCAL(                     \
                                          2) ",\"object\":3") "," STATEMENT("ResultSetAddStmt",    \
                                                                            ",\"value\":3")

/* clang-format off */
static const struct {
    const char *name;
    const char *function;   /* statements */
    const char *entrypoint; /* statements */
    enum rego_outcome outcome;
    const char *why; /* a part of it */
} cases[] = {
    {"a value that is returned and called for", INTEGER(5, 2) "," RETURN(2), CALL_F "," GIVE, REGO_DONE, ""},
    {"two values of one rule are a conflict, with the place", INTEGER(5, 3) "," INTEGER(6, 4) ","
        STATEMENT("AssignVarOnceStmt", ",\"source\":" LOCAL(3) ",\"target\":2") ","
        STATEMENT("AssignVarOnceStmt", ",\"source\":" LOCAL(4) ",\"target\":2") "," RETURN(2),
     CALL_F "," GIVE, REGO_CONFLICT, "rule.rego:7: complete rules"},
    {"two values of one key are left to OPA", MAKE("MakeObjectStmt", 2) "," INTEGER(5, 3) "," INTEGER(6, 4) ","
        STATEMENT("ObjectInsertOnceStmt", ",\"key\":" TEXT(1) ",\"value\":" LOCAL(3) ",\"object\":2") ","
        STATEMENT("ObjectInsertOnceStmt", ",\"key\":" TEXT(1) ",\"value\":" LOCAL(4) ",\"object\":2") "," RETURN(2),
     CALL_F "," GIVE, REGO_GIVE_UP, "object keys are not unique"},
    {"the same value of one key twice is none", MAKE("MakeObjectStmt", 2) "," INTEGER(5, 3) ","
        STATEMENT("ObjectInsertOnceStmt", ",\"key\":" TEXT(1) ",\"value\":" LOCAL(3) ",\"object\":2") ","
        STATEMENT("ObjectInsertOnceStmt", ",\"key\":" TEXT(1) ",\"value\":" LOCAL(3) ",\"object\":2") "," RETURN(2),
     CALL_F "," GIVE, REGO_DONE, ""},
    {"the data is not written to", STATEMENT("ObjectInsertStmt", ",\"key\":" TEXT(1) ",\"value\":" TEXT(1) ",\"object\":1"),
     CALL_F, REGO_CONFLICT, "did not make"},
    {"nor is the input", STATEMENT("SetAddStmt", ",\"value\":" TEXT(1) ",\"set\":0"), CALL_F, REGO_CONFLICT, "did not make"},
    {"a function that calls itself ends", CALL_F "," RETURN(2), CALL_F "," GIVE, REGO_EXCEEDED, "nested more than"},
    {"a builtin that is missing is left to OPA", STATEMENT("CallStmt", ",\"func\":\"http.send\",\"args\":[" LOCAL(0) "],\"result\":2"),
     CALL_F "," GIVE, REGO_GIVE_UP, "http.send is not built in"},
    {"so is a builtin with other arguments", STATEMENT("CallStmt", ",\"func\":\"count\",\"args\":[" LOCAL(0) "," LOCAL(1) "],\"result\":2"),
     CALL_F "," GIVE, REGO_GIVE_UP, "count is not built in"},
    {"arithmetic with fractions is left to OPA", STATEMENT("MakeNumberRefStmt", ",\"Index\":2,\"target\":3") ","
        STATEMENT("CallStmt", ",\"func\":\"plus\",\"args\":[" LOCAL(3) "," LOCAL(3) "],\"result\":2") "," RETURN(2),
     CALL_F "," GIVE, REGO_GIVE_UP, "no 64-bit integer"},
    {"a sum beyond 64 bits is left to OPA", INTEGER(9223372036854775807, 3) "," INTEGER(1, 4) ","
        STATEMENT("CallStmt", ",\"func\":\"plus\",\"args\":[" LOCAL(3) "," LOCAL(4) "],\"result\":2") "," RETURN(2),
     CALL_F "," GIVE, REGO_GIVE_UP, "no 64-bit integer"},
};

static const struct {
    const char *name;
    const char *function;
    const char *why;
} refused[] = {
    {"a statement of a kind that is unknown", STATEMENT("JumpStmt", ""), "JumpStmt is unknown"},
    {"a statement without a place", "{\"type\":\"NopStmt\",\"stmt\":{}}", "file is no number"},
    {"an operand of an unknown type", STATEMENT("IsArrayStmt", ",\"source\":{\"type\":\"word\",\"value\":1}"), "unknown type"},
    {"a constant past the table", STATEMENT("IsArrayStmt", ",\"source\":" TEXT(4)), "value is no number from 0 to 3"},
    {"a local below zero", RETURN(-1), "source is no number"},
    {"a call without the function's arguments", STATEMENT("CallStmt", ",\"func\":\"f\",\"args\":[],\"result\":2"), "too few arguments"},
    {"a number that is none", STATEMENT("MakeNumberRefStmt", ",\"Index\":1,\"target\":3"), "cannot be read"},
    {"a path of with past the table", STATEMENT("WithStmt", ",\"local\":0,\"path\":[9],\"value\":" LOCAL(1) ",\"block\":{\"stmts\":[]}"), "names no string"},
    {"a scan without a block", STATEMENT("ScanStmt", ",\"source\":0,\"key\":3,\"value\":4"), "has no block"},
    {"a break of a negative depth", STATEMENT("BreakStmt", ",\"index\":-1"), "index is no number"},
};
/* clang-format on */

static const struct rego_plan *
read_text(struct rego_arena *arena, const char *function, const char *entrypoint, const char **why)
{
    char *text =
        talloc_asprintf(mem, PLAN_BEGIN "%s" PLAN_MIDDLE "%s" PLAN_END, function, entrypoint);
    return rego_plan_read(arena, text, strlen(text), why);
}

static enum rego_outcome
run_plan(struct rego_arena *arena, const struct rego_plan *plan, const struct rego_bounds *bounds,
         const struct rego_value **value, char why[REGO_WHY_SIZE])
{
    const char document[] = "{\"a\":[1,2,3]}";
    const struct rego_value *both = rego_parse(arena, document, sizeof(document) - 1);
    const struct rego_question question = {
        .plan = plan, .entrypoint = rego_plan_entrypoint(plan, "p"), .input = both, .data = both};
    return rego_evaluate(arena, &question, bounds, value, why);
}

static void
test_cases(void)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct rego_arena arena;
        struct rego_bounds bounds = {.statements = 100000, .octets = OCTETS_MAX};
        const struct rego_value *value = NULL;
        const char *refusal;
        char why[REGO_WHY_SIZE] = "";
        rego_arena_init(&arena, mem, OCTETS_MAX);
        const struct rego_plan *plan =
            read_text(&arena, cases[i].function, cases[i].entrypoint, &refusal);
        if (!ok(plan != NULL, "machine: the plan is read: %s", cases[i].name)) {
            printf("# %s\n", refusal);
            continue;
        }
        enum rego_outcome outcome = run_plan(&arena, plan, &bounds, &value, why);
        is_int(outcome, cases[i].outcome, "machine: %s", cases[i].name);
        if (!ok(strstr(why, cases[i].why) != NULL, "machine: ... and says so"))
            printf("# %s\n", why);
        ok((value != NULL) == (outcome == REGO_DONE), "machine: ... and gives a value only then");
    }
}

static void
test_refusals(void)
{
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        struct rego_arena arena;
        const char *why;
        rego_arena_init(&arena, mem, OCTETS_MAX);
        const struct rego_plan *plan = read_text(&arena, refused[i].function, "", &why);
        if (!ok(plan == NULL && strstr(why, refused[i].why) != NULL, "plan: refuses %s",
                refused[i].name))
            printf("# %s\n", why);
    }
    struct rego_arena arena;
    const char *why;
    rego_arena_init(&arena, mem, 100);
    ok(read_text(&arena, "", "", &why) == NULL && strstr(why, "more memory") != NULL,
       "plan: refuses a plan that does not fit into its memory");
}

/* A loop over three items within one over three, and so on: 3 to the power of 12 rounds. */
static const struct rego_plan *
read_loops(struct rego_arena *arena)
{
    char *text = talloc_strdup(mem, STATEMENT("NopStmt", ""));
    const char *why;
    for (int i = 0; i < 12; i++)
        text = talloc_asprintf(mem,
                               STATEMENT("ScanStmt", ",\"source\":5,\"key\":%d,\"value\":%d,"
                                                     "\"block\":{\"stmts\":[%s]}"),
                               10 + 2 * i, 11 + 2 * i, text);
    text = talloc_asprintf(mem, MAKE("MakeSetStmt", 5) ",%s,%s,%s,%s",
                           STATEMENT("SetAddStmt", ",\"value\":" TEXT(0) ",\"set\":5"),
                           STATEMENT("SetAddStmt", ",\"value\":" TEXT(1) ",\"set\":5"),
                           STATEMENT("SetAddStmt", ",\"value\":" TEXT(2) ",\"set\":5"), text);
    return read_text(arena, text, CALL_F, &why);
}

static void
test_bounds(void)
{
    struct rego_arena arena;
    const struct rego_value *value;
    char why[REGO_WHY_SIZE];
    rego_arena_init(&arena, mem, OCTETS_MAX);
    const struct rego_plan *plan = read_loops(&arena);
    ok(plan != NULL, "bounds: a plan of nested loops is read");
    struct rego_bounds bounds = {.statements = 1000000, .octets = OCTETS_MAX};
    is_int(run_plan(&arena, plan, &bounds, &value, why), REGO_DONE, "bounds: it ends by itself");
    bounds.statements = 1000;
    is_int(run_plan(&arena, plan, &bounds, &value, why), REGO_EXCEEDED,
           "bounds: statements are counted");
    bounds.statements = 1000000;
    bounds.deadline_us = clock_monotonic_us() - 1;
    is_int(run_plan(&arena, plan, &bounds, &value, why), REGO_EXCEEDED,
           "bounds: the clock is looked at");
    ok(strstr(why, "too long") != NULL, "bounds: ... and named");
}

/* Return a block statement around others, so many times. */
static char *
in_blocks(unsigned count, char *text)
{
    for (unsigned i = 0; i < count; i++)
        text = talloc_asprintf(mem, STATEMENT("BlockStmt", ",\"blocks\":[{\"stmts\":[%s]}]"), text);
    return text;
}

/* Return a plan whose entrypoint calls a function, which calls the next one from within its blocks.
 * The last one has its own number of blocks. */
static char *
nested_plan(unsigned functions, unsigned blocks, unsigned last)
{
    char *text = talloc_strdup(mem, "{\"static\":{\"strings\":[],\"files\":[{\"value\":\"rule."
                                    "rego\"}]},\"funcs\":{\"funcs\":[");
    for (unsigned i = 0; i < functions; i++) {
        char *inner =
            i + 1 < functions
                ? talloc_asprintf(mem,
                                  STATEMENT("CallStmt", ",\"func\":\"f%u\",\"args\":[" LOCAL(
                                                            0) "," LOCAL(1) "],\"result\":2"),
                                  i + 1)
                : talloc_strdup(mem, INTEGER(5, 2));
        text = talloc_asprintf(
            mem,
            "%s%s{\"name\":\"f%u\",\"params\":[0,1],\"return\":2,\"blocks\":[{\"stmts\":[%s]},"
            "{\"stmts\":[" RETURN(2) "]}]}",
            text, i > 0 ? "," : "", i, in_blocks((i + 1 < functions ? blocks : last) - 1, inner));
    }
    return talloc_asprintf(
        mem, "%s]},\"plans\":{\"plans\":[{\"name\":\"p\",\"blocks\":[{\"stmts\":[%s]}]}]}}", text,
        STATEMENT("CallStmt",
                  ",\"func\":\"f0\",\"args\":[" LOCAL(0) "," LOCAL(1) "],\"result\":2"));
}

/* Run functions of 100 blocks, each within the one before, the last of which has `last`. */
static enum rego_outcome
run_nested(unsigned last, char why[REGO_WHY_SIZE])
{
    struct rego_arena arena;
    struct rego_bounds bounds = {.statements = 100000, .octets = 16 * OCTETS_MAX};
    const struct rego_value *value;
    const char *refusal = "";
    char *text = nested_plan(REGO_NESTING_MAX / 100, 100, last);
    rego_arena_init(&arena, mem, 16 * OCTETS_MAX);
    const struct rego_plan *plan = rego_plan_read(&arena, text, strlen(text), &refusal);
    if (!ok(plan != NULL, "bounds: a plan of nested calls and blocks is read"))
        printf("# %s\n", refusal);
    return plan != NULL ? run_plan(&arena, plan, &bounds, &value, why) : REGO_GIVE_UP;
}

static void
test_nesting(void)
{
    char why[REGO_WHY_SIZE] = "";
    is_int(run_nested(99, why), REGO_DONE, "bounds: blocks of calls and blocks are 4,000 deep");
    is_int(run_nested(100, why), REGO_EXCEEDED, "bounds: ... one more ends the evaluation");
    ok(strstr(why, "nested more than 4000 deep") != NULL, "bounds: ... and the reason says so");
}

static void
test_locals(void)
{
    struct rego_arena arena;
    struct rego_bounds bounds = {.statements = 1000, .octets = OCTETS_MAX};
    const struct rego_value *value;
    char why[REGO_WHY_SIZE] = "";
    rego_arena_init(&arena, mem, OCTETS_MAX);
    struct rego_function wide = {.name = "wide", .locals = REGO_LOCALS_MAX};
    const struct rego_plan plan = {.function = &wide};
    const struct rego_question question = {.plan = &plan, .entrypoint = &wide};
    is_int(rego_evaluate(&arena, &question, &bounds, &value, why), REGO_DONE,
           "bounds: an entrypoint has 65,536 locals");
    wide.locals++;
    is_int(rego_evaluate(&arena, &question, &bounds, &value, why), REGO_EXCEEDED,
           "bounds: ... not one more");
    ok(strstr(why, "65536 locals") != NULL, "bounds: ... and the reason names locals, not memory");
}

static void
test_steps(void)
{
    struct rego_machine machine = {.bounds = {.deadline_us = clock_monotonic_us() - 1}};
    ok(rego_spend(&machine, REGO_CLOCK_STEPS - 1), "bounds: a builtin takes steps before a look");
    ok(!rego_spend(&machine, 1) && machine.outcome == REGO_EXCEEDED,
       "bounds: ... and one more ends an evaluation that takes too long");
    machine = (struct rego_machine){.bounds = {.deadline_us = clock_monotonic_us() + 60000000}};
    ok(rego_spend(&machine, 10 * (uint64_t) REGO_CLOCK_STEPS), "bounds: ... but not one in time");
    machine = (struct rego_machine){.bounds = {.steps = 3 * (uint64_t) REGO_CLOCK_STEPS}};
    ok(rego_spend(&machine, 2 * (uint64_t) REGO_CLOCK_STEPS)
           && rego_spend(&machine, REGO_CLOCK_STEPS),
       "bounds: builtins take as many steps as they may, whatever the clock says");
    ok(!rego_spend(&machine, 1) && machine.outcome == REGO_EXCEEDED, "bounds: ... not one more");
}

/* Call a builtin with two arguments, which are JSON texts. */
static enum rego_outcome
call_builtin(const char *name, const char *first, const char *second)
{
    struct rego_arena arena;
    rego_arena_init(&arena, mem, OCTETS_MAX);
    struct rego_machine machine = {.arena = &arena};
    const struct rego_value *const args[] = {rego_parse(&arena, first, strlen(first)),
                                             rego_parse(&arena, second, strlen(second))};
    if (args[0] != NULL && args[1] != NULL)
        rego_builtin_find(name)->run(&machine, args);
    return machine.outcome;
}

/* Return a text that has another one so many times before and behind its middle. */
static const char *
nest(unsigned count, const char *before, const char *middle, const char *behind)
{
    char *text = talloc_strdup(mem, middle);
    for (unsigned i = 0; i < count; i++)
        text = talloc_asprintf(mem, "%s%s%s", before, text, behind);
    return text;
}

static void
test_limits(void)
{
    is_int(call_builtin("json.match_schema", "[]", nest(31, "{\"items\":", "{}", "}")), REGO_DONE,
           "json.match_schema: a schema is 32 deep");
    is_int(call_builtin("json.match_schema", "[]", nest(32, "{\"items\":", "{}", "}")),
           REGO_GIVE_UP, "json.match_schema: ... a deeper one is left to OPA");
    is_int(call_builtin("json.match_schema", "[9007199254740992]",
                        "{\"items\":{\"enum\":[9007199254740992]}}"),
           REGO_DONE, "json.match_schema: binary64 holds 2^53");
    is_int(call_builtin("json.match_schema", "[9007199254740993]",
                        "{\"items\":{\"enum\":[9007199254740992]}}"),
           REGO_GIVE_UP, "json.match_schema: ... a number beyond is left to OPA");
    is_int(call_builtin("json.match_schema", "[1]", "{\"items\":{\"enum\":[9007199254740993,1]}}"),
           REGO_GIVE_UP, "json.match_schema: ... in the schema too");
    is_int(call_builtin("to_number", nest(1, "\"", nest(299, "1", "1", ""), "\""), "0"), REGO_DONE,
           "to_number: a number has 300 octets");
    is_int(call_builtin("to_number", nest(1, "\"", nest(300, "1", "1", ""), "\""), "0"),
           REGO_GIVE_UP, "to_number: ... a longer one is left to OPA");
}

static void
test_table(void)
{
    const struct rego_builtin *row, *before = NULL;
    size_t count = 0;
    for (; (row = rego_builtin_at(count)) != NULL; count++) {
        if (rego_builtin_find(row->name) != row || row->run == NULL
            || row->arity > REGO_ARGUMENTS_MAX)
            before = row;
    }
    ok(count > 100 && before == NULL, "builtins: each name is there once, with a function");
}

int
main(void)
{
    mem = talloc_new(NULL);
    plan(0);
    test_cases();
    test_refusals();
    test_bounds();
    test_nesting();
    test_locals();
    test_steps();
    test_limits();
    test_table();
    talloc_free(mem);
    return done();
}
