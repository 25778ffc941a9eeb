#include "config.h"

#include "gateway/link/credential.h"

#include <string.h>

#include "base/settings/settings.h"
#include "crypto/secret.h"
#include "gateway/link/need.h"
#include "gateway/link/provider.h"
#include "gateway/link/token.h"
#include "managed/auth.h"
#include "managed/managed.h"
#include "store/db/db.h"
#include "store/gateway/connections.h"
#include "store/gateway/registrations.h"

/* A token that ends within this time is refreshed first: a call may take that long. Seconds. */
#define REFRESH_EARLY 60
/* If the upstream refuses a token that is younger, another one will not help. Seconds. */
#define REFRESH_AGAIN 30

/* A wish on its way to a credential. */
struct wishing {
    struct op *op;
    const struct upstream_wish *wish;
    struct upstream_credential *ret;
    unsigned char binding[SHA256_OCTETS]; /* of the present configuration */
    struct connection connection;         /* as it is stored now */
    char *value;                          /* that it gives; secret */
};

static bool
is_oauth(const struct wishing *wishing)
{
    return wishing->wish->resource->auth.type == MANAGED_AUTH_OAUTH_LINK;
}

/* True if a connection may be used: the person need not do anything, and it was made with this
 * upstream and authorization server. */
static bool
is_usable(const struct connection *connection, const unsigned char binding[SHA256_OCTETS],
          bool oauth)
{
    const struct connection_secrets *secrets = &connection->secrets;
    return connection->found && connection->active
           && (oauth ? secrets->access_token : secrets->typed) != NULL
           && memcmp(connection->binding, binding, SHA256_OCTETS) == 0;
}

static enum az_status
make_value(struct wishing *wishing)
{
    const struct connection_secrets *secrets = &wishing->connection.secrets;
    wishing->value =
        upstream_credential_value(wishing->op, wishing->wish->resource->auth.scheme,
                                  is_oauth(wishing) ? secrets->access_token : secrets->typed);
    return wishing->value != NULL ? AZ_OK
                                  : op_fail(wishing->op, AZ_SERVER_ERROR, NULL, "out of memory");
}

static enum az_status
give(struct wishing *wishing)
{
    const struct managed_auth *auth = &wishing->wish->resource->auth;
    wishing->ret->header = auth->query == NULL ? auth->header : NULL;
    wishing->ret->query = auth->query;
    wishing->ret->value = wishing->value;
    wishing->ret->renewable = wishing->connection.secrets.refresh_token != NULL;
    return AZ_OK;
}

static enum az_status
refuse_user(struct op *op, const struct upstream_wish *wish)
{
    return op_fail(op, AZ_USER_REQUIRED, NULL, "managed resource %s: the token names no person",
                   wish->resource->name);
}

/* Answer with the link that the person must open. */
static enum az_status
need(struct wishing *wishing, json_t *missing)
{
    struct op *op = wishing->op;
    const struct upstream_caller *caller = wishing->wish->caller;
    const struct link_wanted wanted = {
        .resource = wishing->wish->resource,
        .subject = caller->subject,
        .client_id = caller->client_id != NULL ? caller->client_id : "",
        .return_to = "",
        .flow_id = caller->flow_id,
    };
    struct upstream_link *link = &wishing->ret->link;
    bool found = false;
    enum az_status st = link_need(op, &wanted, &found, &link->url, &link->expires_in);
    if (st != AZ_OK)
        return st;
    if (!found)
        return refuse_user(op, wishing->wish);
    link->missing_scopes = missing;
    link_count(op, wanted.resource, "needed");
    return op_fail(op, AZ_LINK_REQUIRED, NULL, "managed resource %s: %s", wanted.resource->name,
                   missing != NULL ? "the connection lacks upstream scopes"
                                   : "the person has no connection that works");
}

/* Note that the connection does not work any more, and ask for a new one. */
static enum az_status
lose(struct wishing *wishing, const char *why)
{
    enum az_status st = connection_fail(wishing->op, wishing->connection.id, true, why);
    if (st != AZ_OK)
        return st;
    link_count(wishing->op, wishing->wish->resource, "lost");
    return need(wishing, NULL);
}

/* ---- refreshing */

/* Store what the refresh brought; a refresh token that does not come again stays good
 * (RFC 6749 6). */
