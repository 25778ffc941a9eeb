/* The rules that a deploy would have the engine compile. */
#ifndef AZ_CLI_POLICY_OPA_CANDIDATE_H
#define AZ_CLI_POLICY_OPA_CANDIDATE_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/lib/cli.h"
#include "policy/save/deploy/deploy.h"

/* A rule. */
struct opa_module {
    const char *path;    /* in the bundle */
    const char *text;    /* its Rego text */
    const char *file;    /* name for people: DIR/path, `path (stored)` or `path (shipped)` */
    const char *package; /* words separated by dots; NULL: not known */
    bool ours;           /* written by this run's author, and not stored or shipped */
};

/* All rules, on the memory of the run. */
struct opa_candidate {
    struct opa_module *module;
    size_t modules;
};

/* Add a rule. False: no memory. */
bool opa_candidate_add(const struct cli *cli, struct opa_candidate *candidate,
                       const struct opa_module *module);

/* Make the candidate of a deploy of the directory `dir`, or of the one rule of the input if it is
 * NULL: its enabled rules, the shipped ones, and
 * those stored rules that stay. Returns the exit status. */
int opa_candidate_make(struct cli *cli, const struct deploy *deploy, const char *dir,
                       struct opa_candidate *ret);

#endif
