/* The limits of a save, as parameters of its query (policy.md G1). */
#ifndef AZ_ADMIN_POLICY_IMPACT_LIMITS_H
#define AZ_ADMIN_POLICY_IMPACT_LIMITS_H

#include "base/json/fields.h"
#include "http/route.h"
#include "policy/save/save.h"

/* The parameters, for a list of struct route_param. */
/* clang-format off */
#define IMPACT_LIMIT_PARAMS \
    {.name = "impact", \
     .help = "Measure the save on the recorded decisions of this period (30m, 24h, 7d) first"}, \
    {.name = "maxNewlyDenied", \
     .help = "Most decisions that may be newly denied: a number, or a percentage of those looked " \
             "at like 5%"}, \
    {.name = "maxNewlyAllowed", .help = "Most that may be newly allowed"}, \
    {.name = "maxNarrowed", .help = "Most that may lose rights"}, \
    {.name = "maxWidened", .help = "Most that may gain rights"}, \
    {.name = "maxOther", .help = "Most that may differ otherwise"}, \
    {.name = "maxFailing", .help = "Most that may be answered by 503"}, \
    {.name = "maxNotKnown", .help = "Most that may be not known"}, \
    {.name = "impactOverride", .help = "Reason to pass the guards, for the history"}
/* clang-format on */

/* The same, and those of a save whose body has no place for them. */
/* clang-format off */
#define SAVE_PARAMS \
    IMPACT_LIMIT_PARAMS, \
    {.name = "message", .help = "Reason of the change, for the history; at most 500 octets"}, \
    {.name = "ifRevision", .help = "Revision that must be active; else nothing is saved"}
/* clang-format on */

/* The parameters of a save that takes limits alone, and those of a save that takes all of
 * SAVE_PARAMS. */
extern const struct route_param impact_limit_params[], save_params[];

/* Read the limits from the query; they are empty if none is given. Every fault is in the answer's
 * fieldErrors. */
enum az_status impact_limits_read(struct request *req, struct save_limits *ret);

/* Check the limits by class in this member of a body (may be NULL). Every fault is in the answer's
 * fieldErrors. */
void impact_limits_check(struct request *req, const char *member, const json_t *limits);

/* ImpactLimits: the same as a member `impact` of a body. */
extern const struct field_table impact_limits_table;

/* Read the limits from the member `impact` (may be NULL). If it is present, the query must have no
 * limits. Faults as above. */
enum az_status impact_limits_read_body(struct request *req, const json_t *impact,
                                       struct save_limits *ret);

/* Read the limits, and the message and the revision of SAVE_PARAMS; either is NULL if it is not
 * given. */
enum az_status save_params_read(struct request *req, struct save_limits *ret,
                                const char **ret_message, const char **ret_if_revision);

#endif