static enum az_status
keep(struct wishing *wishing, const struct link_tokens *tokens)
{
    const struct connection *old = &wishing->connection;
    const struct connection_new renewed = {
        .subject = wishing->wish->caller->subject,
        .idp = old->idp,
        .resource = wishing->wish->resource->name,
        .secrets = {.access_token = tokens->access_token,
                    .refresh_token = tokens->refresh_token != NULL ? tokens->refresh_token
                                                                   : old->secrets.refresh_token,
                    .issuer = old->secrets.issuer},
        .scopes = tokens->scopes,
        .expires_in = tokens->expires_in,
    };
    enum az_status st = connection_renew(wishing->op, old, &renewed);
    wishing->connection.secrets = renewed.secrets;
    return st == AZ_OK ? make_value(wishing) : st;
}

/* The outcome of a refresh, under the lock. */
struct refreshed {
    enum az_status st; /* of the request to the token endpoint */
    enum link_outcome outcome;
    bool lost;       /* the person must connect again */
    const char *why; /* for the row; NULL: it worked */
};

/* Ask for new tokens. The row is locked, so that a refresh token that may be used once is used once
 * (RFC 9700 4.14). */
static void
ask(struct wishing *wishing, const struct link_provider *provider, struct refreshed *ret)
{
    struct link_tokens tokens;
    const char *error = "";
    const struct link_grant grant = {.refresh_token = wishing->connection.secrets.refresh_token};
    ret->st = link_tokens_get(wishing->op, wishing->wish->resource, provider, &grant, &ret->outcome,
                              &tokens, &error);
    if (ret->st == AZ_OK && ret->outcome == LINK_TOKENS) {
        ret->st = keep(wishing, &tokens);
        return;
    }
    ret->lost = ret->st == AZ_OK
                && (ret->outcome == LINK_GRANT_REFUSED
                    || (ret->outcome == LINK_CLIENT_REFUSED && provider->registered));
    ret->why = ret->st != AZ_OK ? "the token endpoint did not answer"
               : *error != '\0' ? error
                                : "the answer of the token endpoint cannot be used";
}

/* Note a refresh that failed, in the open transaction, and end that. */
static enum az_status
note(struct wishing *wishing, const struct link_provider *provider, const struct refreshed *done)
{
    enum az_status st = AZ_OK;
    if (done->why != NULL)
        st = connection_fail(wishing->op, wishing->connection.id, done->lost, done->why);
    if (st == AZ_OK && done->lost && done->outcome == LINK_CLIENT_REFUSED)
        st = registration_forget(wishing->op, wishing->wish->resource->name, provider->client_id);
    return db_end(wishing->op, st);
}

/* Answer after a refresh. `works`: the token that we have has not ended yet, so a token endpoint
 * that fails now does no harm. */
static enum az_status
answer_refresh(struct wishing *wishing, const struct refreshed *done, bool works)
{
    const struct managed_resource *resource = wishing->wish->resource;
    if (done->why == NULL && done->st == AZ_OK)
        return give(wishing);
    link_count(wishing->op, resource, done->lost ? "lost" : "refresh_failed");
    if (done->lost)
        return need(wishing, NULL);
    if (works) {
        az_fault_clear(&wishing->op->fault);
        return give(wishing);
    }
    if (done->st != AZ_OK)
        return done->st;
    return op_fail(
        wishing->op, done->outcome == LINK_CLIENT_REFUSED ? AZ_UPSTREAM_AUTH : AZ_UPSTREAM_INVALID,
        NULL, "managed resource %s: a token cannot be refreshed: %s", resource->name, done->why);
}

/* Refresh under the lock, unless another request has done so since the connection was read. */
static enum az_status
refresh(struct wishing *wishing, bool refused)
{
    struct op *op = wishing->op;
    const struct upstream_wish *wish = wishing->wish;
    struct link_provider provider;
    struct refreshed done = {.st = AZ_OK};
    const char *before = wishing->value;
    enum az_status st = link_provider_get(op, wish->resource, wish->secrets, &provider);
    if (st == AZ_OK)
        st = connection_lock(op, wishing->connection.id, wish->caller->subject,
                             wish->resource->name, &wishing->connection);
    if (st != AZ_OK)
        return st;
    /* An upstream that names another authorization server must not get there what the first one
     * gave: its refresh token may be good for more than this upstream (RFC 9700 4.4). */
    bool usable = is_usable(&wishing->connection, wishing->binding, true)
                  && link_is_issuer(&provider, wishing->connection.secrets.issuer);
    st = usable ? make_value(wishing) : AZ_OK;
    bool changed = usable && st == AZ_OK && strcmp(before, wishing->value) != 0;
    bool young = wishing->connection.refreshed_at > op_now(op) - REFRESH_AGAIN;
    if (st != AZ_OK || !usable || changed || wishing->connection.secrets.refresh_token == NULL
        || (refused && young)) {
        st = db_end(op, st);
        if (st != AZ_OK || changed)
            return st == AZ_OK ? give(wishing) : st;
        return usable ? lose(wishing, "the upstream refuses a new token") : need(wishing, NULL);
    }
    ask(wishing, &provider, &done);
    if ((st = note(wishing, &provider, &done)) != AZ_OK)
        return st;
    if (done.st == AZ_OK && done.why == NULL)
        link_count(op, wish->resource, "refreshed");
    return answer_refresh(wishing, &done, !refused && wishing->connection.expires_at > op_now(op));
}

