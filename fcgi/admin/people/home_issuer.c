#include "config.h"

#include "admin/people/home_issuer.h"

#include <string.h>

#include "base/json/field_rules.h"
#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "http/response.h"
#include "store/people/identity_providers.h"
#include "store/people/identity_providers_admin.h"
#include "token/subject.h"

struct home_issuer {
    const char *idp_id;
};
/* clang-format off */
static const struct field home_issuer_fields[] = {
    {"idpId", FIELD_TEXT, .required = true, .max = FIELD_NAME_MAX,
     FIELD_INTO(struct home_issuer, idp_id), .help = "An enabled identity provider",
     .example = "\"company\""},
};
const struct field_table home_issuer_table = FIELD_TABLE("HomeIssuer", home_issuer_fields, 0);
/* clang-format on */

/* Return what decides about the home issuer. */
static const char *
home_source(const struct op *op, const struct identity_providers *providers, const char *home)
{
    if (op->az->cfg->subject_home_issuer != NULL)
        return "setting";
    if (providers->home != NULL)
        return "stored";
    return home != NULL ? "oldest" : "none";
}

/* Return the idpId of an issuer, or NULL. */
static const char *
idp_of_issuer(const struct identity_providers *providers, const char *issuer)
{
    for (size_t i = 0; issuer != NULL && i < providers->count; i++)
        if (strcmp(providers->provider[i].issuer, issuer) == 0)
            return providers->provider[i].idp_id;
    return NULL;
}

/* Return sentences about a change from an issuer to another. */
static json_t *
consequences(struct op *op, const char *before, const char *after, int64_t people)
{
    struct jsonx_build list = {jsonx_own(op->mem, json_array()), false};
    if (before != NULL && strcmp(before, after) == 0)
        return list.value;
    jsonx_append(&list, json_string("Names that people have stay as they are"));
    jsonx_append(&list, json_sprintf("New people of %s get their sub as their name: what rules, "
                                     "rows and delegations say of a name like alice holds for "
                                     "them from now on",
                                     after));
    if (before != NULL)
        jsonx_append(&list, json_sprintf("New people of %s get <idpId>|<sub>; %lld of its people "
                                         "keep the sub, and nobody else gets those names",
                                         before, (long long) people));
    return jsonx_built(&list);
}

static enum az_status
respond_home(struct request *req, const struct identity_providers *providers, json_t *told)
{
    const char *home = subject_home(&req->op, providers, NULL);
    json_t *body = jsonx_own(req->op.mem, json_pack("{s:s*,s:s*,s:s,s:O*}", "issuer", home, "idpId",
                                                    idp_of_issuer(providers, home), "source",
                                                    home_source(&req->op, providers, home),
                                                    "consequences", told));
    return respond_json(req, 200, body);
}

enum az_status
home_issuer_get_handle(struct request *req)
{
    const struct identity_providers *providers;
    enum az_status st = identity_providers_get(&req->op, true, &providers);
    return st == AZ_OK ? respond_home(req, providers, NULL) : st;
}

/* Change it, and tell the consequences. */
static enum az_status
change_home(struct request *req, const char *idp_id)
{
    struct op *op = &req->op;
    const struct identity_providers *providers;
    bool done = false;
    int64_t people = 0;
    enum az_status st = identity_providers_get(op, true, &providers);
    const char *before = st == AZ_OK ? subject_home(op, providers, NULL) : NULL;
    if (st == AZ_OK && before != NULL)
        st = home_issuer_people(op, before, &people);
    if (st == AZ_OK)
        st = home_issuer_set(op, idp_id, &done);
    if (st == AZ_OK && !done)
        return op_fail(op, AZ_NOT_FOUND, "There is no enabled identity provider with this idpId",
                       NULL);
    if (st == AZ_OK)
        st = identity_providers_get(op, true, &providers);
    if (st != AZ_OK)
        return st;
    return respond_home(req, providers, consequences(op, before, providers->home, people));
}

enum az_status
home_issuer_put_handle(struct request *req)
{
    struct home_issuer given = {.idp_id = NULL};
    fields_read(req->op.mem, &home_issuer_table, req->json, request_field_fault, req, &given, NULL);
    if (req->error_body != NULL || req->op.fault.status != AZ_OK)
        return op_fail(&req->op, AZ_INVALID_FIELDS, NULL, NULL);
    req->audit.summary =
        jsonx_dump(req->op.mem, jsonx_own(req->op.mem, json_pack("{s:s}", "idpId", given.idp_id)));
    if (req->op.az->cfg->subject_home_issuer != NULL)
        return op_fail(&req->op, AZ_CONFLICT,
                       "SVC_SUBJECT_HOME_ISSUER is set and decides; change or remove it there",
                       NULL);
    return change_home(req, given.idp_id);
}
