#include "config.h"

#include "gateway/link/refresh.h"

#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/settings/settings.h"
#include "gateway/link/link_token.h"
#include "gateway/link/need.h"
#include "gateway/link/provider.h"
#include "managed/managed.h"
#include "store/gateway/registrations.h"

/* A refused access token that is younger than this is not refreshed: the upstream would refuse the
 * next one too. Seconds. */
#define REFRESH_AGAIN 30
/* Interval at which a connection that another process refreshes is read again, in milliseconds. */
#define POLL_MS 50

/* The state of a refresh. */
struct refresh {
    struct op *op;
    const struct upstream_wish *wish;
    const unsigned char *binding;
    struct link_provider provider;
    struct connection *connection;
    bool refused; /* the upstream has just refused the access token */
    bool lost;    /* the person must connect the account again */
};

bool
link_connection_is_usable(const struct connection *connection,
                          const unsigned char binding[SHA256_OCTETS], bool oauth)
{
    const struct connection_secrets *secrets = &connection->secrets;
    return connection->found && connection->active
           && (oauth ? secrets->access_token : secrets->typed) != NULL
           && memcmp(connection->binding, binding, SHA256_OCTETS) == 0;
}

/* True if the access token may still be used. */
static bool
token_works(const struct refresh *refresh)
{
    return !refresh->refused && refresh->connection->expires_at > op_now(refresh->op);
}

/* True if the tokens may be shown to the server. If an upstream names another authorization server,
 * that server must not get the tokens of the first one: its refresh token may be good for more than
 * this upstream (RFC 9700 4.4). */
static bool
may_refresh(const struct refresh *refresh)
{
    return link_connection_is_usable(refresh->connection, refresh->binding, true)
           && link_is_issuer(&refresh->provider, refresh->connection->secrets.issuer);
}

/* ---- the process that owns the lease */

static enum az_status
read_connection(struct refresh *refresh)
{
    return connection_find(refresh->op, refresh->wish->caller->subject,
                           refresh->wish->resource->name, refresh->connection);
}

/* Store the new tokens. If the connection was replaced in the meantime, use the replacement. If the
 * answer has no refresh token, the old one stays valid (RFC 6749 6). */
static enum az_status
store_tokens(struct refresh *refresh, const struct client_tokens *tokens)
{
    const struct connection *old = refresh->connection;
    const struct connection_new renewed = {
        .subject = refresh->wish->caller->subject,
        .idp = old->idp,
        .resource = refresh->wish->resource->name,
        .secrets = {.access_token = tokens->access_token,
                    .refresh_token = tokens->refresh_token != NULL ? tokens->refresh_token
                                                                   : old->secrets.refresh_token,
                    .issuer = old->secrets.issuer,
                    .revocation = old->secrets.revocation},
        .scopes = tokens->scopes,
        .expires_in = tokens->expires_in,
    };
    bool stored = false;
    enum az_status st = connection_renew(refresh->op, old, &renewed, &stored);
    if (st == AZ_OK && !stored) {
        st = read_connection(refresh);
        refresh->lost = st == AZ_OK && !may_refresh(refresh);
        return st;
    }
    refresh->connection->secrets = renewed.secrets;
    if (st == AZ_OK)
        link_count(refresh->op, refresh->wish->resource, "refreshed");
    return st;
}

/* Return what the failure means for the connection. `st` is the failure of the request, AZ_OK if
 * there was an answer. */
static enum connection_failure
what_fails(const struct refresh *refresh, enum az_status st, const struct client_answer *answer)
{
    if (st != AZ_OK)
        return CONNECTION_STAYS;
    if (answer->outcome == CLIENT_GRANT_REFUSED
        || (answer->outcome == CLIENT_CLIENT_REFUSED && refresh->provider.registered))
        return CONNECTION_LOST;
    return answer->outcome == CLIENT_REFUSED ? CONNECTION_REFUSED : CONNECTION_STAYS;
}

/* Return the reason for the operator. */
static const char *
why_fails(enum az_status st, const struct client_answer *answer)
{
    return st != AZ_OK ? "the token endpoint did not answer"
           : strcmp(answer->error, "invalid_target") == 0
               ? "target_refused: set upstreamAuth.resourceParam to authorize_only or never"
           : *answer->error != '\0' ? answer->error
                                    : "the answer of the token endpoint cannot be used";
}

