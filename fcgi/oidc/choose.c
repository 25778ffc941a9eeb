#include "config.h"

#include "oidc/choose.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/query.h"
#include "base/uri.h"
#include "base/visible.h"
#include "http/page/page.h"
#include "oidc/authorize_link.h"
#include "oidc/describe.h"
#include "oidc/upstream/upstream_fault.h"

const char *
choose_href(struct request *req, const struct authorization *authorization, const char *idp_id)
{
    const struct query_pair hint = {"idp_hint", idp_id};
    return authorization->own_page
               ? query_append(req->op.mem, authorization->redirect_uri, &hint, 1)
               : authorize_link(req, authorization, idp_id);
}

/* Return the name of the client that asks; NULL: a page of ours does. */
static const char *
asking_name(const struct client *client)
{
    if (client == NULL)
        return NULL;
    return client->name != NULL && visible_fault(client->name) == NULL ? client->name
                                                                       : client->client_id;
}

/* Return the host of the provider's issuer, which people may know better than its name. */
static const char *
provider_host(struct request *req, const struct identity_provider *provider)
{
    struct uri uri;
    return provider->issuer != NULL && uri_parse(req->op.mem, provider->issuer, &uri) == AZ_OK
               ? uri.host
               : NULL;
}

static const char *
provider_name(const struct identity_provider *provider)
{
    return provider->name != NULL ? provider->name : provider->idp_id;
}

/* Add links to `providers` but the one that is left out (or NULL). The page has links and no form:
 * the provider may be anywhere, and form-action would block that. */
static enum az_status
add_choices(struct request *req, const struct authorization *authorization,
            const struct identity_provider *const *providers, size_t count,
            const struct identity_provider *without, struct jsonx_build *values)
{
    struct jsonx_build list = {json_array(), false};
    json_t *logos;
    enum az_status st = identity_provider_logos(&req->op, &logos);
    for (size_t i = 0; i < count && st == AZ_OK; i++) {
        if (without != NULL && strcmp(providers[i]->idp_id, without->idp_id) == 0)
            continue;
        const char *url = choose_href(req, authorization, providers[i]->idp_id);
        /* Only a posted form can be so long. */
        if (url != NULL && !request_target_fits(url)) {
            json_decref(list.value);
            return op_fail(
                &req->op, AZ_INVALID_REQUEST,
                "The request is too long for the page that offers the identity providers", NULL);
        }
        json_t *choice = json_pack("{s:s,s:s*,s:s*,s:O*}", "name", provider_name(providers[i]),
                                   "host", provider_host(req, providers[i]), "href", url, "logo",
                                   json_object_get(logos, providers[i]->idp_id));
        list.lost |= url == NULL;
        jsonx_append(&list, choice);
    }
    values->lost |= list.lost;
    jsonx_set(values, "providers", list.value);
    if (st != AZ_OK)
        return st;
    return values->lost ? op_no_memory(&req->op) : AZ_OK;
}

static struct jsonx_build
begin_values(struct request *req)
{
    struct jsonx_build values = {jsonx_own(req->op.mem, json_object()), false};
    const char *name = asking_name(req->client);
    if (name != NULL)
        jsonx_set(&values, "client_name", json_string(name));
    return values;
}

enum az_status
choose_respond(struct request *req, const struct authorization *authorization,
               const struct identity_provider *const *providers, size_t count)
{
    struct jsonx_build values = begin_values(req);
    if (req->client != NULL)
        describe_links(req, req->client, &values);
    enum az_status st = add_choices(req, authorization, providers, count, NULL, &values);
    return st == AZ_OK ? respond_page(req, 200, "choose", jsonx_built(&values), NULL) : st;
}

void
choose_another(struct request *req, const struct authorization *authorization,
               const struct identity_provider *away)
{
    struct az_fault fault = req->op.fault;
    const struct identity_providers *list = NULL;
    struct jsonx_build values = begin_values(req);
    const struct identity_provider **enabled = NULL;
    const char *code = fault.status == AZ_PROVIDER_SETUP ? req->op.provider_fault : NULL;
    size_t count = 0;
    if (code != NULL)
        upstream_fault_note(&req->op, away, code);
    if (identity_providers_get(&req->op, true, &list) == AZ_OK)
        enabled =
            talloc_array(req->op.mem, const struct identity_provider *, (unsigned) list->count + 1);
    for (size_t i = 0; enabled != NULL && i < list->count; i++)
        if (list->provider[i].enabled)
            enabled[count++] = &list->provider[i];
    jsonx_set(&values, "provider", json_string(provider_name(away)));
    if (code != NULL)
        jsonx_set(&values, "fault", json_string(code));
    if (code != NULL && req->op.provider_claim != NULL)
        jsonx_set(&values, "fault_claim", json_string(req->op.provider_claim));
    const char *again = code == NULL ? choose_href(req, authorization, away->idp_id) : NULL;
    if (again != NULL && request_target_fits(again))
        jsonx_set(&values, "again_href", json_string(again));
    if (enabled != NULL && add_choices(req, authorization, enabled, count, away, &values) == AZ_OK)
        failure_show(req, "away", jsonx_built(&values));
    req->op.fault = fault;
}
