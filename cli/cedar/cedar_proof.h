/* What the program of contrib/cedar-prove finds, judged by our own evaluator. */
#ifndef AZ_CLI_CEDAR_CEDAR_PROOF_H
#define AZ_CLI_CEDAR_CEDAR_PROOF_H

#include "cli/policy/bundle.h"

/* The policies of one directory. */
struct proof_set {
    struct bundle_dir dir;
    json_t *files;    /* text by path */
    const char *mode; /* cedar_mode of its rows: guard, source or off */
    bool errors_deny; /* its rows have cedar_errors deny */
};

/* One proof. */
struct proof {
    struct cli *cli;
    struct proof_set now, before;
    json_t *results;    /* list for --json */
    size_t proved;      /* request environments in which nothing is allowed that was not before */
    size_t open;        /* those for which there is no answer */
    size_t found;       /* those with a counterexample */
    bool errors, wrong; /* a policy may have an error; our evaluator disagrees with the solver */
};

/* Take the results of the program, one JSON object per line. False, with the error printed: they
 * cannot be read. */
bool proof_take(struct proof *proof, char *lines);

/* Print what was found; returns the exit status. */
int proof_report(struct proof *proof);

#endif
