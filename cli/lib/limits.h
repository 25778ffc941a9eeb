/* Options that limit what a change of the policy may do to recorded decisions (policy.md C1). */
#ifndef AZ_CLI_LIB_LIMITS_H
#define AZ_CLI_LIB_LIMITS_H

#include <jansson.h>

#include "base/query.h"
#include "cli/lib/cli.h"
#include "policy/save/save.h"

/* Parameters of a save with all limits. */
#define LIMITS_QUERY_MAX 9

/* Rows of the options, for a table of a verb, which is sorted. */
/* clang-format off */
#define LIMITS_IMPACT_OPTION \
    {"impact", 0, NULL, offsetof(struct cli_choices, impact), false, \
     "Measure what the save would change in recorded decisions first, and say it"}
#define LIMITS_OPTIONS \
    {"max-failing", 0, "N", offsetof(struct cli_choices, max_failing), false, \
     "Refuse if more than N decisions would be answered by 503"}, \
    {"max-narrowed", 0, "N", offsetof(struct cli_choices, max_narrowed), false, \
     "Refuse if more than N decisions would lose rights"}, \
    {"max-newly-allowed", 0, "N", offsetof(struct cli_choices, max_newly_allowed), false, \
     "Refuse if more than N decisions would be newly allowed"}, \
    {"max-newly-denied", 0, "N", offsetof(struct cli_choices, max_newly_denied), false, \
     "Refuse if more than N decisions would be newly denied; N may be a percentage of those " \
       "looked at, like 5%"}, \
    {"max-not-known", 0, "N", offsetof(struct cli_choices, max_not_known), false, \
     "Refuse if more than N decisions are not known"}, \
    {"max-other", 0, "N", offsetof(struct cli_choices, max_other), false, \
     "Refuse if more than N decisions would differ otherwise"}, \
    {"max-widened", 0, "N", offsetof(struct cli_choices, max_widened), false, \
     "Refuse if more than N decisions would gain rights"}
#define LIMITS_OVERRIDE_OPTION \
    {"override", 0, "REASON", offsetof(struct cli_choices, override_reason), false, \
     "Pass the guards of the service, or change them, and keep REASON in the history of bundles"}
#define LIMITS_SINCE_OPTION \
    {"since", 0, "PERIOD", offsetof(struct cli_choices, since), false, \
     "Look at the decisions of this period, for example 30m, 24h (default) or 7d, or since a time"}
/* clang-format on */

/* A limit: its option, the parameter of a save, the count of an answer, and its words. */
struct limit_row {
    size_t offset; /* of the option in struct cli_choices */
    const char *parameter, *count, *words;
    const char *meaning; /* of the words, for people */
};

#define LIMIT_ROWS 7
extern const struct limit_row limit_rows[LIMIT_ROWS];

/* The limits of a save on the database without options: it has no limits, and its user may pass
 * guards (policy.md G4). */
extern const struct save_limits limits_on_database;

/* Fill the parameters of a save with the limits that were given (LIMITS_QUERY_MAX at most), and
 * return how many there are; 0: the save neither is measured nor passes guards for its options. */
size_t limits_query(const struct cli *cli, struct query_pair *ret);

/* True if one was given. */
bool limits_are_given(const struct cli *cli);

/* Refuse limits that are neither a number nor a percentage; returns the exit status. */
int limits_check(const struct cli *cli);

/* Judge a result (PolicyImpact) by the limits that were given and the guards that it was counted
 * against; print those that were passed, and what was not measured. Returns the exit status. */
int limits_judge(const struct cli *cli, const json_t *result);

/* The error of a save that limits refused. */
#define LIMITS_REFUSED "impact_refused"

/* Print the body of that error for a person. */
void limits_print_refusal(const struct cli *cli, const json_t *body);

#endif
