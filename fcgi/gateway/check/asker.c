#include "config.h"

#include "gateway/check/asker.h"

#include <string.h>

#include "base/log.h"
#include "base/settings/settings.h"
#include "gateway/check/shape.h"
#include "http/address.h"
#include "http/shared.h"
#include "oauth/client_auth/client_auth.h"
#include "store/clients/clients.h"

#define CREDENTIAL_FIELD "HTTP_X_AUTHZ_PROXY_AUTHORIZATION"

static enum az_status
refuse_proxy(struct request *req)
{
    const char *why = req->op.fault.detail;
    req->challenge = NULL;
    log_text(AZ_SEV_WARN, "gateway", "/auth/check: the credential of the web server: %s",
             why != NULL ? why : "refused");
    az_fault_clear(&req->op.fault);
    return op_fail(&req->op, AZ_FORBIDDEN, "X-Authz-Proxy-Authorization is missing or wrong",
                   "the web server has no good credential");
}

/* Note the address of the caller. `trusted`: entries of X-Forwarded-For that the web server vouches
 * for; if it does not send the field, the caller has no address. */
static void
note_address(struct request *req, long trusted)
{
    const char *forwarded = req->io->variable(req->io, "HTTP_X_FORWARDED_FOR");
    req->ip = address_of_client(req->op.mem, req->io->variable(req->io, "REMOTE_ADDR"),
                                forwarded != NULL ? forwarded : "", trusted);
    req->op.address = req->ip;
}

/* True if the web server shows who it is by the rights of the socket that it asks on. */
static bool
is_on_socket(const struct request *req)
{
    const struct check_shape *shape = req->route->arg;
    const char *socket = req->io->variable(req->io, HTTP_IO_SOCKET);
    return shape->direct && req->op.az->cfg->check_socket_client != NULL && socket != NULL
           && strcmp(socket, "unix") == 0 && req->io->variable(req->io, CREDENTIAL_FIELD) == NULL;
}

/* True if the client may ask as a web server. */
static bool
may_ask(const struct client *client)
{
    return client != NULL && client->enabled && !client_is_public(client);
}

/* Take the client that SVC_CHECK_SOCKET_CLIENT names. A remembered row refuses nothing: the client
 * may have been enabled since. */
static enum az_status
take_socket_client(struct request *req, bool fresh)
{
    struct client *client = NULL;
    const char *id = req->op.az->cfg->check_socket_client;
    bool remembered = !fresh && client_is_cached(&req->op, id);
    enum az_status st = client_fetch(&req->op, id, fresh, &client);
    if (st == AZ_OK && remembered && !may_ask(client))
        st = client_fetch(&req->op, id, true, &client);
    if (st != AZ_OK)
        return st;
    if (!may_ask(client))
        return op_fail(&req->op, AZ_INVALID_CLIENT, NULL,
                       "SVC_CHECK_SOCKET_CLIENT names no enabled confidential client: %s", id);
    req->client = client;
    req->client_method = "none";
    req->proved = true;
    return AZ_OK;
}

enum az_status
asker_take(struct request *req, bool fresh)
{
    enum az_status st = is_on_socket(req) ? take_socket_client(req, fresh)
                                          : client_authenticate_by(req, CREDENTIAL_FIELD, fresh);
    return st == AZ_INVALID_CLIENT ? refuse_proxy(req) : st;
}

/*
 * Count the question for the address of its caller. An address that is the web server's own is not
 * counted: one caller would take the turns of all others. Callers without an address share one
 * counter.
 */
static enum az_status
count_caller(struct request *req, bool known)
{
    const struct settings *cfg = req->op.az->cfg;
    long retry_after = 0;
    if (!known || !cfg->rate_limit_enabled || cfg->check_rate_limit == 0
        || req->op.az->shared == NULL
        || shared_check_admit(req->op.az->shared, req->ip, op_now(&req->op), cfg->rate_limit_window,
                              cfg->check_rate_limit, &retry_after))
        return AZ_OK;
    respond_header(req, "Retry-After", talloc_asprintf(req->op.mem, "%ld", retry_after));
    return op_fail(&req->op, AZ_TOO_MANY_REQUESTS, NULL,
                   "SVC_CHECK_RATE_LIMIT_REQUESTS: too many requests of one caller");
}

/* X-Forwarded-For counts when the credential was good, and not before: anyone can send it. */
static enum az_status
authenticate(struct request *req)
{
    const struct check_shape *shape = req->route->arg;
    long entries = req->op.az->cfg->check_proxy_count;
    note_address(req, 0);
    enum az_status st = asker_take(req, false);
    if (st == AZ_OK && !shape->direct)
        note_address(req, entries);
    return st == AZ_OK ? count_caller(req, shape->direct || entries > 0) : st;
}

const struct route_credential credential_check = {
    .check = authenticate,
    .schemes = (const char *const[]){"proxy", NULL},
};
