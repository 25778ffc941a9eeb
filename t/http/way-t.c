/* The way on which a request came: by http or https, from which network (decisions.md "Plain
 * HTTP"). */
#include "config.h"

#include "http/serve/way.h"

#include <string.h>

#include "env.h"
#include "http/address.h"
#include "http/route.h"
#include "tap.h"

/* A request and the settings that it meets. NULL: absent. */
struct way {
    const char *name;
    enum az_status status;
    const char *issuer, *path, *remote;
    const char *scheme, *https; /* of the web server */
    const char *forwarded_for, *forwarded_proto, *forwarded;
    long proxies;              /* SVC_TRUSTED_PROXY_COUNT */
    const char *plain, *admin; /* networks */
    bool in_clear, about_another, development, by_operator;
};

static const struct way *current;

static const char *
variable(const struct http_io *io, const char *name)
{
    const struct {
        const char *name, *value;
    } all[] = {
        {"REMOTE_ADDR",            current->remote         },
        {"REQUEST_SCHEME",         current->scheme         },
        {"HTTPS",                  current->https          },
        {"HTTP_X_FORWARDED_FOR",   current->forwarded_for  },
        {"HTTP_X_FORWARDED_PROTO", current->forwarded_proto},
        {"HTTP_FORWARDED",         current->forwarded      },
    };
    (void) io;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (strcmp(all[i].name, name) == 0)
            return all[i].value;
    return NULL;
}

#define SAFE "https://login.example.org"
#define LOCAL "http://localhost:8080"
#define FAR "203.0.113.9"
#define PROXY "192.0.2.1"