/* ---- the credential */

static enum az_status
link_find(struct wishing *wishing)
{
    const struct upstream_wish *wish = wishing->wish;
    enum az_status st = link_binding(wishing->op, wish->resource, wishing->binding);
    return st == AZ_OK ? connection_find(wishing->op, wish->caller->subject, wish->resource->name,
                                         &wishing->connection)
                       : st;
}

static enum az_status
link_choose(struct wishing *wishing)
{
    const struct upstream_wish *wish = wishing->wish;
    const struct connection *connection = &wishing->connection;
    int64_t now = op_now(wishing->op);
    json_t *missing =
        is_oauth(wishing)
            ? link_scopes_missing(wishing->op->mem, wish->resource->auth.scopes, connection->scopes)
            : NULL;
    if (is_oauth(wishing) && missing == NULL)
        return op_fail(wishing->op, AZ_SERVER_ERROR, NULL, "out of memory");
    if (json_array_size(missing) > 0)
        return need(wishing, missing);
    enum az_status st = make_value(wishing);
    if (st != AZ_OK)
        return st;
    bool refused = wish->refused != NULL && strcmp(wish->refused, wishing->value) == 0;
    bool ends = connection->expires_at != 0 && connection->expires_at - now < REFRESH_EARLY;
    bool over = connection->expires_at != 0 && connection->expires_at <= now;
    if (!refused && !ends)
        return give(wishing);
    if (connection->secrets.refresh_token != NULL)
        return refresh(wishing, refused);
    if (!refused && !over)
        return give(wishing);
    return lose(wishing, refused ? "the upstream refuses the credential"
                                 : "the access token has expired, and there is no refresh token");
}

enum az_status
link_credential(struct op *op, const struct upstream_wish *wish, struct upstream_credential *ret)
{
    struct wishing wishing = {.op = op, .wish = wish, .ret = ret};
    *ret = (struct upstream_credential){.caller_bound = true};
    if (wish->caller == NULL || wish->caller->subject == NULL)
        return refuse_user(op, wish);
    enum az_status st = link_find(&wishing);
    if (st != AZ_OK)
        return st;
    if (!wishing.connection.person)
        return refuse_user(op, wish);
    return is_usable(&wishing.connection, wishing.binding, is_oauth(&wishing))
               ? link_choose(&wishing)
               : need(&wishing, NULL);
}

enum az_status
link_is_linked(struct op *op, const struct upstream_caller *caller,
               const struct managed_resource *resource, bool *ret)
{
    const struct upstream_wish wish = {.resource = resource, .caller = caller};
    struct wishing wishing = {.op = op, .wish = &wish};
    *ret = false;
    if (caller == NULL || caller->subject == NULL)
        return AZ_OK;
    enum az_status st = link_find(&wishing);
    *ret = st == AZ_OK && is_usable(&wishing.connection, wishing.binding, is_oauth(&wishing));
    return st;
}

enum az_status
link_are_linked(struct op *op, const struct upstream_caller *caller,
                const struct managed_resource *const *resources, size_t count, bool *ret)
{
    const char **names = talloc_array(op->mem, const char *, (unsigned) count + 1);
    struct connection *connections = talloc_array(op->mem, struct connection, (unsigned) count + 1);
    size_t *place = talloc_array(op->mem, size_t, (unsigned) count + 1), wanted = 0;
    if (names == NULL || connections == NULL || place == NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory for %zu connections", count);
    for (size_t i = 0; i < count; i++) {
        ret[i] = false;
        if (managed_auth_is_linked(resources[i]->auth.type)) {
            names[wanted] = resources[i]->name;
            place[wanted++] = i;
        }
    }
    if (wanted == 0 || caller->subject == NULL)
        return AZ_OK;
    enum az_status st = connections_find(op, caller->subject, names, wanted, connections);
    for (size_t i = 0; st == AZ_OK && i < wanted; i++) {
        const struct managed_resource *resource = resources[place[i]];
        unsigned char binding[SHA256_OCTETS];
        st = link_binding(op, resource, binding);
        ret[place[i]] =
            st == AZ_OK
            && is_usable(&connections[i], binding, resource->auth.type == MANAGED_AUTH_OAUTH_LINK);
    }
    return st;
}
