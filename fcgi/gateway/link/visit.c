#include "config.h"

#include "gateway/link/visit.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/query.h"
#include "base/settings/settings.h"
#include "base/uri.h"
#include "gateway/link/need.h"
#include "gateway/link/provider.h"
#include "managed/auth.h"
#include "store/gateway/resources.h"

const char *
link_page_href(struct request *req, const char *path)
{
    return talloc_asprintf(req->op.mem, "%s/gateway%s", req->op.az->cfg->oidc_issuer, path);
}

void
link_visit_note(struct request *req, const struct link_visit *visit, const char *result)
{
    const struct link_request *link = &visit->link;
    json_t *summary = jsonx_own(
        req->op.mem, json_pack("{s:s*,s:s}", "resource",
                               visit->resource != NULL ? visit->resource->name : link->resource,
                               "link", result));
    req->audit.summary = summary != NULL ? jsonx_dump(req->op.mem, summary) : NULL;
    if (link->found && *link->client_id != '\0')
        req->audit.client_id = link->client_id;
    if (link->found)
        req->audit.flow_id = link->flow_id;
}

/*
 * Refuse a link that belongs to another person: an attacker has sent his own link to a victim,
 * whose account would then serve him (MCP: URL mode elicitation, phishing). The GET leaves an audit
 * row, and the link stays as it is.
 */
static enum az_status
link_refuse_other(struct request *req, const struct link_visit *visit)
{
    link_visit_note(req, visit, "link_subject_mismatch");
    request_fill_audit(req, az_status_row(AZ_LINK_OTHER)->http, "rejected");
    enum az_status st = audit_insert(&req->op, &req->audit);
    if (st != AZ_OK)
        return st;
    req->audited = true;
    return op_fail(&req->op, AZ_LINK_OTHER, NULL, "the link belongs to another subject");
}

enum az_status
link_visit_resource(struct request *req, const char *name, const struct managed_resource **ret)
{
    enum az_status st = resource_find(&req->op, name, ret);
    if (st == AZ_OK
        && (*ret == NULL || !(*ret)->enabled || !managed_auth_is_linked((*ret)->auth.type)))
        return op_fail(&req->op, AZ_LINK_INVALID, "There is no such application to connect",
                       "managed resource %.64s is missing, disabled, or has no accounts of people",
                       name);
    return st;
}

enum az_status
link_visit_check(struct request *req, struct link_visit *visit)
{
    const struct link_request *link = &visit->link;
    if (!link->found)
        return op_fail(&req->op, AZ_LINK_INVALID, NULL, "the link has no row");
    if (strcmp(link->subject, visit->session.subject) != 0 || link->idp != visit->session.idp)
        return link_refuse_other(req, visit);
    return link_visit_resource(req, link->resource, &visit->resource);
}

enum az_status
link_visit_secrets(struct request *req, struct link_visit *visit)
{
    return resource_secrets(&req->op, visit->resource, &visit->secrets);
}

enum az_status
link_visit_provider(struct request *req, struct link_visit *visit, struct link_provider *ret)
{
    enum az_status st = link_visit_secrets(req, visit);
    if (st == AZ_OK)
        st = link_provider_get(&req->op, visit->resource, visit->secrets, visit->link.made_ms, ret);
    return st == AZ_OK ? link_provider_scopes(&req->op, visit->resource, ret, &visit->link.scopes)
                       : st;
}

enum az_status
link_visit_leave(struct request *req, const struct link_visit *visit, const char *answered)
{
    const struct query_pair pair = {"answered", answered};
    const char *back = visit->link.return_to, *url = NULL;
    struct uri uri;
    if (*back != '\0' && link_return_is_ours(req->op.mem, back)
        && uri_parse(req->op.mem, req->op.az->cfg->oidc_issuer, &uri) == AZ_OK)
        url = talloc_asprintf(req->op.mem, "%s%s", uri_origin(req->op.mem, &uri), back);
    else
        url = query_append(req->op.mem, link_page_href(req, "/connect"), &pair, 1);
    return url != NULL ? respond_see_other(req, url) : op_no_memory(&req->op);
}