/* clang-format off */
static const struct way ways[] = {
    /* by http with an https issuer */
    {"https of the web server", AZ_OK, SAFE, "/token", FAR, "https", .proxies = 0},
    {"... HTTPS=on", AZ_OK, SAFE, "/token", FAR, NULL, .https = "on"},
    {"http from another host", AZ_PLAIN_HTTP, SAFE, "/token", FAR, "http", .proxies = 0},
    {"... HTTPS=off", AZ_PLAIN_HTTP, SAFE, "/token", FAR, "http", .https = "off"},
    {"... HTTPS empty", AZ_PLAIN_HTTP, SAFE, "/token", FAR, NULL, .https = ""},
    {"... to the admin API", AZ_PLAIN_HTTP, SAFE, "/admin/api/admin-keys", FAR, "http", .proxies = 0},
    {"... from IPv6", AZ_PLAIN_HTTP, SAFE, "/token", "2001:db8::1", "http", .proxies = 0},
    {"no word of the scheme", AZ_PLAIN_HTTP, SAFE, "/token", FAR, .proxies = 0},
    {"no address", AZ_PLAIN_HTTP, SAFE, "/token", NULL, "http", .proxies = 0},
    {"with an http issuer nothing is refused", AZ_OK, LOCAL, "/token", FAR, "http", .proxies = 0},
    {"loopback: the engine and tools of the host", AZ_OK, SAFE, "/bundles/svc", "127.0.0.1", "http", .proxies = 0},
    {"... of IPv6", AZ_OK, SAFE, "/bundles/svc", "::1", "http", .proxies = 0},
    {"... as IPv4 in IPv6", AZ_OK, SAFE, "/bundles/svc", "::ffff:127.0.0.1", "http", .proxies = 0},
    {"health, for probes", AZ_OK, SAFE, "/health/live", FAR, "http", .in_clear = true},
    /* proxies */
    {"a caller's own word does not count", AZ_PLAIN_HTTP, SAFE, "/token", FAR, "http", .forwarded_proto = "https"},
    {"... nor with an address", AZ_PLAIN_HTTP, SAFE, "/token", FAR, "http", .forwarded_proto = "https", .forwarded_for = "10.0.0.1"},
    {"a trusted proxy says https", AZ_OK, SAFE, "/token", PROXY, "http", .forwarded_for = FAR, .forwarded_proto = "https", .proxies = 1},
    {"... in capitals", AZ_OK, SAFE, "/token", PROXY, "http", .forwarded_for = FAR, .forwarded_proto = "HTTPS", .proxies = 1},
    {"... http", AZ_PLAIN_HTTP, SAFE, "/token", PROXY, "http", .forwarded_for = FAR, .forwarded_proto = "http", .proxies = 1},
    {"... nothing", AZ_PLAIN_HTTP, SAFE, "/token", PROXY, "http", .forwarded_for = FAR, .proxies = 1},
    {"... another word", AZ_PLAIN_HTTP, SAFE, "/token", PROXY, "http", .forwarded_for = FAR, .forwarded_proto = "httpsx", .proxies = 1},
    {"... of this host", AZ_OK, SAFE, "/token", "127.0.0.1", "http", .forwarded_for = FAR, .forwarded_proto = "https", .proxies = 1},
    {"... of this host, says http", AZ_PLAIN_HTTP, SAFE, "/token", "127.0.0.1", "http", .forwarded_for = FAR, .forwarded_proto = "http", .proxies = 1},
    {"... of this host, says nothing", AZ_PLAIN_HTTP, SAFE, "/token", "127.0.0.1", "http", .forwarded_for = FAR, .proxies = 1},
    {"past the proxy, without its header", AZ_PLAIN_HTTP, SAFE, "/token", FAR, "http", .forwarded_proto = "https", .proxies = 1},
    {"one entry, the caller's in front", AZ_PLAIN_HTTP, SAFE, "/token", PROXY, "http", .forwarded_for = FAR, .forwarded_proto = "https, http", .proxies = 1},
    {"two proxies: the outer one had https", AZ_OK, SAFE, "/token", PROXY, "http", .forwarded_for = FAR ", 10.0.0.1", .forwarded_proto = "https, http", .proxies = 2},
    {"... had http", AZ_PLAIN_HTTP, SAFE, "/token", PROXY, "http", .forwarded_for = FAR ", 10.0.0.1", .forwarded_proto = "http, https", .proxies = 2},
    {"... the inner one leaves one entry", AZ_OK, SAFE, "/token", PROXY, "http", .forwarded_for = FAR ", 10.0.0.1", .forwarded_proto = "https", .proxies = 2},
    {"... an entry of the caller's in front", AZ_PLAIN_HTTP, SAFE, "/token", PROXY, "http", .forwarded_for = FAR ", 10.0.0.1", .forwarded_proto = "https,http,http", .proxies = 2},
    {"a question of a web server: the scheme is of another request", AZ_PLAIN_HTTP, SAFE, "/auth/check", PROXY, "http", .forwarded_for = FAR, .forwarded_proto = "https", .proxies = 1, .about_another = true},
    {"... from a network that may", AZ_OK, SAFE, "/auth/check", PROXY, "http", .forwarded_for = FAR, .forwarded_proto = "http", .proxies = 1, .about_another = true, .plain = PROXY},
    {"SVC_PLAIN_HTTP_NETWORKS", AZ_OK, SAFE, "/bundles/svc", "172.31.0.9", "http", .plain = "10.0.0.0/8, 172.31.0.0/24"},
    {"... is about the connection", AZ_PLAIN_HTTP, SAFE, "/token", PROXY, "http", .forwarded_for = "10.0.0.9", .proxies = 1, .plain = "10.0.0.0/8"},
    {"... and of no other address", AZ_PLAIN_HTTP, SAFE, "/bundles/svc", "172.31.1.0", "http", .plain = "172.31.0.0/24"},
    {"... blank", AZ_PLAIN_HTTP, SAFE, "/token", FAR, "http", .plain = " "},
    /* SVC_ADMIN_NETWORKS */
    {"a network of administrators", AZ_OK, LOCAL, "/admin/api/clients", "192.0.2.9", "http", .admin = "192.0.2.0/24"},
    {"... another address", AZ_FOREIGN_NETWORK, LOCAL, "/admin/api/clients", FAR, "http", .admin = "192.0.2.0/24"},
    {"... by https, too", AZ_FOREIGN_NETWORK, SAFE, "/admin/session", FAR, "https", .admin = "192.0.2.0/24"},
    {"... /admin itself", AZ_FOREIGN_NETWORK, LOCAL, "/admin", FAR, "http", .admin = "192.0.2.0/24"},
    {"... no address", AZ_FOREIGN_NETWORK, LOCAL, "/admin/api/clients", NULL, "http", .admin = "0.0.0.0/0"},
    {"... other paths are for all", AZ_OK, LOCAL, "/token", FAR, "http", .admin = "192.0.2.0/24"},
    {"... also those that begin alike", AZ_OK, LOCAL, "/administrator", FAR, "http", .admin = "192.0.2.0/24"},
    {"... behind a proxy the client counts", AZ_FOREIGN_NETWORK, LOCAL, "/admin/api/clients", "192.0.2.1", "http", .forwarded_for = FAR, .proxies = 1, .admin = "192.0.2.0/24"},
    {"... and may be in it", AZ_OK, LOCAL, "/admin/api/clients", FAR, "http", .forwarded_for = "192.0.2.9", .proxies = 1, .admin = "192.0.2.0/24"},
    {"... the proxy's own entry is malformed", AZ_FOREIGN_NETWORK, LOCAL, "/admin/api/clients", "192.0.2.1", "http", .forwarded_for = "unknown", .proxies = 1, .admin = "192.0.2.0/24"},
    /* SVC_ALLOW_INSECURE_DEV_KEY */
    {"development: a caller of the host", AZ_OK, LOCAL, "/admin/api/admin-keys", "127.0.0.1", "http", .development = true},
    {"... another host", AZ_FOREIGN_NETWORK, LOCAL, "/admin/api/admin-keys", FAR, "http", .development = true},
    {"... the policy, by its published key", AZ_FOREIGN_NETWORK, LOCAL, "/bundles/svc", FAR, "http", .development = true},
    {"... passed on by a proxy that is not counted", AZ_FOREIGN_NETWORK, LOCAL, "/admin/api/admin-keys", "127.0.0.1", "http", .forwarded_for = "127.0.0.1", .development = true},
    {"... with the header of RFC 7239", AZ_FOREIGN_NETWORK, LOCAL, "/admin/api/admin-keys", "127.0.0.1", "http", .forwarded = "for=127.0.0.1", .development = true},
    {"... by one that is, for another host", AZ_FOREIGN_NETWORK, LOCAL, "/admin/api/admin-keys", "127.0.0.1", "http", .forwarded_for = FAR, .proxies = 1, .development = true},
    {"... by one that is, for this host", AZ_OK, LOCAL, "/admin/api/admin-keys", "127.0.0.1", "http", .forwarded_for = "127.0.0.1", .proxies = 1, .development = true},
    {"... no address", AZ_FOREIGN_NETWORK, LOCAL, "/admin/api/admin-keys", NULL, "http", .development = true},
    {"... tokens are for all", AZ_OK, LOCAL, "/token", FAR, "http", .development = true},
    /* REMOTE_ADDR */
    {"an address that is none", AZ_INVALID_REQUEST, LOCAL, "/token", "nonsense", "http", .proxies = 0},
    {"... of a file", AZ_INVALID_REQUEST, LOCAL, "/health/live", "/run/x.sock", "http", .in_clear = true},
    {"... 1.2.3", AZ_INVALID_REQUEST, SAFE, "/token", "1.2.3", "https", .proxies = 0},
    {"... behind a trusted proxy the client counts", AZ_OK, LOCAL, "/token", "nonsense", "http", .forwarded_for = FAR, .proxies = 1},
    {"... a header under two names is nobody's, and the caller is nobody", AZ_OK, LOCAL, "/token", "192.0.2.1", "http", .forwarded_for = "", .proxies = 1},
    {"... who is no administrator", AZ_FOREIGN_NETWORK, LOCAL, "/admin/api/clients", "192.0.2.1", "http", .forwarded_for = "", .proxies = 1, .admin = "0.0.0.0/0"},
    {"... nor local in development mode", AZ_FOREIGN_NETWORK, LOCAL, "/admin/api/clients", "127.0.0.1", "http", .forwarded_for = "", .development = true},
    {"... nor is the scheme known", AZ_PLAIN_HTTP, SAFE, "/token", "127.0.0.1", "http", .forwarded_for = "", .forwarded_proto = "https", .proxies = 2, .about_another = true},
    {"no address is a caller without one", AZ_OK, LOCAL, "/token", NULL, "http", .proxies = 0},
    {"... as is an empty one", AZ_OK, LOCAL, "/token", "", "http", .proxies = 0},
    {"the operator of the process", AZ_OK, SAFE, "/admin/api/clients", NULL, NULL, .admin = "192.0.2.0/24", .by_operator = true},
};
/* clang-format on */

static void
check(TALLOC_CTX *mem, const struct way *way)
{
    const struct az_operator by_operator = {.label = "test"};
    struct az *az = env_az(mem);
    struct settings *cfg = env_settings(az);
    struct route route = {
        .path = way->path, .in_clear = way->in_clear, .about_another = way->about_another};
    struct http_io io = {.variable = variable};
    struct request *req = talloc_zero(mem, struct request);
    cfg->oidc_issuer = way->issuer;
    cfg->trusted_proxy_count = way->proxies;
    cfg->plain_http_networks = way->plain;
    cfg->admin_networks = way->admin;
    cfg->allow_insecure_dev_key = way->development;
    az->by_operator = way->by_operator ? &by_operator : NULL;
    current = way;
    req->op = env_op(req, az);
    req->io = &io;
    req->route = &route;
    req->path = way->path;
    req->ip = address_of_client(req, way->remote, way->forwarded_for, way->proxies);
    is_int(way_check(req), way->status, "%s", way->name);
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
        check(mem, &ways[i]);
    talloc_free(mem);
    return done();
}
