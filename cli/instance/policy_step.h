/* The rules, rows and entries of a plan: one deploy saves all of them or none. */
#ifndef AZ_CLI_INSTANCE_POLICY_STEP_H
#define AZ_CLI_INSTANCE_POLICY_STEP_H

#include "cli/instance/instance.h"

/* Have the service check the deploy of the plan, without saving it. Returns the exit status. */
int policy_rehearse(struct instance *run);

/* Save the rules, rows and entries of the plan, if it changes any. Returns the exit status. */
int policy_save(struct instance *run, bool *ret_saved);

/* Find the path of a rule in the admin API. Returns the exit status. */
int policy_rule_place(struct instance *run, const char *path, const char **ret);

#endif
