/* Options that limit what a change of the policy may do to recorded decisions (policy.md C1). */
#ifndef AZ_CLI_POLICY_IMPACT_H
#define AZ_CLI_POLICY_IMPACT_H

#include "base/query.h"
#include "cli/lib/cli.h"

/* Parameters of a save with all limits. */
#define IMPACT_QUERY_MAX 9

/* clang-format off */
/* Rows of the options, for a table of a verb. */
#define IMPACT_LIMIT_OPTIONS \
    {"max-failing", 0, "N", offsetof(struct cli_choices, max_failing), false, \
     "Refuse if more than N decisions would be answered by 503"}, \
    {"max-narrowed", 0, "N", offsetof(struct cli_choices, max_narrowed), false, \
     "Refuse if more than N decisions would lose rights"}, \
    {"max-newly-allowed", 0, "N", offsetof(struct cli_choices, max_newly_allowed), false, \
     "Refuse if more than N decisions would be newly allowed"}, \
    {"max-newly-denied", 0, "N", offsetof(struct cli_choices, max_newly_denied), false, \
     "Refuse if more than N decisions would be newly denied; N may be a percentage of those looked at, like 5%"}, \
    {"max-not-known", 0, "N", offsetof(struct cli_choices, max_not_known), false, \
     "Refuse if more than N decisions are not known"}, \
    {"max-other", 0, "N", offsetof(struct cli_choices, max_other), false, \
     "Refuse if more than N decisions would differ otherwise"}, \
    {"max-widened", 0, "N", offsetof(struct cli_choices, max_widened), false, \
     "Refuse if more than N decisions would gain rights"}
#define IMPACT_SINCE_OPTION \
    {"since", 0, "PERIOD", offsetof(struct cli_choices, since), false, \
     "Look at the decisions of this period, for example 30m, 24h (default) or 7d, or since a time"}
/* clang-format on */

/* Fill the parameters of a save with the limits that were given (IMPACT_QUERY_MAX at most), and
 * return how many there are; 0: the save is not measured. */
size_t impact_query(const struct cli *cli, struct query_pair *ret);

/* Return the exit status of a refused save: CLI_NOTABLE if limits refused it, else `status`. */
int impact_status(const json_t *answer, int status);

/* Print counts with the members of PolicyImpact: the classes, the clients and some examples. */
void impact_print_counts(const json_t *result);

#endif
