/* One revision as the machine runs it: what it decides, what it leaves to OPA, its bounds, and what
 * it shares with the one before. t/rego has the machine itself. */
#include "config.h"

#include "policy/engine/engine_plan.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json/jsonx.h"
#include "policy/engine/engine_result.h"
#include "tap.h"

/* An entrypoint "p" whose result is the value at data.KEY. */
#define STATEMENT(TYPE, REST) "{\"type\":\"" TYPE "\",\"stmt\":{\"file\":0,\"row\":7," REST "}}"
#define LOCAL(N) "{\"type\":\"local\",\"value\":" #N "}"
#define TEXT(N) "{\"type\":\"string_index\",\"value\":" #N "}"
#define GIVE                                                                                       \
    STATEMENT("MakeObjectStmt", "\"target\":3")                                                    \
    "," STATEMENT("ObjectInsertStmt", "\"key\":" TEXT(0) ",\"value\":" LOCAL(                      \
                                          2) ",\"object\":3") "," STATEMENT("ResultSetAddStmt",    \
                                                                            "\"value\":3")
#define PLAN(KEY, SOURCE)                                                                          \
    "{\"static\":{\"strings\":[{\"value\":\"result\"},{\"value\":\"" KEY "\"}],"                   \
    "\"files\":[{\"value\":\"rule.rego\"}]},\"funcs\":{\"funcs\":[]},\"plans\":{\"plans\":[{"      \
    "\"name\":\"p\",\"blocks\":[{\"stmts\":[" SOURCE "," GIVE "]}]}]}}"
#define LOOK_UP(KEY)                                                                               \
    PLAN(KEY, STATEMENT("DotStmt", "\"source\":" LOCAL(1) ",\"key\":" TEXT(1) ",\"target\":2"))
#define LACKING                                                                                    \
    PLAN("x", STATEMENT("CallStmt", "\"func\":\"no.such\",\"args\":[" LOCAL(0) "],\"result\":2"))
#define INPUT_X                                                                                    \
    PLAN("x", STATEMENT("DotStmt", "\"source\":" LOCAL(0) ",\"key\":" TEXT(1) ",\"target\":2"))
#define ALL_DATA PLAN("x", STATEMENT("AssignVarStmt", "\"source\":" LOCAL(1) ",\"target\":2"))

static TALLOC_CTX *mem;

static struct engine_plan *
read_plan(const char *plan, const char *data, struct engine_plan *before, const char **ret_why)
{
    const struct engine_plan_texts texts = {
        .name = "one",
        .plan = plan,
        .data = data,
        .plan_length = plan != NULL ? strlen(plan) : 0,
        .data_length = strlen(data),
    };
    return engine_plan_read(mem, &texts, before, ret_why);
}

/* Evaluate data.x of a document. */
static enum rego_outcome
decide(const char *data, json_t **ret, char why[REGO_WHY_SIZE])
{
    const char *unread = NULL;
    const struct engine_plan_question question = {
        .entrypoint = "p", .input = "{}", .length = 2, .now_ns = 1};
    struct engine_plan *plan = read_plan(LOOK_UP("x"), data, NULL, &unread);
    *ret = NULL;
    if (plan == NULL)
        snprintf(why, REGO_WHY_SIZE, "%s", unread);
    return plan != NULL ? engine_plan_run(mem, plan, &question, ret, why) : REGO_EXCEEDED;
}

/* clang-format off */
static const struct {
    const char *name, *data;
    const char *result; /* NULL: OPA is asked */
} results[] = {
    {"an object with members in order", "{\"x\":{\"b\":1,\"a\":[true,null,\"t\"]}}", "{\"a\":[true,null,\"t\"],\"b\":1}"},
    {"the largest integer", "{\"x\":9223372036854775807}", "9223372036854775807"},
    {"the smallest integer", "{\"x\":-9223372036854775808}", "-9223372036854775808"},
    {"a real", "{\"x\":1.5}", "1.5"},
    {"an integer past 64 bits", "{\"x\":9223372036854775808}", NULL},
    {"a real past binary64", "{\"x\":1e400}", NULL},
};
/* clang-format on */

