#include "config.h"

#include "admin/policy/policy_refusal.h"

#include "base/json/jsonx.h"

enum az_status
policy_refuse(struct request *req, enum az_status st, const struct save_outcome *outcome)
{
    const struct save_refusal *refusal = &outcome->refusal;
    if (st == AZ_OK || refusal->error == NULL)
        return st;
    req->error_body =
        jsonx_own(req->op.mem,
                  json_pack("{s:s,s:s,s:s,s:s,s:b}", "error", refusal->error, "error_description",
                            refusal->description, "expectedRevision", refusal->expected,
                            "activeRevision", refusal->active, "rolledBack", 1));
    return st;
}

void
policy_add_outcome(struct request *req, const struct save_outcome *outcome, const char *warning)
{
    const char *plan = outcome->plan_warning;
    respond_header(req, "X-Policy-Revision", outcome->revision);
    respond_header(req, "X-Policy-Activation", save_activation_word(outcome->activation));
    respond_header(req, "X-Policy-Warning",
                   plan != NULL && warning != NULL
                       ? talloc_asprintf(req->op.mem, "%s. %s", warning, plan)
                   : plan != NULL ? plan
                                  : warning);
}
