#include "config.h"

#include "admin/policy/policy_refusal.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "http/route.h"
#include "policy/save/check/rule_warnings.h"

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
    if (refusal->members != NULL && json_object_update(req->error_body, refusal->members) != 0)
        return op_no_memory(&req->op);
    return st;
}

/* Nesting of the summary of an audit row. */
#define SUMMARY_DEPTH_MAX 8

/* Note in the audit row that guards were passed, and why. */
static void
note_override(struct request *req)
{
    const char *summary = req->audit.summary != NULL ? req->audit.summary : "{}";
    json_t *whole = NULL;
    if (jsonx_parse(req->op.mem, summary, strlen(summary), SUMMARY_DEPTH_MAX, &whole, NULL) == AZ_OK
        && json_object_set_new(whole, "impactOverride",
                               json_string(request_param(req, "impactOverride")))
               == 0)
        req->audit.summary = jsonx_dump(req->op.mem, whole);
}

void
policy_add_outcome(struct request *req, const struct save_outcome *outcome, const char *warning)
{
    if (outcome->overridden)
        note_override(req);
    const char *const warnings[] = {warning, outcome->plan_warning, outcome->trial_warning,
                                    rule_warnings_text(req->op.mem, outcome->warnings)};
    char *all = NULL;
    for (size_t i = 0; i < sizeof(warnings) / sizeof(warnings[0]); i++)
        if (warnings[i] != NULL)
            all = all == NULL ? talloc_strdup(req->op.mem, warnings[i])
                              : talloc_asprintf_append(all, ". %s", warnings[i]);
    respond_header(req, "X-Policy-Revision", outcome->revision);
    respond_header(req, "X-Policy-Activation", save_activation_word(outcome->activation));
    respond_header(req, "X-Policy-Warning", all);
    respond_header(req, "X-Policy-Impact", outcome->impact);
}

enum az_status
policy_respond(struct request *req, int status, const char *dto, const char *digest)
{
    respond_header(req, "ETag", talloc_asprintf(req->op.mem, "\"%s\"", digest));
    return respond_json_text(req, status, dto);
}