static void
test_results(void)
{
    for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
        char why[REGO_WHY_SIZE] = "";
        json_t *got = NULL;
        enum rego_outcome outcome = decide(results[i].data, &got, why);
        char *text = got != NULL ? json_dumps(got, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
        if (results[i].result != NULL)
            is_str(text, results[i].result, "the answer is what OPA's reader would read: %s",
                   results[i].name);
        else
            ok(outcome == REGO_GIVE_UP && got == NULL && *why != '\0', "OPA is asked: %s",
               results[i].name);
        free(text);
    }
    char why[REGO_WHY_SIZE];
    json_t *got;
    ok(decide("{\"y\":1}", &got, why) == REGO_DONE && got == NULL, "undefined is no answer");
}

/* Check that a value has no answer in JSON that is the same. */
static void
unwritable(const struct rego_value *value, const char *name)
{
    const char *why = NULL;
    ok(value != NULL && engine_result(mem, value, &why) == NULL && why != NULL,
       "OPA is asked: %s (%s)", name, why != NULL ? why : "");
}

static void
test_unwritable(void)
{
    struct rego_arena arena;
    rego_arena_init(&arena, mem, 1 << 20);
    const struct rego_value *nul = rego_string(&arena, "a\0b", 3);
    struct rego_value *named = rego_object(&arena, 1), *numbered = rego_object(&arena, 1);
    rego_insert(&arena, named, nul, &rego_true);
    rego_insert(&arena, numbered, rego_integer(&arena, 1), &rego_true);
    unwritable(nul, "a text with NUL");
    unwritable(named, "a key with NUL");
    unwritable(numbered, "a key that is a number");
    unwritable(rego_string(&arena, "\xff", 1), "a text that is not UTF-8");
}

/* Return data whose x is `depth` arrays in each other, or a text of `length` octets. */
static char *
make_data(size_t depth, size_t length)
{
    char *data = talloc_zero_size(mem, 2 * depth + length + 16);
    strcpy(data, "{\"x\":");
    memset(data + strlen(data), '[', depth);
    if (length > 0) {
        strcat(data, "\"");
        memset(data + strlen(data), 'a', length);
        strcat(data, "\"");
    }
    memset(data + strlen(data), ']', depth);
    return strcat(data, "}");
}

static void
test_limits(void)
{
    char why[REGO_WHY_SIZE];
    json_t *got;
    ok(decide(make_data(63, 0), &got, why) == REGO_DONE && got != NULL,
       "an answer as deep as OPA's may be");
    ok(decide(make_data(64, 0), &got, why) == REGO_GIVE_UP, "one deeper: OPA is asked");
    /* 6 octets for each, 3 around them, within ENGINE_DECISION_MAX less 1,024 for the envelope. */
    size_t fits = ((128 << 10) - 1024 - 4) / 6;
    ok(decide(make_data(0, fits), &got, why) == REGO_DONE && got != NULL,
       "an answer that is surely not too long");
    ok(decide(make_data(0, fits + 1), &got, why) == REGO_GIVE_UP,
       "one octet more, which may be too long: OPA is asked");
}

static void
test_refused(void)
{
    static const struct {
        const char *name, *plan, *data, *why;
    } rows[] = {
        {"a plan that is no JSON",                            "{",               "{}",                "not JSON"      },
        {"a plan without a name before",                      NULL,              "{}",                "was not read"  },
        {"data that are no JSON",                             LOOK_UP("x"),      "{\"x\"",            "cannot be read"},
        {"data that are no object",                           LOOK_UP("x"),      "[]",                "cannot be read"},
        {"a member twice",                                    LOOK_UP("x"),      "{\"x\":1,\"x\":2}", "cannot be read"},
        {"a rule that reads data.system",                     LOOK_UP("system"), "{}",                "data.system"   },
        {"a rule that reads all data, in which OPA has more", ALL_DATA,          "{}",                "data.system"   },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *why = "";
        bool refused = read_plan(rows[i].plan, rows[i].data, NULL, &why) == NULL;
        ok(refused && strstr(why, rows[i].why) != NULL, "refused: %s (%s)", rows[i].name, why);
    }
}

