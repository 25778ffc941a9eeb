/* The trial of a policy (policy.md 7.3): before an engine that decides gets a candidate, processes
 * that can be ended evaluate it, so that what does not end, or has no answer, is felt by nobody. */
#ifndef AZ_POLICY_TRIAL_TRIAL_H
#define AZ_POLICY_TRIAL_TRIAL_H

#include "policy/trial/questions.h"
#include "rego/machine.h"

/* Time after which no further recorded question is begun, in milliseconds. 200 questions take 40 ms
 * with the shipped policy; with rules that are fifty times as slow, most are still asked. */
#define TRIAL_MS 2000
/* Time in which one question must have its answer, in milliseconds. What it may take is counted, as
 * work (IMPACT_EVALUATION_STATEMENTS) or processor time; this ends what a busy machine never ends,
 * and OPA, which counts nothing. */
#define TRIAL_QUESTION_MS 5000
/* Processor time of a process of the trial, in seconds, and octets that it may write to. */
#define TRIAL_CPU_SECONDS 5
#define TRIAL_MEMORY ((size_t) 1 << 30)
/* Longest silence of the session of the database meanwhile (save_lock.c), in milliseconds. */
#define TRIAL_SPEAK_MS 1000

/* A policy. Texts outlive the trial. */
struct trial_policy {
    const char *name; /* of the plan */
    const char *plan; /* plan.json; NULL: there is no plan, and OPA is asked everything */
    const struct rego_plan *code; /* the same, if it is read already; else NULL */
    const char *data;             /* data.json */
    const unsigned char *body;    /* archive of the bundle */
    size_t plan_length, data_length, body_length;
};

enum trial_state {
    TRIAL_UNTRIED,  /* not asked */
    TRIAL_RUNNING,  /* asked, and no answer came: the process was ended */
    TRIAL_ANSWERED, /* there is an answer; for a decision, a valid one */
    TRIAL_FAILED,   /* there is none, with the reason */
    TRIAL_UNKNOWN,  /* the machine cannot tell, with the reason: OPA must be asked */
    TRIAL_HIDDEN,   /* the answer depends on a value that was not recorded */
};

/* Octets of the file that a note names. */
#define TRIAL_FILE_SIZE 256

/* The result of one question. */
struct trial_note {
    enum trial_state state;
    char file[TRIAL_FILE_SIZE]; /* where the evaluation ended early, or "" */
    unsigned row;
    char why[REGO_WHY_SIZE];
};

/* Return the reason why a question has no answer, with the place where the evaluation ended, unless
 * the reason has it: FILE:ROW: why. On mem; NULL: no memory. */
const char *trial_reason(TALLOC_CTX *mem, const char *file, unsigned row, const char *why);

/* The result of a trial: the first question without an answer that the policy before answers. */
struct trial_result {
    const char *question; /* for people, to follow "of"; NULL if no question failed */
    bool bare;            /* it has no input: an engine is asked the same at each save */
    const char *file;     /* module where the evaluation ended, or "" */
    unsigned row;
    const char *why;
    const char *untried; /* why the policy was tried in part, or not at all; NULL: it was tried */
};

/* Reads the policy before a candidate, which is needed only if a question failed. *ret_is is false
 * if there is none. */
typedef enum az_status trial_base_fn(struct op *op, void *arg, struct trial_policy *ret,
                                     bool *ret_is);

/*
 * Try a candidate. What the policy before it does not answer either is not to blame on it; without
 * one, each question counts as answered. The session of the database does not fall silent
 * meanwhile.
 */
enum az_status trial_run(struct op *op, const struct trial_policy *candidate, trial_base_fn *base,
                         void *arg, const struct trial_questions *questions,
                         struct trial_result *ret);

#endif
