#include "config.h"

#include "http/serve/way.h"

#include <string.h>
#include <strings.h>

#include "base/network.h"
#include "base/settings/settings.h"
#include "http/address.h"
#include "http/route.h"

static const char *
variable(const struct request *req, const char *name)
{
    const char *value = req->io->variable(req->io, name);
    return value != NULL && *value != '\0' ? value : NULL;
}

/* True if the caller sent a header. One that came under two names is "" (accept_fastcgi.c). */
static bool
has_header(const struct request *req, const char *name)
{
    return req->io->variable(req->io, name) != NULL;
}

/* True if a proxy that SVC_TRUSTED_PROXY_COUNT counts passed the request on. */
static bool
came_by_trusted_proxy(const struct request *req)
{
    return req->op.az->cfg->trusted_proxy_count > 0 && has_header(req, "HTTP_X_FORWARDED_FOR");
}

/* Refuse an invalid address: all requests with such an address would share a rate limit, and no
 * rule about addresses would apply to them. */
static enum az_status
check_address(struct request *req)
{
    if (req->ip != NULL || came_by_trusted_proxy(req) || variable(req, "REMOTE_ADDR") == NULL)
        return AZ_OK;
    return op_fail(&req->op, AZ_INVALID_REQUEST, NULL,
                   "the web server passes a REMOTE_ADDR that is no IPv4 or IPv6 address");
}

/* True if the path is this one or below it. */
static bool
is_below(const char *path, const char *base)
{
    size_t length = strlen(base);
    return strncmp(path, base, length) == 0 && (path[length] == '\0' || path[length] == '/');
}

/* True if the caller is on this host. What a proxy passed on may come from anywhere, unless the
 * proxy is one that is trusted to say. */
static bool
is_local(const struct request *req)
{
    bool passed_on = has_header(req, "HTTP_X_FORWARDED_FOR") || has_header(req, "HTTP_FORWARDED");
    return network_is_loopback(req->ip) && (!passed_on || came_by_trusted_proxy(req));
}

static enum az_status
check_network(struct request *req)
{
    const struct settings *cfg = req->op.az->cfg;
    bool admin = is_below(req->path, "/admin");
    if (cfg->allow_insecure_dev_key && (admin || is_below(req->path, "/bundles")) && !is_local(req))
        return op_fail(&req->op, AZ_FOREIGN_NETWORK,
                       "SVC_ALLOW_INSECURE_DEV_KEY opens this to callers on the same host alone",
                       NULL);
    if (admin && !settings_is_blank(cfg->admin_networks)
        && !network_list_has(cfg->admin_networks, req->ip))
        return op_fail(&req->op, AZ_FOREIGN_NETWORK, NULL, "not in SVC_ADMIN_NETWORKS");
    return AZ_OK;
}

/* True if the trusted proxy that is furthest away got the request by https: the entry of
 * X-Forwarded-Proto that many from the right as there are such proxies, or the leftmost one, as a
 * proxy that replaces the header leaves one entry. */
static bool
proxy_says_https(const struct request *req)
{
    const char *list = variable(req, "HTTP_X_FORWARDED_PROTO");
    if (list == NULL || !came_by_trusted_proxy(req))
        return false;
    const char *end = list + strlen(list), *start = end;
    for (long i = 0; i < req->op.az->cfg->trusted_proxy_count; i++) {
        if (i > 0 && start == list)
            break;
        end = i > 0 ? start - 1 : end;
        for (start = end; start > list && start[-1] != ',';)
            start--;
    }
    start += strspn(start, " \t");
    size_t length = strcspn(start, ", \t");
    return length == 5 && strncasecmp(start, "https", 5) == 0;
}

/* True if the web server got the request by https. Callers cannot set these variables: the names of
 * their fields begin with HTTP_. */
static bool
came_by_https(const struct request *req)
{
    const char *scheme = variable(req, "REQUEST_SCHEME"), *https = variable(req, "HTTPS");
    return (scheme != NULL && strcasecmp(scheme, "https") == 0)
           || (https != NULL && strcasecmp(https, "off") != 0);
}

/* A client that sends its key in clear must notice before anybody else does, so it gets no answer
 * that helps (decisions.md "Plain HTTP"). */
static enum az_status
check_scheme(struct request *req)
{
    const struct settings *cfg = req->op.az->cfg;
    if (!settings_issuer_is_https(cfg) || req->route->in_clear || came_by_https(req))
        return AZ_OK;
    const char *peer = address_of_client(req->op.mem, variable(req, "REMOTE_ADDR"), NULL, 0);
    if ((network_is_loopback(peer) && !came_by_trusted_proxy(req))
        || (!settings_is_blank(cfg->plain_http_networks)
            && network_list_has(cfg->plain_http_networks, peer))
        || (!req->route->about_another && proxy_says_https(req)))
        return AZ_OK;
    return op_fail(&req->op, AZ_PLAIN_HTTP, NULL,
                   "by http although SVC_OIDC_ISSUER is https; a proxy that ends TLS sends "
                   "X-Forwarded-Proto and is counted in SVC_TRUSTED_PROXY_COUNT, or its network is "
                   "in SVC_PLAIN_HTTP_NETWORKS");
}

enum az_status
way_check(struct request *req)
{
    if (req->op.az->by_operator != NULL)
        return AZ_OK;
    enum az_status st = check_address(req);
    if (st == AZ_OK)
        st = check_network(req);
    return st == AZ_OK ? check_scheme(req) : st;
}