/* Note that there are no new tokens, and give the lease back. */
static enum az_status
refresh_failed(struct refresh *refresh, enum az_status st, const struct client_answer *answer)
{
    struct op *op = refresh->op;
    const struct managed_resource *resource = refresh->wish->resource;
    const char *why = why_fails(st, answer);
    enum az_status noted = connection_fail(op, refresh->connection, what_fails(refresh, st, answer),
                                           why, &refresh->lost);
    if (noted == AZ_OK && refresh->lost && answer->outcome == CLIENT_CLIENT_REFUSED)
        noted = registration_forget(op, resource->name, refresh->provider.client_id);
    if (noted != AZ_OK)
        return noted;
    link_count(op, resource, refresh->lost ? "lost" : "refresh_failed");
    if (refresh->lost)
        return AZ_OK;
    if (token_works(refresh)) {
        az_fault_clear(&op->fault);
        return AZ_OK;
    }
    if (st != AZ_OK)
        return st;
    return op_fail(
        op, answer->outcome == CLIENT_CLIENT_REFUSED ? AZ_UPSTREAM_AUTH : AZ_UPSTREAM_INVALID, NULL,
        "managed resource %s: a token cannot be refreshed: %s", resource->name, why);
}

/* Ask the token endpoint. This process holds the lease, so that a refresh token for a single use is
 * used once (RFC 9700 4.14.2); no transaction is open. */
static enum az_status
refresh_by_lease(struct refresh *refresh)
{
    struct client_answer answer = {.outcome = CLIENT_MALFORMED, .error = ""};
    const struct link_grant grant = {.refresh_token = refresh->connection->secrets.refresh_token};
    enum az_status st =
        link_tokens_get(refresh->op, refresh->wish->resource, &refresh->provider, &grant, &answer);
    return st == AZ_OK && answer.outcome == CLIENT_TOKENS ? store_tokens(refresh, &answer.tokens)
                                                          : refresh_failed(refresh, st, &answer);
}

/* ---- taking the lease, or waiting */

/* The upstream refuses a token that cannot be replaced: the connection is lost. */
static enum az_status
lose_connection(struct refresh *refresh)
{
    link_count(refresh->op, refresh->wish->resource, "lost");
    return connection_fail(refresh->op, refresh->connection, CONNECTION_LOST,
                           "the upstream refuses a new token", &refresh->lost);
}

/* Wait a moment, and read the connection again. */
static enum az_status
wait_and_read(struct refresh *refresh)
{
    const struct upstream_caller *caller = refresh->wish->caller;
    nanosleep(&(struct timespec){0, POLL_MS * 1000000L}, NULL);
    if (caller->gone != NULL && caller->gone(caller->arg))
        return op_fail(refresh->op, AZ_BUSY, NULL, "the caller has gone");
    return read_connection(refresh);
}

/* Refresh, or wait until the process that does has stored another token than `before`. */
static enum az_status
refresh_or_wait(struct refresh *refresh, const char *before)
{
    struct op *op = refresh->op;
    int64_t lease = op->az->cfg->safe_http_timeout + UPSTREAM_LEASE_MARGIN;
    int64_t end = clock_monotonic_ms() + lease * 1000;
    for (;;) {
        const struct connection *connection = refresh->connection;
        bool taken = false;
        if (!may_refresh(refresh)) {
            refresh->lost = true;
            return AZ_OK;
        }
        if (strcmp(connection->secrets.access_token, before) != 0)
            return AZ_OK;
        if (connection->secrets.refresh_token == NULL
            || (refresh->refused && connection->refreshed_at > op_now(op) - REFRESH_AGAIN))
            return lose_connection(refresh);
        enum az_status st = connection_lease(op, connection, lease, &taken);
        if (st == AZ_OK && taken)
            return refresh_by_lease(refresh);
        if (st != AZ_OK || token_works(refresh))
            return st;
        if (clock_monotonic_ms() >= end)
            return op_fail(op, AZ_BUSY, NULL, "another request refreshes the connection with %s",
                           refresh->wish->resource->name);
        if ((st = wait_and_read(refresh)) != AZ_OK)
            return st;
    }
}

enum az_status
link_refresh(struct op *op, const struct upstream_wish *wish,
             const unsigned char binding[SHA256_OCTETS], bool refused,
             struct connection *connection, bool *ret_lost)
{
    struct refresh refresh = {
        .op = op, .wish = wish, .binding = binding, .connection = connection, .refused = refused};
    enum az_status st = link_provider_get(op, wish->resource, wish->secrets, 0, &refresh.provider);
    if (st == AZ_OK)
        st = refresh_or_wait(&refresh, connection->secrets.access_token);
    *ret_lost = refresh.lost;
    return st;
}