static void
test_lacking(void)
{
    const char *why;
    char reason[REGO_WHY_SIZE] = "";
    json_t *got;
    struct engine_plan *plan = read_plan(LACKING, "{}", NULL, &why);
    struct engine_plan_question question = {.entrypoint = "p", .input = "{}", .length = 2};
    is_str(engine_plan_lacks(mem, plan, "p"), "the machine lacks no.such",
           "an entrypoint that may call what the machine lacks is named");
    ok(engine_plan_run(mem, plan, &question, &got, reason) == REGO_GIVE_UP,
       "... and a question that calls it is left to OPA");
    question.entrypoint = "q";
    ok(engine_plan_run(mem, plan, &question, &got, reason) == REGO_GIVE_UP,
       "so is one that the plan does not have");
    plan = read_plan(LOOK_UP("x"), "{\"x\":1}", NULL, &why);
    ok(engine_plan_lacks(mem, plan, "p") == NULL, "others are not");
    question.entrypoint = "p";
    for (question.statements = 1;
         question.statements < 100
         && engine_plan_run(mem, plan, &question, &got, reason) == REGO_EXCEEDED;)
        question.statements++;
    ok(question.statements > 1 && question.statements < 100,
       "an evaluation may have a bound of its own, which it needs %d statements to keep",
       (int) question.statements);
    question = (struct engine_plan_question){.entrypoint = "p", .input = "{", .length = 1};
    ok(engine_plan_run(mem, plan, &question, &got, reason) == REGO_GIVE_UP,
       "an input that cannot be read is left to OPA");
}

/* Without a text: the question is the value itself. */
static void
test_document(void)
{
    const char *why;
    char reason[REGO_WHY_SIZE] = "";
    json_t *got, *document = jsonx_own(mem, json_pack("{s:{s:i},s:f}", "x", "a", 1, "y", 0.1));
    size_t length = 0;
    struct engine_plan *plan = read_plan(INPUT_X, "{}", NULL, &why);
    struct engine_plan_question question = {
        .entrypoint = "p", .document = document, .document_length = &length};
    ok(engine_plan_run(mem, plan, &question, &got, reason) == REGO_DONE
           && json_integer_value(json_object_get(got, "a")) == 1,
       "a document is decided without its text");
    is_int(length, strlen(jsonx_dump(mem, document)), "... whose length is told");
    question.hidden = jsonx_own(mem, json_pack("{s:{s:n}}", "x", "b"));
    ok(engine_plan_run(mem, plan, &question, &got, reason) == REGO_TOUCHED,
       "... and of which values can be hidden");
    json_object_set_new_nocheck(document, "z", json_string_nocheck("\xff"));
    question.hidden = NULL;
    ok(engine_plan_run(mem, plan, &question, &got, reason) == REGO_GIVE_UP,
       "a document that has no text is left to OPA, which gets none");
}

static void
test_shared(void)
{
    const char *why;
    struct engine_plan_question question = {.entrypoint = "p", .input = "{}", .length = 2};
    char reason[REGO_WHY_SIZE];
    json_t *got;
    struct engine_plan *first = read_plan(LOOK_UP("x"), "{\"x\":1}", NULL, &why);
    struct engine_plan *second = read_plan(NULL, "{\"x\":2}", first, &why);
    is_str(engine_plan_name(second), "one", "a plan of the same name is not read again");
    talloc_free(first);
    ok(engine_plan_run(mem, second, &question, &got, reason) == REGO_DONE
           && json_integer_value(got) == 2,
       "... and decides by the new data when the revision before is gone");
    struct engine_plan *third = read_plan(NULL, "{", second, &why);
    ok(third == NULL && engine_plan_run(mem, second, &question, &got, reason) == REGO_DONE,
       "data that cannot be read leave the revision before as it was");
    talloc_free(second);
}

/* A process holds one revision after the other for months, some with a plan of their own and most
 * with that of the one before. */
static void
test_replaced(void)
{
    const char *why;
    struct engine_plan *held = read_plan(LOOK_UP("x"), "{\"x\":[1,2]}", NULL, &why);
    size_t blocks = talloc_total_blocks(mem), octets = talloc_total_size(mem);
    int unread = 0;
    for (int i = 0; i < 300; i++) {
        bool anew = i % 3 == 0;
        struct engine_plan *next =
            read_plan(anew ? LOOK_UP("x") : NULL, "{\"x\":[2,1]}", anew ? NULL : held, &why);
        unread += next == NULL;
        talloc_free(held);
        held = next;
    }
    is_int(unread, 0, "300 revisions are read, one of three with a plan of its own");
    is_int((int64_t) talloc_total_blocks(mem), (int64_t) blocks,
           "... and none leaves a block when the next has its place");
    is_int((int64_t) talloc_total_size(mem), (int64_t) octets, "... or an octet");
    talloc_free(held);
}

int
main(void)
{
    mem = talloc_new(NULL);
    test_results();
    test_unwritable();
    test_limits();
    test_refused();
    test_lacking();
    test_document();
    test_shared();
    test_replaced();
    talloc_free(mem);
    return done();
}
