#include "config.h"

#include "oidc/home.h"

#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "http/header_value.h"
#include "http/page/page.h"

enum az_status
home_handle(struct request *req)
{
    const char *issuer = req->op.az->cfg->oidc_issuer;
    if (!header_prefers_html(request_header(req, "HTTP_ACCEPT")))
        return op_fail(&req->op, AZ_NOT_FOUND, NULL, NULL);
    const char *discovery =
        talloc_asprintf(req->op.mem, "%s/.well-known/openid-configuration", issuer);
    const char *health = talloc_asprintf(req->op.mem, "%s/health", issuer);
    json_t *values =
        jsonx_own(req->op.mem, json_pack("{s:s,s:s,s:s}", "issuer", issuer, "discovery_href",
                                         discovery, "health_href", health));
    if (values == NULL)
        return op_fail(&req->op, AZ_SERVER_ERROR, NULL, "out of memory");
    return respond_page(req, 200, "home", values, NULL);
}
