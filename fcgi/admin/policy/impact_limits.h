/* The limits of a save, as parameters of its query (policy.md G1). */
#ifndef AZ_ADMIN_POLICY_IMPACT_LIMITS_H
#define AZ_ADMIN_POLICY_IMPACT_LIMITS_H

#include "http/route.h"
#include "policy/save/save.h"

/* The parameters, for a list of struct route_param. */
/* clang-format off */
#define IMPACT_LIMIT_PARAMS \
    {.name = "impact", .help = "Measure the save on the recorded decisions of this period (30m, 24h, 7d) first"}, \
    {.name = "maxNewlyDenied", .help = "Most decisions that may be newly denied: a number, or a percentage of those looked at like 5%"}, \
    {.name = "maxNewlyAllowed", .help = "Most that may be newly allowed"}, \
    {.name = "maxNarrowed", .help = "Most that may lose rights"}, \
    {.name = "maxWidened", .help = "Most that may gain rights"}, \
    {.name = "maxOther", .help = "Most that may differ otherwise"}, \
    {.name = "maxFailing", .help = "Most that may be answered by 503"}, \
    {.name = "maxNotKnown", .help = "Most that may be not known"}, \
    {.name = "impactOverride", .help = "Reason to pass the guards, for the history"}
/* clang-format on */

/* Parameters of a save that has no other ones. */
extern const struct route_param impact_limit_params[];

/* Read the limits from the query; they are empty if none is given. Every fault is in the answer's
 * fieldErrors. */
enum az_status impact_limits_read(struct request *req, struct save_limits *ret);

#endif
