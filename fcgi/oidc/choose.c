#include "config.h"

#include "oidc/choose.h"

#include "base/json/jsonx.h"
#include "base/query.h"
#include "base/visible.h"
#include "http/page/page.h"
#include "oidc/authorize_link.h"
#include "oidc/describe.h"

/* Return the link of a choice. */
static const char *
choice_href(struct request *req, const struct authorization *authorization, const char *idp_id)
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

/* The page has links and no form: the provider may be anywhere, and form-action would block that.
 */
enum az_status
choose_respond(struct request *req, const struct authorization *authorization,
               const struct identity_provider *const *providers, size_t count)
{
    struct jsonx_build list = {json_array(), false};
    struct jsonx_build values = {
        jsonx_own(req->op.mem, json_pack("{s:s*,s:o}", "client_name", asking_name(req->client),
                                         "providers", list.value)),
        false};
    if (req->client != NULL)
        describe_links(req, req->client, &values);
    for (size_t i = 0; i < count && values.value != NULL; i++) {
        const char *url = choice_href(req, authorization, providers[i]->idp_id);
        if (url == NULL)
            return op_fail(&req->op, AZ_SERVER_ERROR, NULL, "out of memory");
        /* Only a posted form can be so long. */
        if (!request_target_fits(url))
            return op_fail(
                &req->op, AZ_INVALID_REQUEST,
                "The request is too long for the page that offers the identity providers", NULL);
        jsonx_append(
            &list, json_pack("{s:s,s:s}", "name",
                             providers[i]->name != NULL ? providers[i]->name : providers[i]->idp_id,
                             "href", url));
    }
    return respond_page(req, 200, "choose", list.lost ? NULL : jsonx_built(&values), NULL);
}
