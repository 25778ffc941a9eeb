/* The process in which a candidate is asked (policy.md 7.3 T4): what its end says of the questions.
 * t/http/policy/save_trial.t has rules that hang and eat memory. */
#include "config.h"

#include <string.h>
#include <sys/resource.h>

#include "env.h"
#include "policy/trial/by_machine.h"
#include "tap.h"

/* A plan of two entrypoints, which both answer with their input. */
#define STATEMENT(TYPE, REST) "{\"type\":\"" TYPE "\",\"stmt\":{\"file\":0,\"row\":7," REST "}}"
#define ENTRY(NAME)                                                                                \
    "{\"name\":\"" NAME                                                                            \
    "\",\"blocks\":[{\"stmts\":[" STATEMENT("MakeObjectStmt", "\"target\":3") "," STATEMENT(       \
        "ObjectInsertStmt",                                                                        \
        "\"key\":{\"type\":\"string_index\",\"value\":0},"                                         \
        "\"value\":{\"type\":\"local\",\"value\":0},\"object\":3") "," STATEMENT("ResultSetAddStm" \
                                                                                 "t",              \
                                                                                 "\"value\":3") "]}]}"
#define PLAN                                                                                       \
    "{\"static\":{\"strings\":[{\"value\":\"result\"}],\"files\":[{\"value\":\"rule.rego\"}]},"    \
    "\"funcs\":{\"funcs\":[]},\"plans\":{\"plans\":[" ENTRY("p") "," ENTRY("q") "]}}"

#define QUESTIONS 3

static struct trial_question question[QUESTIONS] = {
    {.name = "the first", .entrypoint = "p", .text = "{}"},
    {                        .name = "the second",  .entrypoint = "q",      .text = "{}"            },
    { .name = "a recorded one",       .entrypoint = "p",        .text = "{}",             .recorded = true},
};

/* Ask the questions; the notes are as the worker gets them. */
static enum az_status
ask(struct op *op, const char *plan, struct trial_note note[QUESTIONS])
{
    const struct trial_questions questions = {question, QUESTIONS};
    const struct trial_policy policy = {.name = "one",
                                        .plan = plan,
                                        .data = "{}",
                                        .plan_length = plan != NULL ? strlen(plan) : 0,
                                        .data_length = 2};
    return trial_by_machine(op, &policy, &questions, note);
}

/* Ask while a new process can open no file, so that it ends before its first question. */
static enum az_status
ask_unable(struct op *op, struct trial_note note[QUESTIONS])
{
    struct rlimit before, none;
    getrlimit(RLIMIT_NOFILE, &before);
    none = (struct rlimit){0, before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
    enum az_status st = ask(op, PLAN, note);
    setrlimit(RLIMIT_NOFILE, &before);
    return st;
}

/* Check that the questions from `first` on have a state. */
static void
have(const struct trial_note note[QUESTIONS], size_t first, enum trial_state state,
     const char *name)
{
    for (size_t i = first; i < QUESTIONS; i++)
        is_int(note[i].state, state, "%s: %s", question[i].name, name);
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct op op = env_op(mem, env_az(mem));
    struct trial_note able[QUESTIONS] = {{.row = 0}}, unable[QUESTIONS] = {{.row = 0}},
                      partly[QUESTIONS] = {{.state = TRIAL_ANSWERED}},
                      unread[QUESTIONS] = {{.row = 0}}, bare[QUESTIONS] = {{.row = 0}};
    is_int(ask(&op, PLAN, able), AZ_OK, "a process asks the questions");
    have(able, 0, TRIAL_ANSWERED, "answered");
    is_int(ask_unable(&op, unable), AZ_OK, "a process that cannot begin is no failure of the save");
    have(unable, 0, TRIAL_UNKNOWN, "OPA is asked, no question counts as tried");
    is_int(ask_unable(&op, partly), AZ_OK, "... nor when a question needs no answer any more");
    is_int(partly[0].state, TRIAL_ANSWERED, "what is known stays known");
    have(partly, 1, TRIAL_UNKNOWN, "OPA is asked the others");
    is_int(ask(&op, "{", unread), AZ_OK, "a plan that the machine cannot read");
    have(unread, 0, TRIAL_UNKNOWN, "OPA is asked");
    is_int(ask(&op, NULL, bare), AZ_OK, "no plan");
    have(bare, 0, TRIAL_UNKNOWN, "OPA is asked");
    talloc_free(mem);
    return done();
}
