/* The 422 of a policy save that was rolled back (specification 7.2). */
#ifndef AZ_ADMIN_POLICY_POLICY_REFUSAL_H
#define AZ_ADMIN_POLICY_POLICY_REFUSAL_H

#include "http/request.h"
#include "policy/save/save.h"

/*
 * Return the status of a save. If the engines refused it, the body of the answer becomes {error,
 * error_description, expectedRevision, activeRevision, rolledBack: true}.
 */
enum az_status policy_refuse(struct request *req, enum az_status st,
                             const struct save_outcome *outcome);

/* Add X-Policy-Revision and X-Policy-Activation to the answer to a save, and X-Policy-Warning if
 * the plan, or `warning` (or NULL) of the caller, has a warning. */
void policy_add_outcome(struct request *req, const struct save_outcome *outcome,
                        const char *warning);

/* Answer with the JSON text of a rule or row, and its digest as ETag. */
enum az_status policy_respond(struct request *req, int status, const char *dto, const char *digest);

#endif
