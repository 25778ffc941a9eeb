#include "config.h"

#include "oidc/home.h"

#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "http/header_value.h"
#include "http/page/page.h"

/* A link of the page: a path of this service, and if it is served. */
struct home_link {
    const char *name, *path;
    bool served;
};

enum az_status
home_handle(struct request *req)
{
    const struct settings *cfg = req->op.az->cfg;
    const struct home_link links[] = {
        {"discovery_href",   "/.well-known/openid-configuration", true                },
        {"health_href",      "/health",                           true                },
        {"reader_href",      "/swagger-ui/",                      cfg->swagger_enabled},
        {"account_href",     "/account",                          true                },
        {"connections_href", "/gateway/connect",                  cfg->gateway_enabled},
    };
    if (!header_prefers_html(request_header(req, "HTTP_ACCEPT")))
        return op_fail(&req->op, AZ_NOT_FOUND, NULL, NULL);
    struct jsonx_build values = {
        jsonx_own(req->op.mem, json_pack("{s:s}", "issuer", cfg->oidc_issuer)), false};
    for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
        const char *href = talloc_asprintf(req->op.mem, "%s%s", cfg->oidc_issuer, links[i].path);
        if (links[i].served)
            jsonx_set(&values, links[i].name, json_string(href));
    }
    if (jsonx_built(&values) == NULL)
        return op_no_memory(&req->op);
    return respond_page(req, 200, "home", values.value, NULL);
}
