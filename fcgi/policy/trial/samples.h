/* Questions that come with the program: what each evaluation may be asked on an instance that has
 * not been asked yet (policy.md 7.3). */
#ifndef AZ_POLICY_TRIAL_SAMPLES_H
#define AZ_POLICY_TRIAL_SAMPLES_H

#include <stddef.h>

struct trial_sample {
    const char *name;  /* for people: "issue, client_credentials" */
    const char *hooks; /* word of the package of hooks that it is asked of, below custom */
    const char *text;  /* the question as JSON; its member evaluation names the entrypoint */
};

/* All samples: at least one of each entrypoint. A test holds them against etc/policy/inputs. */
extern const struct trial_sample trial_samples[];
extern const size_t trial_samples_count;

#endif
