#include "config.h"

#include "admin/policy/impact_candidate.h"

#include <string.h>

#include "admin/policy/bundle_audit.h"
#include "admin/policy/policy_bundle.h"
#include "admin/policy/policy_payload.h"
#include "base/json/jsonx.h"
#include "policy/save/deploy/rollback.h"

/* Return a list of one item, a new reference. */
static json_t *
list_of(json_t *item)
{
    return json_pack("[o]", item);
}

static bool
is_deploy(const struct impact_forms *forms)
{
    return forms->rules != NULL || forms->data != NULL || forms->delete_rules != NULL
           || forms->delete_data != NULL || forms->mode != NULL;
}

/* Set a member of a deploy if there is one; a borrowed value. */
static void
set_given(struct jsonx_build *body, const char *name, const json_t *value)
{
    if (value != NULL)
        jsonx_set(body, name, json_incref((json_t *) (uintptr_t) value));
}

/* Merge a patch into the row as it is stored. */
static enum az_status
patch_row(struct request *req, const json_t *patch, struct jsonx_build *body)
{
    const char *key = json_string_value(json_object_get(patch, "dataKey")), *schema, *text;
    struct policy_row row;
    json_t *payload;
    enum az_status st = policy_payload_target(req, key, &row, &schema);
    if (st == AZ_OK && row.payload == NULL)
        return request_invalid_field(req, "patch.dataKey", "names no stored row");
    if (st == AZ_OK)
        st = policy_patch_apply(req, &row, json_object_get(patch, "merge"), &payload, &text);
    if (st == AZ_OK)
        jsonx_set(body, "data",
                  list_of(json_pack("{s:s,s:O}", "dataKey", key, "payload", payload)));
    return st;
}

/* Write a form as the body of a deploy. */
static enum az_status
write_deploy(struct request *req, const struct impact_forms *forms, struct jsonx_build *body)
{
    set_given(body, "rules", forms->rules);
    set_given(body, "data", forms->data);
    set_given(body, "deleteRules", forms->delete_rules);
    set_given(body, "deleteData", forms->delete_data);
    if (forms->mode != NULL)
        jsonx_set(body, "mode", json_string(forms->mode));
    if (forms->rule != NULL)
        jsonx_set(body, "rules", list_of(json_incref((json_t *) (uintptr_t) forms->rule)));
    if (forms->row != NULL)
        jsonx_set(body, "data", list_of(json_incref((json_t *) (uintptr_t) forms->row)));
    if (forms->delete_rule != NULL)
        jsonx_set(body, "deleteRules", list_of(json_string(forms->delete_rule)));
    if (forms->delete_row != NULL)
        jsonx_set(body, "deleteData", list_of(json_string(forms->delete_row)));
    return forms->patch != NULL ? patch_row(req, forms->patch, body) : AZ_OK;
}

/* Read the form as a deploy. */
static enum az_status
read_deploy(struct request *req, const struct impact_forms *forms, struct deploy *ret)
{
    struct jsonx_build body = {jsonx_own(req->op.mem, json_object()), false};
    json_t *content = NULL;
    const char *mode;
    enum az_status st = AZ_OK;
    if (forms->rollback != 0) {
        st = bundle_audit_fetch_content(req, forms->rollback, &content);
        if (st == AZ_OK)
            st = rollback_read(&req->op, content, ret);
    } else {
        st = write_deploy(req, forms, &body);
        if (st == AZ_OK && jsonx_built(&body) == NULL)
            st = op_no_memory(&req->op);
        if (st == AZ_OK)
            st = policy_bundle_read(req, body.value, ret, &mode);
    }
    ret->if_revision = forms->if_revision;
    return st;
}

static enum az_status
check_forms(struct request *req, const struct impact_forms *forms)
{
    int given = is_deploy(forms) + (forms->rule != NULL) + (forms->delete_rule != NULL)
                + (forms->row != NULL) + (forms->patch != NULL) + (forms->delete_row != NULL)
                + (forms->rollback != 0);
    return given == 1 ? AZ_OK
                      : request_invalid_field(req, "",
                                              given == 0 ? "needs a candidate: rules, data, rule, "
                                                           "row, patch, a deletion or rollback"
                                                         : "has more than one candidate");
}

enum az_status
impact_candidate_read(struct request *req, const struct impact_forms *forms,
                      struct impact_pair *ret)
{
    struct deploy deploy = {.source = "deploy", .who = req->admin.label};
    struct deploy_result result = {.data_key = NULL};
    json_t *errors = NULL;
    enum az_status st = check_forms(req, forms);
    if (st == AZ_OK)
        st = read_deploy(req, forms, &deploy);
    if (st != AZ_OK)
        return st;
    st = deploy_measure(&req->op, &deploy, &result, ret, &errors);
    bool one = !is_deploy(forms) && forms->rollback == 0;
    if (st == AZ_OK && one && result.counts.rules.kept + result.counts.data.kept > 0)
        return op_fail(&req->op, AZ_PROTECTED,
                       "This rule or row is shipped with the service and cannot be changed so",
                       NULL);
    st = policy_bundle_refuse(req, st, &result);
    if (errors != NULL && req->error_body != NULL)
        json_object_set(req->error_body, "errors", errors);
    return st;
}
