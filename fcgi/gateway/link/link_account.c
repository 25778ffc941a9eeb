#include "config.h"

#include "gateway/link/link_account.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/words.h"
#include "client/answer.h"
#include "gateway/link/need.h"
#include "gateway/link/provider.h"
#include "gateway/link/refresh.h"
#include "managed/auth.h"
#include "managed/managed.h"
#include "store/gateway/connections.h"

/* A token that ends within this time is refreshed first: a call may take that long. Seconds. */
#define REFRESH_EARLY 60

/* The account of a caller at an upstream. */
struct account {
    struct op *op;
    const struct upstream_wish *wish;
    struct upstream_credential *ret;
    unsigned char binding[SHA256_OCTETS]; /* of the present configuration */
    struct connection connection;         /* as it is stored now */
};

static bool
is_oauth(const struct account *account)
{
    return account->wish->resource->auth.type == MANAGED_AUTH_OAUTH_LINK;
}

/* Return the whole value of the credential, or NULL: out of memory. */
static char *
account_value(const struct account *account)
{
    const struct connection_secrets *secrets = &account->connection.secrets;
    return upstream_credential_value(account->op, account->wish->resource->auth.scheme,
                                     is_oauth(account) ? secrets->access_token : secrets->typed);
}

/* Fill the credential with the secret of the connection. */
static enum az_status
fill_credential(struct account *account)
{
    const struct managed_auth *auth = &account->wish->resource->auth;
    account->ret->header = auth->query == NULL ? auth->header : NULL;
    account->ret->query = auth->query;
    account->ret->value = account_value(account);
    account->ret->renewable = account->connection.secrets.refresh_token != NULL;
    return account->ret->value != NULL ? AZ_OK : op_no_memory(account->op);
}

static enum az_status
refuse_user(struct op *op, const struct upstream_wish *wish)
{
    return op_fail(op, AZ_USER_REQUIRED, NULL, "managed resource %s: the token names no person",
                   wish->resource->name);
}

/* Return two arrays of scopes as one, each scope once, on op->mem, or NULL if out of memory. */
static json_t *
join_scopes(struct op *op, const json_t *some, const json_t *more)
{
    json_t *both = jsonx_own(op->mem, json_array());
    if (both == NULL || (some != NULL && json_array_extend(both, (json_t *) (uintptr_t) some) != 0)
        || (more != NULL && json_array_extend(both, (json_t *) (uintptr_t) more) != 0))
        return NULL;
    return words_array_once(op->mem, both);
}

/* Answer with the link that the person must open. missing: scopes of the upstream that the
 * connection lacks, or NULL. */
static enum az_status
require_link(struct account *account, json_t *missing)
{
    struct op *op = account->op;
    const struct upstream_caller *caller = account->wish->caller;
    const struct managed_resource *resource = account->wish->resource;
    struct upstream_link *link = &account->ret->link;
    bool found = false;
    /* Scopes that the upstream asked for once are asked for again with each new connection. */
    json_t *scopes = join_scopes(op, resource->auth.scopes, account->connection.asked_scopes);
    scopes = scopes != NULL ? join_scopes(op, scopes, missing) : NULL;
    if (scopes == NULL)
        return op_no_memory(op);
    const struct link_wanted wanted = {
        .resource = resource,
        .subject = caller->subject,
        .client_id = caller->client_id != NULL ? caller->client_id : "",
        .scopes = scopes,
        .return_to = "",
        .flow_id = caller->flow_id,
    };
    enum az_status st = link_need(op, &wanted, &found, &link->url, &link->expires_in);
    if (st != AZ_OK)
        return st;
    if (!found)
        return refuse_user(op, account->wish);
    link->missing_scopes = missing;
    link_count(op, resource, "needed");
    return op_fail(op, AZ_LINK_REQUIRED, NULL, "managed resource %s: %s", resource->name,
                   missing != NULL ? "the connection lacks upstream scopes"
                                   : "the person has no connection that works");
}

/* Note that the connection does not work any more, and ask for a new one. */
static enum az_status
lose_connection(struct account *account, const char *why)
{
    bool lost;
    enum az_status st =
        connection_fail(account->op, &account->connection, CONNECTION_LOST, why, &lost);
    if (st != AZ_OK)
        return st;
    link_count(account->op, account->wish->resource, "lost");
    return require_link(account, NULL);
}

/* ---- step-up */

/* True if one of the scopes was asked of the person when the account was connected. */
static bool
was_asked(const struct account *account, const json_t *scopes)
{
    size_t i;
    json_t *scope;
    json_array_foreach (scopes, i, scope)
        if (words_array_has(account->connection.asked_scopes, json_string_value(scope)))
            return true;
    return false;
}

