/* The candidate of a measurement: the forms that saves take (policy.md I1). */
#ifndef AZ_ADMIN_POLICY_IMPACT_CANDIDATE_H
#define AZ_ADMIN_POLICY_IMPACT_CANDIDATE_H

#include "http/request.h"
#include "policy/impact/impact.h"

/* The forms, as they were given. Absent ones are NULL, or 0. */
struct impact_forms {
    const json_t *rules, *data, *delete_rules, *delete_data; /* a deploy, all or some of them */
    const char *mode;
    const json_t *rule;      /* {path, content, enabled} */
    const char *delete_rule; /* path */
    const json_t *row;       /* {dataKey, payload} */
    const json_t *patch;     /* {dataKey, merge} */
    const char *delete_row;  /* data key */
    int64_t rollback;        /* id of a bundle */
    const char *if_revision;
};

/*
 * Make the candidate of the one form that is given (save/candidate.h). AZ_INVALID_FIELDS: no form
 * is given, or two are; else the refusal that a save would answer.
 */
enum az_status impact_candidate_read(struct request *req, const struct impact_forms *forms,
                                     struct impact_pair *ret);

#endif