/*
 * The upstream wants more scopes (RFC 6750 3.1, insufficient_scope). The person is asked for them
 * once: if the account has them, or its server did not give them, connecting it again would not
 * help.
 */
static enum az_status
step_up(struct account *account)
{
    json_t *missing = client_scopes_missing(account->op->mem, account->wish->challenge,
                                            account->connection.scopes);
    if (missing == NULL)
        return op_no_memory(account->op);
    if (json_array_size(missing) > 0 && !was_asked(account, missing))
        return require_link(account, missing);
    account->ret->personal = true;
    return op_fail(account->op, AZ_UPSTREAM_AUTH,
                   "The upstream does not let the connected account do this",
                   "managed resource %s: the upstream asks for scopes that the person was asked "
                   "for already",
                   account->wish->resource->name);
}

/* ---- the credential */

/* Refresh the access token and fill the credential with the new one. */
static enum az_status
refresh_credential(struct account *account, bool refused)
{
    bool lost = false;
    enum az_status st = link_refresh(account->op, account->wish, account->binding, refused,
                                     &account->connection, &lost);
    if (st != AZ_OK)
        return st;
    return lost ? require_link(account, NULL) : fill_credential(account);
}

/* Return the scopes of upstreamAuth that the connection lacks, or NULL if out of memory. */
static json_t *
lacking_scopes(const struct account *account)
{
    return client_scopes_missing(account->op->mem,
                                 is_oauth(account) ? account->wish->resource->auth.scopes : NULL,
                                 account->connection.scopes);
}

/* True if the upstream has refused the credential that the connection has. */
static bool
is_refused(const struct account *account, const char *value)
{
    const char *refused = account->wish->refused;
    return refused != NULL && strcmp(refused, value) == 0;
}

/* Use, refresh or replace a connection that is usable. */
static enum az_status
use_connection(struct account *account)
{
    const struct connection *connection = &account->connection;
    int64_t left = connection->expires_at - op_now(account->op);
    bool has_end = connection->expires_at != 0;
    json_t *missing = lacking_scopes(account);
    char *value = account_value(account);
    if (missing == NULL || value == NULL)
        return op_no_memory(account->op);
    bool refused = is_refused(account, value);
    talloc_free(value);
    if (json_array_size(missing) > 0)
        return require_link(account, missing);
    if (refused && is_oauth(account) && account->wish->challenge != NULL)
        return step_up(account);
    if (!refused && !(has_end && left < REFRESH_EARLY))
        return fill_credential(account);
    if (connection->secrets.refresh_token != NULL)
        return refresh_credential(account, refused);
    if (!refused && left > 0)
        return fill_credential(account);
    return lose_connection(account,
                           refused ? "the upstream refuses the credential"
                                   : "the access token has expired, and there is no refresh token");
}

static enum az_status
find_connection(struct account *account)
{
    const struct upstream_wish *wish = account->wish;
    enum az_status st = link_binding(account->op, wish->resource, account->binding);
    return st == AZ_OK ? connection_find(account->op, wish->caller->subject, wish->resource->name,
                                         &account->connection)
                       : st;
}

enum az_status
link_credential(struct op *op, const struct upstream_wish *wish, struct upstream_credential *ret)
{
    struct account account = {.op = op, .wish = wish, .ret = ret};
    *ret = (struct upstream_credential){.caller_bound = true};
    if (wish->caller == NULL || wish->caller->subject == NULL)
        return refuse_user(op, wish);
    enum az_status st = find_connection(&account);
    if (st != AZ_OK)
        return st;
    if (!account.connection.person)
        return refuse_user(op, wish);
    return link_connection_is_usable(&account.connection, account.binding, is_oauth(&account))
               ? use_connection(&account)
               : require_link(&account, NULL);
}

enum az_status
link_is_linked(struct op *op, const struct upstream_caller *caller,
               const struct managed_resource *resource, bool *ret)
{
    const struct upstream_wish wish = {.resource = resource, .caller = caller};
    struct account account = {.op = op, .wish = &wish};
    *ret = false;
    if (caller == NULL || caller->subject == NULL)
        return AZ_OK;
    enum az_status st = find_connection(&account);
    *ret = st == AZ_OK
           && link_connection_is_usable(&account.connection, account.binding, is_oauth(&account));
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
            && link_connection_is_usable(&connections[i], binding,
                                         resource->auth.type == MANAGED_AUTH_OAUTH_LINK);
    }
    return st;
}
